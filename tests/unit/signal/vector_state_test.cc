// The vector state of the test process is the guest's here, as it is in the engine. The tests below keep to
// inline assembly between loading a register and looking at it.
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>

#include "tests/unit/signal/fake_engine.h"
#include "trace/guest/signal/frame.h"
#include "trace/guest/signal/xstate.h"

namespace detrec::guest::signal {
namespace {

using test::FakeEngine;

constexpr u64 kMxcsr = 24, kInUse = 512, kSoftware = 464;

struct Image {
  alignas(64) u8 byte[8192];
  u64 at() const { return reinterpret_cast<u64>(byte); }
};

void load_known(u64 value) {
  u32 mxcsr = 0x7f80;
  asm volatile(
      "fninit; fld1; fldpi\n"
      "movq %0, %%xmm3; ldmxcsr %1"
      :
      : "r"(value), "m"(mxcsr)
      : "xmm3");
}
u64 known() {
  u64 value;
  asm volatile("movq %%xmm3, %0" : "=r"(value));
  return value;
}
u32 mxcsr() {
  u32 value;
  asm volatile("stmxcsr %0" : "=m"(value));
  return value;
}
u16 x87_tags() {
  struct {
    u16 control, pad1, status, pad2, tags, pad3;
    u32 rest[4];
  } environment;
  asm volatile("fnstenv %0; fldenv %0" : "=m"(environment));
  return environment.tags;
}

TEST(VectorState, HandlersStartFreshAndTheReturnRestores) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    raise(SIGUSR1);
    load_known(0x1122'3344'5566'7788);
    u16 tags = x87_tags();
    deliver_pending(engine.turn());
    u64 value = known();
    u32 control = mxcsr();
    u16 tags_in_handler = x87_tags();
    load_known(5);
    // No longjmp or printing in between: this is the handler's end.
    engine.return_from_handler();
    u64 restored = known();
    u32 control_restored = mxcsr();
    u16 tags_restored = x87_tags();
    asm volatile("fninit");
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(control, 0x1f80u);
    EXPECT_EQ(tags_in_handler, 0xffff);
    EXPECT_EQ(restored, 0x1122'3344'5566'7788u);
    EXPECT_EQ(control_restored, 0x7f80u);
    EXPECT_EQ(tags_restored, tags);
  });
}

TEST(VectorState, FrameShowsAndTakesValues) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    raise(SIGUSR1);
    load_known(0xabcdef);
    deliver_pending(engine.turn());
    auto& machine = reinterpret_cast<SignalFrame*>(engine.regs().gpr[kRsp])->context.machine;
    auto* fp = reinterpret_cast<u8*>(machine.fpstate);
    u64 xmm3;
    memcpy(&xmm3, fp + 160 + 3 * 16, 8);
    EXPECT_EQ(xmm3, 0xabcdefu);
    u64 other = 0x77;
    memcpy(fp + 160 + 3 * 16, &other, 8);
    engine.return_from_handler();
    EXPECT_EQ(known(), 0x77u);
  });
}

TEST(VectorState, InUseBitsTellOfValuesOnly) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    if (!xstate_is_extended()) GTEST_SKIP() << "no xsave";
    auto in_use_now = [] { return *reinterpret_cast<const u64*>(save_xstate() + kInUse); };
    reset_xstate();
    u64 in_use = in_use_now();
    EXPECT_EQ(in_use, 3u);
    // Written with zeros: in use for the CPU, perhaps, not for a frame.
    reset_xstate();
    asm volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1; vpxor %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
    in_use = in_use_now();
    EXPECT_EQ(in_use, 3u);
    reset_xstate();
    asm volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
    in_use = in_use_now();
    asm volatile("vzeroupper");
    EXPECT_EQ(in_use, 7u);
  });
}

/// A frame's image of the present state.
void take(Image& image) { memcpy(image.byte, save_xstate(), xstate_frame_size()); }

TEST(VectorState, ImagesTheCpuWouldRefuseAreRefused) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    if (!xstate_is_extended()) GTEST_SKIP() << "no xsave";
    Image image;
    take(image);
    EXPECT_TRUE(restore_xstate(image.at()));
    Image shifted;
    memcpy(shifted.byte + 16, image.byte, xstate_frame_size());
    EXPECT_FALSE(restore_xstate(shifted.at() + 16)) << "alignment";
    EXPECT_FALSE(restore_xstate(64)) << "not there";
    u32 bad_mxcsr = 0xffff'0000;
    memcpy(image.byte + kMxcsr, &bad_mxcsr, 4);
    EXPECT_FALSE(restore_xstate(image.at())) << "reserved bits of MXCSR";
    take(image);
    image.byte[kInUse + 7] = 0x40;
    EXPECT_FALSE(restore_xstate(image.at())) << "unknown component";
    take(image);
    image.byte[kInUse + 15] = 0x80;
    EXPECT_FALSE(restore_xstate(image.at())) << "compacted";
    take(image);
    image.byte[kInUse + 30] = 1;
    EXPECT_FALSE(restore_xstate(image.at())) << "reserved header";
  });
}

TEST(VectorState, OddSoftwareBytesMeanTheLegacyRegionOnly) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    if (!xstate_is_extended()) GTEST_SKIP() << "no xsave";
    Image image;
    load_known(0x42);
    const u8* saved = save_xstate();
    memcpy(image.byte, saved, xstate_frame_size());
    image.byte[kSoftware] ^= 1;     // the first magic
    image.byte[kInUse + 7] = 0x40;  // not looked at any more
    load_known(0);
    bool restored = restore_xstate(image.at());
    u64 value = known();
    EXPECT_TRUE(restored);
    EXPECT_EQ(value, 0x42u);
    image.byte[kSoftware] ^= 1;
    image.byte[xstate_frame_size() - 1] ^= 1;  // the second magic
    load_known(0);
    restored = restore_xstate(image.at());
    value = known();
    EXPECT_TRUE(restored);
    EXPECT_EQ(value, 0x42u);
  });
}

TEST(VectorState, NoImageMeansTheInitialState) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    load_known(0x42);
    restore_xstate(0);
    u64 value = known();
    u32 control = mxcsr();
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(control, 0x1f80u);
  });
}

TEST(VectorState, X87PointerIsNeverACacheAddress) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    Image image;
    take(image);
    // The state of a CPU whose last x87 instruction was generated code, with an exception pending so that
    // every CPU keeps it.
    u64 pointer = kCacheBegin + 0x123;
    u16 status = 0x0084, control = 0x037b;  // division by zero, unmasked
    memcpy(image.byte + 0, &control, 2);
    memcpy(image.byte + 2, &status, 2);
    memcpy(image.byte + 8, &pointer, 8);
    ASSERT_TRUE(restore_xstate(image.at()));
    const u8* saved = save_xstate();
    asm volatile("fninit");
    u64 shown;
    memcpy(&shown, saved + 8, 8);
    EXPECT_EQ(shown, 0x40'0123u);
  });
}

}  // namespace
}  // namespace detrec::guest::signal
