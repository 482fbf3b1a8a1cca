#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/signal/fake_engine.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/signal/frame.h"

namespace detrec::guest::signal {
namespace {

using test::FakeEngine;

const SignalFrame& frame_of(FakeEngine& engine) {
  return *reinterpret_cast<const SignalFrame*>(engine.regs().gpr[kRsp]);
}
u64 address_of(const SignalInfo& info) {
  return reinterpret_cast<u64>(reinterpret_cast<const siginfo_t*>(&info)->si_addr);
}

constexpr u64 kCode = 0x40'0000;  // where the fake says generated code comes from

/// Runs `code` with a handler for `signo` that uses an alternate stack, and delivers what it did.
template <std::size_t N>
void fault(FakeEngine& engine, int signo, const u8 (&code)[N]) {
  static u8 stack[32768];
  AltStack wanted{reinterpret_cast<u64>(stack), 0, 0, sizeof stack};
  sigaltstack(engine.turn(), reinterpret_cast<u64>(&wanted), 0);
  engine.set_action(signo, FakeEngine::kHandler, SA_SIGINFO | SA_ONSTACK);
  test::run_in_cache(code, N);
  EXPECT_TRUE(deliverable(engine.turn()));
  deliver_pending(engine.turn());
  EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler);
  EXPECT_EQ(engine.regs().gpr[kRdi], static_cast<u64>(signo));
  EXPECT_EQ(engine.regs().rflags & kFlagResume, 0u);
}

TEST(Faults, BadAddress) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    // mov eax, 0x1234; nop; mov [rax], ebx
    fault(engine, SIGSEGV, {0xb8, 0x34, 0x12, 0, 0, 0x90, 0x89, 0x18});
    const SignalFrame& frame = frame_of(engine);
    EXPECT_EQ(frame.info.code, SEGV_MAPERR);
    EXPECT_EQ(address_of(frame.info), 0x1234u);
    EXPECT_EQ(frame.context.machine.rip, kCode + 6);
    EXPECT_EQ(frame.context.machine.rax, 0x1234u);
    EXPECT_EQ(frame.context.machine.trapno, 14u);
    EXPECT_EQ(frame.context.machine.error, 6u);
    EXPECT_EQ(frame.context.machine.cr2, 0x1234u);
    EXPECT_TRUE(frame.context.machine.rflags & kFlagResume);
    EXPECT_EQ(test::fake_run().fault_address, 0x1234u);
    EXPECT_TRUE(test::fake_run().fault_was_write);
  });
}

TEST(Faults, NonCanonicalAddress) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    // mov rax, 0x8000000000000000; mov ebx, [rax]
    fault(engine, SIGSEGV, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x8b, 0x18});
    const SignalFrame& frame = frame_of(engine);
    EXPECT_EQ(frame.info.code, SI_KERNEL);
    EXPECT_EQ(address_of(frame.info), 0u);
    EXPECT_EQ(frame.context.machine.rip, kCode + 10);
    EXPECT_EQ(frame.context.machine.trapno, 13u);
    EXPECT_EQ(frame.context.machine.cr2, 0u);
    EXPECT_FALSE(test::fake_run().fault_was_write);
  });
}

TEST(Faults, DivisionShowsTheGuestsPc) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    // xor ecx, ecx; div ecx
    fault(engine, SIGFPE, {0x31, 0xc9, 0xf7, 0xf1});
    EXPECT_EQ(frame_of(engine).info.code, FPE_INTDIV);
    EXPECT_EQ(address_of(frame_of(engine).info), kCode + 2);
    EXPECT_EQ(frame_of(engine).context.machine.trapno, 0u);
  });
}

TEST(Faults, UndefinedInstruction) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    fault(engine, SIGILL, {0x90, 0x0f, 0x0b});
    EXPECT_EQ(frame_of(engine).info.code, ILL_ILLOPN);
    EXPECT_EQ(address_of(frame_of(engine).info), kCode + 1);
    EXPECT_EQ(frame_of(engine).context.machine.trapno, 6u);
  });
}

TEST(Faults, Breakpoint) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    fault(engine, SIGTRAP, {0x90, 0xcc, 0x90});
    EXPECT_EQ(frame_of(engine).info.code, SI_KERNEL);
    EXPECT_EQ(frame_of(engine).context.machine.rip, kCode + 2);
    EXPECT_EQ(frame_of(engine).context.machine.trapno, 3u);
    EXPECT_FALSE(frame_of(engine).context.machine.rflags & kFlagResume);
  });
}

TEST(Faults, AlignmentCheckOfTheGuestDoesNotHitTheEngine) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    // pushf; or dword [rsp], 0x40000; popf; mov eax, [rsp - 31]
    fault(engine, SIGBUS, {0x9c, 0x81, 0x0c, 0x24, 0, 0, 4, 0, 0x9d, 0x8b, 0x44, 0x24, 0xe1});
    EXPECT_EQ(frame_of(engine).info.code, BUS_ADRALN);
    EXPECT_EQ(frame_of(engine).context.machine.rip, kCode + 9);
    EXPECT_EQ(frame_of(engine).context.machine.trapno, 17u);
    EXPECT_TRUE(frame_of(engine).context.machine.rflags & 0x40000);
  });
}

TEST(Faults, TrapFlagIsDropped) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    // pushf; or dword [rsp], 0x100; popf; nop; nop; pushf; pop rax; ud2
    fault(engine, SIGILL, {0x9c, 0x81, 0x0c, 0x24, 0, 1, 0, 0, 0x9d, 0x90, 0x90, 0x9c, 0x58, 0x0f, 0x0b});
    EXPECT_FALSE(frame_of(engine).context.machine.rax & kFlagTrap);
    EXPECT_FALSE(frame_of(engine).context.machine.rflags & kFlagTrap);
  });
}

TEST(Faults, LaterFramesStillShowTheLastFault) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    fault(engine, SIGSEGV, {0xb8, 0x34, 0x12, 0, 0, 0x89, 0x18});
    engine.set_action(SIGUSR1, FakeEngine::kHandler + 1);
    kill(getpid(), SIGUSR1);
    deliver_pending(engine.turn());
    EXPECT_EQ(frame_of(engine).info.signo, SIGUSR1);
    EXPECT_EQ(frame_of(engine).context.machine.trapno, 14u);
    EXPECT_EQ(frame_of(engine).context.machine.cr2, 0x1234u);
  });
}

TEST(Faults, OnesTheEngineDealsWithAreNotShown) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    test::fake_run().answer = run::FaultAction::kContinue;
    const u8 code[] = {0x31, 0xc0, 0x89, 0x00};  // xor eax, eax; mov [rax], eax
    test::run_in_cache(code, sizeof code);
    EXPECT_FALSE(deliverable(engine.turn()));
    EXPECT_EQ(engine.regs().pc, kCode + 2);
  });
}

TEST(Faults, BlockedOrIgnoredOnesKill) {
  const u8 code[] = {0x31, 0xc0, 0x89, 0x00};
  for (bool ignored : {false, true}) {
    int status = test::in_child([&] {
      FakeEngine engine;
      engine.set_action(SIGSEGV, ignored ? kIgnored : FakeEngine::kHandler);
      if (!ignored) engine.set_mask(bit(SIGSEGV));
      test::run_in_cache(code, sizeof code);
      deliver_pending(engine.turn());
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  }
}

TEST(Faults, RaisedByTheEngineForTheGuest) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGILL, FakeEngine::kHandler, SA_SIGINFO);
    raise_fault(engine.turn(), {SIGILL, ILL_ILLOPN, FakeEngine::kPc, 6, 0});
    EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler);
    EXPECT_EQ(address_of(frame_of(engine).info), FakeEngine::kPc);
    EXPECT_EQ(frame_of(engine).context.machine.trapno, 6u);
    engine.return_from_handler();
    EXPECT_EQ(engine.regs().pc, FakeEngine::kPc);
  });
}

TEST(Faults, ProbesSurvive) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    u64 value = 1;
    EXPECT_TRUE(read_guest(value, reinterpret_cast<u64>(&engine)));
    EXPECT_FALSE(read_guest(value, 8));
    EXPECT_FALSE(read_guest(value, 0x8000'0000'0000'0000));
    EXPECT_FALSE(deliverable(engine.turn()));
  });
}

TEST(Faults, InTheEngineItselfEndTheProcess) {
  const std::function<void()> mistakes[] = {
      [] {
        volatile u64 nowhere = 8;
        *reinterpret_cast<volatile int*>(nowhere) = 1;
      },
      [] {
        volatile u64 nowhere = 0x10;
        reinterpret_cast<void (*)()>(nowhere)();
      },
  };
  for (const auto& mistake : mistakes) {
    int status = test::in_child([&] {
      FakeEngine engine;
      mistake();
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 125);
  }
}

}  // namespace
}  // namespace detrec::guest::signal
