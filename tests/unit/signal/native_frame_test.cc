// The kernel's own frames as the oracle: the engine's must lie in the same places and hold the same.
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include <vector>

#include "tests/unit/signal/fake_engine.h"
#include "trace/guest/signal/frame.h"
#include "trace/guest/signal/xstate.h"

namespace detrec::guest::signal {
namespace {

using test::FakeEngine;

struct Seen {
  u64 frame;
  SignalFrame copy;
  std::vector<u8> fpstate;
};
Seen* seen;

void native_handler(int, siginfo_t* info, void* context) {
  u64 frame = reinterpret_cast<u64>(context) - offsetof(SignalFrame, context);
  EXPECT_EQ(reinterpret_cast<u64>(info) - frame, offsetof(SignalFrame, info));
  seen->frame = frame;
  memcpy(&seen->copy, reinterpret_cast<void*>(frame), sizeof seen->copy);
  auto* fp = reinterpret_cast<const u8*>(seen->copy.context.machine.fpstate);
  u32 size;
  memcpy(&size, fp + 464 + 4, sizeof size);
  seen->fpstate.assign(fp, fp + size);
}

alignas(4096) u8 stack_memory[65536];

Seen native_frame() {
  Seen result;
  seen = &result;
  stack_t stack = {};
  stack.ss_sp = stack_memory;
  stack.ss_size = sizeof stack_memory;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = native_handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  struct sigaction none = {};
  none.sa_handler = SIG_DFL;
  sigaction(SIGUSR1, &none, nullptr);
  return result;
}

TEST(NativeFrame, TheEnginesIsAlike) {
  EXPECT_IN_CHILD([] {
    Seen native = native_frame();
    FakeEngine engine;
    AltStack stack{reinterpret_cast<u64>(stack_memory), 0, 0, sizeof stack_memory};
    ASSERT_EQ(sigaltstack(engine.turn(), reinterpret_cast<u64>(&stack), 0), 0);
    engine.set_action(SIGUSR1, FakeEngine::kHandler, SA_SIGINFO | SA_ONSTACK, bit(SIGTERM));
    raise(SIGUSR1);
    deliver_pending(engine.turn());

    u64 at = engine.regs().gpr[kRsp];
    const auto& frame = *reinterpret_cast<const SignalFrame*>(at);
    EXPECT_EQ(at, native.frame);
    const MachineContext &ours = frame.context.machine, &theirs = native.copy.context.machine;
    EXPECT_EQ(frame.context.flags, native.copy.context.flags);
    EXPECT_EQ(frame.context.link, native.copy.context.link);
    EXPECT_EQ(frame.context.stack.sp, native.copy.context.stack.sp);
    EXPECT_EQ(frame.context.stack.flags, native.copy.context.stack.flags);
    EXPECT_EQ(frame.context.stack.size, native.copy.context.stack.size);
    EXPECT_EQ(frame.context.sigmask, native.copy.context.sigmask);
    EXPECT_EQ(ours.cs, theirs.cs);
    EXPECT_EQ(ours.gs, theirs.gs);
    EXPECT_EQ(ours.fs, theirs.fs);
    EXPECT_EQ(ours.ss, theirs.ss);
    EXPECT_EQ(ours.oldmask, theirs.oldmask);
    EXPECT_EQ(ours.fpstate, theirs.fpstate);
    EXPECT_EQ(memcmp(&frame.info, &native.copy.info, 24), 0);  // up to the sender's uid

    // Software bytes, and the marker at the end.
    auto* fp = reinterpret_cast<const u8*>(ours.fpstate);
    ASSERT_EQ(xstate_frame_size(), native.fpstate.size());
    EXPECT_EQ(memcmp(fp + 464, native.fpstate.data() + 464, 48), 0);
    u64 end = native.fpstate.size();
    EXPECT_EQ(memcmp(fp + end - 4, native.fpstate.data() + end - 4, 4), 0);
    // Control words and the mask of MXCSR.
    EXPECT_EQ(memcmp(fp, native.fpstate.data(), 2), 0);
    EXPECT_EQ(memcmp(fp + 24, native.fpstate.data() + 24, 8), 0);
  });
}

}  // namespace
}  // namespace detrec::guest::signal
