#include "trace/guest/signal/frame.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

namespace detrec::guest::signal {
namespace {

TEST(SignalFrame, LayoutIsThatOfUcontext) {
  EXPECT_EQ(offsetof(UserContext, flags), offsetof(ucontext_t, uc_flags));
  EXPECT_EQ(offsetof(UserContext, link), offsetof(ucontext_t, uc_link));
  EXPECT_EQ(offsetof(UserContext, stack), offsetof(ucontext_t, uc_stack));
  EXPECT_EQ(offsetof(UserContext, machine), offsetof(ucontext_t, uc_mcontext));
  EXPECT_EQ(offsetof(UserContext, sigmask), offsetof(ucontext_t, uc_sigmask));
  EXPECT_EQ(offsetof(AltStack, sp), offsetof(stack_t, ss_sp));
  EXPECT_EQ(offsetof(AltStack, flags), offsetof(stack_t, ss_flags));
  EXPECT_EQ(offsetof(AltStack, size), offsetof(stack_t, ss_size));
  EXPECT_EQ(offsetof(MachineContext, fpstate), offsetof(mcontext_t, fpregs));
  EXPECT_EQ(sizeof(SignalInfo), sizeof(siginfo_t));
  EXPECT_EQ(offsetof(SignalInfo, rest), offsetof(siginfo_t, si_addr));
}

#define EXPECT_GREG(field, index) EXPECT_EQ(offsetof(MachineContext, field), 8u * (index)) << #field
TEST(SignalFrame, RegistersLieWhereUcontextHasThem) {
  EXPECT_GREG(r8, REG_R8);
  EXPECT_GREG(r9, REG_R9);
  EXPECT_GREG(r10, REG_R10);
  EXPECT_GREG(r11, REG_R11);
  EXPECT_GREG(r12, REG_R12);
  EXPECT_GREG(r13, REG_R13);
  EXPECT_GREG(r14, REG_R14);
  EXPECT_GREG(r15, REG_R15);
  EXPECT_GREG(rdi, REG_RDI);
  EXPECT_GREG(rsi, REG_RSI);
  EXPECT_GREG(rbp, REG_RBP);
  EXPECT_GREG(rbx, REG_RBX);
  EXPECT_GREG(rdx, REG_RDX);
  EXPECT_GREG(rax, REG_RAX);
  EXPECT_GREG(rcx, REG_RCX);
  EXPECT_GREG(rsp, REG_RSP);
  EXPECT_GREG(rip, REG_RIP);
  EXPECT_GREG(rflags, REG_EFL);
  EXPECT_GREG(cs, REG_CSGSFS);
  EXPECT_GREG(error, REG_ERR);
  EXPECT_GREG(trapno, REG_TRAPNO);
  EXPECT_GREG(oldmask, REG_OLDMASK);
  EXPECT_GREG(cr2, REG_CR2);
}

TEST(SignalFrame, RegistersSurviveTheWayInAndOut) {
  u64 in[16], out[16];
  for (u64 i = 0; i < 16; ++i) in[i] = 100 + i;
  MachineContext machine{};
  set_registers(machine, in);
  EXPECT_EQ(machine.rax, 100u + kRax);
  EXPECT_EQ(machine.rsp, 100u + kRsp);
  EXPECT_EQ(machine.rdi, 100u + kRdi);
  EXPECT_EQ(machine.r15, 115u);
  get_registers(machine, out);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], in[i]);
}

constexpr u64 kFpstate = 2696 + 4;
constexpr AltStack kNoStack{0, kSsDisable, 0, 0};

void expect_aligned(const FramePlace& place, u64 top) {
  EXPECT_EQ(place.frame % 16, 8u);
  EXPECT_EQ(place.fpstate % 64, 0u);
  EXPECT_LE(place.frame + sizeof(SignalFrame), place.fpstate);
  EXPECT_LE(place.fpstate + kFpstate, top);
}

TEST(SignalFrame, SkipsTheRedZone) {
  for (u64 sp = 0x7000'0000; sp < 0x7000'0080; ++sp) {
    FramePlace place;
    ASSERT_TRUE(place_frame(sp, 0, kNoStack, kFpstate, place));
    expect_aligned(place, sp - 128);
    EXPECT_GT(place.frame, sp - 128 - kFpstate - sizeof(SignalFrame) - 64 - 24);
  }
}

TEST(SignalFrame, GoesToTheAlternateStackOnlyWhenAsked) {
  AltStack stack{0x10000, 0, 0, 0x4000};
  FramePlace place;
  ASSERT_TRUE(place_frame(0x7000'0000, kSaOnStack, stack, kFpstate, place));
  expect_aligned(place, 0x14000);
  EXPECT_GT(place.frame, 0x13000u);
  ASSERT_TRUE(place_frame(0x7000'0000, 0, stack, kFpstate, place));
  EXPECT_GT(place.frame, 0x6000'0000u);
}

TEST(SignalFrame, NestsOnAnAlternateStackInUse) {
  AltStack stack{0x10000, 0, 0, 0x4000};
  FramePlace place;
  ASSERT_TRUE(place_frame(0x13000, kSaOnStack, stack, kFpstate, place));
  expect_aligned(place, 0x13000 - 128);
  // A self-disarming one is started from its top again.
  stack.flags = kSsAutoDisarm;
  ASSERT_TRUE(place_frame(0x13000, kSaOnStack, stack, kFpstate, place));
  EXPECT_GT(place.frame, 0x13000u);
}

TEST(SignalFrame, DoesNotOverflowTheAlternateStack) {
  FramePlace place;
  EXPECT_FALSE(place_frame(0x7000'0000, kSaOnStack, {0x10000, 0, 0, 2048}, kFpstate, place));
  // Nested, and without SA_ONSTACK too.
  EXPECT_FALSE(place_frame(0x10800, kSaOnStack, {0x10000, 0, 0, 0x4000}, kFpstate, place));
  EXPECT_FALSE(place_frame(0x10800, 0, {0x10000, 0, 0, 0x4000}, kFpstate, place));
}

}  // namespace
}  // namespace detrec::guest::signal
