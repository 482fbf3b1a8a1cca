#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/unit/signal/fake_engine.h"
#include "trace/guest/signal/frame.h"
#include "trace/guest/signal/host_handler.h"

namespace detrec::guest::signal {
namespace {

using test::FakeEngine;

const SignalFrame& frame_of(FakeEngine& engine) {
  return *reinterpret_cast<const SignalFrame*>(engine.regs().gpr[kRsp]);
}

SignalSet kernel_mask() {
  SignalSet mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, 8);
  return mask;
}

TEST(Delivery, EntersTheHandlerWithItsFrame) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    u64 before[16];
    for (int i = 0; i < 16; ++i) before[i] = engine.regs().gpr[i];
    engine.regs().rflags |= kFlagDirection;
    ASSERT_EQ(engine.set_action(SIGUSR1, FakeEngine::kHandler, SA_SIGINFO, bit(SIGTERM)), 0);
    engine.set_mask(bit(SIGHUP));
    kill(getpid(), SIGUSR1);
    ASSERT_TRUE(deliverable(engine.turn()));
    deliver_pending(engine.turn());

    const Registers& regs = engine.regs();
    EXPECT_EQ(regs.pc, FakeEngine::kHandler);
    EXPECT_EQ(regs.gpr[kRdi], u64{SIGUSR1});
    EXPECT_EQ(regs.gpr[kRax], 0u);
    EXPECT_EQ(regs.rflags, 0x202u);
    const SignalFrame& frame = frame_of(engine);
    EXPECT_EQ(regs.gpr[kRsi], reinterpret_cast<u64>(&frame.info));
    EXPECT_EQ(regs.gpr[kRdx], reinterpret_cast<u64>(&frame.context));
    EXPECT_EQ(frame.return_address, FakeEngine::kRestorer);
    EXPECT_EQ(frame.info.signo, SIGUSR1);
    EXPECT_EQ(frame.info.code, SI_USER);
    EXPECT_EQ(reinterpret_cast<const siginfo_t*>(&frame.info)->si_pid, getpid());
    u64 saved[16];
    get_registers(frame.context.machine, saved);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(saved[i], before[i]) << i;
    EXPECT_EQ(frame.context.machine.rip, FakeEngine::kPc);
    EXPECT_EQ(frame.context.machine.rflags, 0x202u | kFlagDirection);
    EXPECT_EQ(frame.context.sigmask, bit(SIGHUP));
    EXPECT_EQ(engine.state().blocked, bit(SIGHUP) | bit(SIGTERM) | bit(SIGUSR1));
    EXPECT_EQ(kernel_mask(), engine.state().blocked);

    engine.return_from_handler();
    for (int i = 0; i < 16; ++i) EXPECT_EQ(regs.gpr[i], before[i]) << i;
    EXPECT_EQ(regs.pc, FakeEngine::kPc);
    EXPECT_EQ(regs.rflags, 0x202u | kFlagDirection);
    EXPECT_EQ(kernel_mask(), bit(SIGHUP));
  });
}

TEST(Delivery, StacksAllPendingSignalsLowestFirst) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    for (int signo : {SIGUSR1, SIGUSR2, SIGHUP}) engine.set_action(signo, FakeEngine::kHandler + signo);
    engine.set_mask(~u64{0});
    for (int signo : {SIGUSR2, SIGHUP, SIGUSR1}) kill(getpid(), signo);
    EXPECT_FALSE(deliverable(engine.turn()));
    engine.set_mask(0);
    deliver_pending(engine.turn());
    // The last frame is on top: it runs first.
    for (int signo : {SIGUSR2, SIGUSR1, SIGHUP}) {
      EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler + signo);
      engine.return_from_handler();
    }
    EXPECT_EQ(engine.regs().pc, FakeEngine::kPc);
  });
}

TEST(Delivery, RealtimeSignalsComeInOrderWithTheirValues) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(40, FakeEngine::kHandler, SA_SIGINFO);
    engine.set_mask(bit(40));
    for (int i = 0; i < 30; ++i) {
      union sigval value;
      value.sival_int = i;
      sigqueue(getpid(), 40, value);
    }
    engine.set_mask(0);
    for (int i = 0; i < 30; ++i) {
      deliver_pending(engine.turn());
      ASSERT_EQ(engine.regs().pc, FakeEngine::kHandler);
      EXPECT_EQ(reinterpret_cast<const siginfo_t*>(&frame_of(engine).info)->si_value.sival_int, i);
      // The next one comes with the return.
      engine.return_from_handler();
    }
    EXPECT_EQ(engine.regs().pc, FakeEngine::kPc);
  });
}

TEST(Delivery, HandlerMayChangeEverythingItReturnsTo) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    kill(getpid(), SIGUSR1);
    deliver_pending(engine.turn());
    auto& machine = reinterpret_cast<SignalFrame*>(engine.regs().gpr[kRsp])->context.machine;
    machine.rip = 0x4242;
    machine.rax = 7;
    machine.rsp += 64;
    machine.rflags = 0xffff'ffff;
    u64 sp = machine.rsp;
    engine.return_from_handler();
    EXPECT_EQ(engine.regs().pc, 0x4242u);
    EXPECT_EQ(engine.regs().gpr[kRax], 7u);
    EXPECT_EQ(engine.regs().gpr[kRsp], sp);
    EXPECT_EQ(engine.regs().rflags, 0x202u | kRestorableFlags);
  });
}

TEST(Delivery, FlagsOfSigaction) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler, SA_NODEFER | static_cast<unsigned>(SA_RESETHAND));
    kill(getpid(), SIGUSR1);
    deliver_pending(engine.turn());
    EXPECT_EQ(engine.state().blocked, 0u);
    EXPECT_EQ((*engine.state().actions)[SIGUSR1].handler, kDefault);
    struct sigaction kernel;
    sigaction(SIGUSR1, nullptr, &kernel);
    EXPECT_EQ(kernel.sa_handler, SIG_DFL);
  });
}

TEST(Delivery, UsesTheAlternateStackAndDisarmsIt) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    static u8 stack[16384];
    AltStack wanted{reinterpret_cast<u64>(stack), kSsAutoDisarm, 0, sizeof stack};
    ASSERT_EQ(sigaltstack(engine.turn(), reinterpret_cast<u64>(&wanted), 0), 0);
    engine.set_action(SIGUSR1, FakeEngine::kHandler, SA_ONSTACK);
    kill(getpid(), SIGUSR1);
    deliver_pending(engine.turn());
    u64 sp = engine.regs().gpr[kRsp];
    EXPECT_TRUE(sp > wanted.sp && sp < wanted.sp + wanted.size);
    EXPECT_EQ(frame_of(engine).context.stack.flags, kSsAutoDisarm);
    EXPECT_EQ(frame_of(engine).context.stack.sp, wanted.sp);
    EXPECT_EQ(engine.state().altstack_size, 0u);
    engine.return_from_handler();
    EXPECT_EQ(engine.state().altstack_sp, wanted.sp);
    EXPECT_EQ(engine.state().altstack_flags, kSsAutoDisarm);
  });
}

TEST(Delivery, AsksForAnExitOnlyWhenTheGuestRuns) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(test::fake_run().exits_requested, 0);
    deliver_pending(engine.turn());
    engine.return_from_handler();
    context().in_guest = 1;
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(test::fake_run().exits_requested, 1);
    // Everything else waits in the kernel until this one is delivered.
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(test::fake_run().exits_requested, 1);
    EXPECT_EQ(kernel_mask(), host_mask(~u64{0}));
  });
}

TEST(Delivery, SignalIgnoredMeanwhileIsForgotten) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    kill(getpid(), SIGUSR1);
    engine.set_action(SIGUSR1, kIgnored);
    EXPECT_EQ(engine.state().pending, 0u);
    EXPECT_TRUE(deliverable(engine.turn()));  // for the kernel's mask
    deliver_pending(engine.turn());
    EXPECT_EQ(engine.regs().pc, FakeEngine::kPc);
    EXPECT_EQ(kernel_mask(), 0u);
  });
}

TEST(Delivery, BlockedMeanwhileGoesBackToTheKernel) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler, SA_SIGINFO);
    union sigval value;
    value.sival_int = 77;
    sigqueue(getpid(), SIGUSR1, value);
    ASSERT_TRUE(engine.state().pending & bit(SIGUSR1));
    engine.set_mask(bit(SIGUSR1));
    EXPECT_EQ(engine.state().pending, 0u);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_TRUE(sigismember(&pending, SIGUSR1));
    engine.set_mask(0);
    deliver_pending(engine.turn());
    EXPECT_EQ(reinterpret_cast<const siginfo_t*>(&frame_of(engine).info)->si_value.sival_int, 77);
  });
}

TEST(Delivery, BlockedByAnothersHandlerGoesBackToTheKernel) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler, 0, bit(SIGUSR2));
    engine.set_action(SIGUSR2, FakeEngine::kHandler);
    kill(getpid(), SIGUSR1);
    // The window in which a second signal is let in: the mask in memory is behind the kernel's.
    SignalSet none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, 8);
    kill(getpid(), SIGUSR2);
    EXPECT_EQ(engine.state().pending, bit(SIGUSR1) | bit(SIGUSR2));
    deliver_pending(engine.turn());
    EXPECT_EQ(frame_of(engine).info.signo, SIGUSR1);
    EXPECT_EQ(engine.state().pending, 0u);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_TRUE(sigismember(&pending, SIGUSR2));
    engine.return_from_handler();
    EXPECT_EQ(frame_of(engine).info.signo, SIGUSR2);
  });
}

TEST(Delivery, ANewThreadTakesItsOwnSignals) {
  for (SignalSet mask : {SignalSet{0}, bit(SIGTERM)}) {
    EXPECT_IN_CHILD([mask] {
      FakeEngine engine;
      engine.set_action(SIGUSR1, FakeEngine::kHandler);
      engine.set_mask(mask);
      Thread child;
      init_child_thread(engine.thread(), child);
      SignalSet all = ~u64{0};
      syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8);
      std::thread([&] {
        stack_t before;  // a sanitizer's, which it wants back
        ::sigaltstack(nullptr, &before);
        start_thread(child);
        context().thread = &child;
        EXPECT_TRUE(deliverable(engine.turn()));
        deliver_pending(engine.turn());
        EXPECT_EQ(kernel_mask(), mask);
        kill(getpid(), SIGUSR1);  // the other thread has it blocked
        EXPECT_EQ(child.signals.pending, bit(SIGUSR1));
        EXPECT_EQ(engine.state().pending, 0u);
        ::sigaltstack(&before, nullptr);
      }).join();
    });
  }
}

int status_of(const std::function<void(FakeEngine&)>& body) {
  return test::in_child([&] {
    FakeEngine engine;
    body(engine);
  });
}

TEST(Delivery, FrameThatCannotBeWrittenIsAFault) {
  EXPECT_EQ(WTERMSIG(status_of([](FakeEngine& engine) {
              engine.set_action(SIGUSR1, FakeEngine::kHandler);
              engine.regs().gpr[kRsp] = 0x1000;
              kill(getpid(), SIGUSR1);
              deliver_pending(engine.turn());
            })),
            SIGSEGV);
  // Its handler is entered on an alternate stack.
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    static u8 stack[16384];
    AltStack wanted{reinterpret_cast<u64>(stack), 0, 0, sizeof stack};
    sigaltstack(engine.turn(), reinterpret_cast<u64>(&wanted), 0);
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    engine.set_action(SIGSEGV, FakeEngine::kHandler + 1, SA_ONSTACK);
    engine.regs().gpr[kRsp] = 0x1000;
    kill(getpid(), SIGUSR1);
    deliver_pending(engine.turn());
    EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler + 1);
    EXPECT_EQ(frame_of(engine).info.code, SI_KERNEL);
    EXPECT_EQ(frame_of(engine).context.machine.rip, FakeEngine::kPc);
  });
}

TEST(Delivery, HandlerWithoutRestorerIsAFault) {
  EXPECT_EQ(WTERMSIG(status_of([](FakeEngine& engine) {
              Action action;
              action.handler = FakeEngine::kHandler;
              rt_sigaction(engine.turn(), SIGUSR1, reinterpret_cast<u64>(&action), 0, 8);
              kill(getpid(), SIGUSR1);
              deliver_pending(engine.turn());
            })),
            SIGSEGV);
}

TEST(Delivery, BadFrameIsAFault) {
  EXPECT_EQ(WTERMSIG(status_of([](FakeEngine& engine) {
              engine.regs().gpr[kRsp] = 0x1000;
              rt_sigreturn(engine.turn());
            })),
            SIGSEGV);
}

TEST(Delivery, DefaultOfASentFaultKills) {
  for (int signo : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
    EXPECT_EQ(WTERMSIG(status_of([&](FakeEngine& engine) {
                kill(getpid(), signo);
                deliver_pending(engine.turn());
              })),
              signo);
    // Blocked or ignored it does nothing.
    EXPECT_IN_CHILD([&] {
      FakeEngine engine;
      engine.set_mask(bit(signo));
      kill(getpid(), signo);
      SignalSet pending = 0;
      rt_sigpending(engine.turn(), reinterpret_cast<u64>(&pending), 8);
      EXPECT_EQ(pending, bit(signo));
      EXPECT_FALSE(deliverable(engine.turn()));
      engine.set_action(signo, kIgnored);
      engine.set_mask(0);
      kill(getpid(), signo);
      deliver_pending(engine.turn());
      EXPECT_EQ(engine.regs().pc, FakeEngine::kPc);
    });
  }
}

TEST(Delivery, SendsItselfAFaultsSignalWithAnyCode) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGSEGV, FakeEngine::kHandler, SA_SIGINFO);
    SignalInfo info{};
    info.signo = SIGSEGV;
    info.code = SEGV_MAPERR;
    send_to_self(info);
    deliver_pending(engine.turn());
    EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler);
    EXPECT_EQ(frame_of(engine).info.code, SEGV_MAPERR);
  });
}

}  // namespace
}  // namespace detrec::guest::signal
