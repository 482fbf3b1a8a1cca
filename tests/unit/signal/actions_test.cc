#include "trace/guest/signal/actions.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/signal/fake_engine.h"
#include "trace/guest/process.h"
#include "trace/guest/signal/host_handler.h"

namespace detrec::guest::signal {
namespace {

using test::FakeEngine;

TEST(Actions, WhatTheKernelIsTold) {
  Action action;
  for (u64 handler : {kDefault, kIgnored}) {
    action.handler = handler;
    EXPECT_EQ(host_action(action, SIGTERM).handler, handler);
    // The engine needs its faults, whatever the guest does with its own.
    EXPECT_EQ(host_action(action, SIGSEGV).handler, reinterpret_cast<u64>(&detrec_host_handler));
  }
  action.handler = FakeEngine::kHandler;
  action.flags = SA_NOCLDWAIT | SA_NOCLDSTOP | SA_NODEFER;
  Action host = host_action(action, SIGCHLD);
  EXPECT_EQ(host.handler, reinterpret_cast<u64>(&detrec_host_handler));
  EXPECT_EQ(host.flags & (SA_NOCLDWAIT | SA_NOCLDSTOP), u64{SA_NOCLDWAIT | SA_NOCLDSTOP});
  EXPECT_TRUE(host.flags & SA_ONSTACK);
  EXPECT_EQ(host.mask & kFaults, 0u);
  EXPECT_EQ(host.mask | kFaults, ~u64{0});
}

TEST(Actions, InheritsIgnoredSignalsAndTheMask) {
  EXPECT_IN_CHILD([] {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGSEGV, SIG_IGN);
    SignalSet mask = bit(SIGUSR1) | bit(SIGBUS);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
    FakeEngine engine;
    Actions& actions = *engine.state().actions;
    EXPECT_EQ(actions[SIGPIPE].handler, kIgnored);
    EXPECT_EQ(actions[SIGSEGV].handler, kIgnored);
    EXPECT_EQ(actions[SIGTERM].handler, kDefault);
    EXPECT_EQ(engine.state().blocked, mask);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, 8);
    EXPECT_EQ(mask, bit(SIGUSR1));
  });
}

TEST(Actions, ReadsBackWhatWasSet) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    Turn& turn = engine.turn();
    Action wanted, read;
    wanted.handler = FakeEngine::kHandler;
    wanted.flags = ~u64{0};
    wanted.restorer = 5;
    wanted.mask = ~u64{0};
    ASSERT_EQ(rt_sigaction(turn, SIGUSR2, reinterpret_cast<u64>(&wanted), 0, 8), 0);
    ASSERT_EQ(rt_sigaction(turn, SIGUSR2, 0, reinterpret_cast<u64>(&read), 8), 0);
    EXPECT_EQ(read.handler, wanted.handler);
    EXPECT_EQ(read.flags, kSaKnown);
    EXPECT_EQ(read.restorer, 5u);
    EXPECT_EQ(read.mask, ~kUnblockable);
  });
}

TEST(Actions, RefusesWhatTheKernelRefuses) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    Turn& turn = engine.turn();
    Action action;
    u64 at = reinterpret_cast<u64>(&action);
    EXPECT_EQ(rt_sigaction(turn, 0, at, 0, 8), kEInval);
    EXPECT_EQ(rt_sigaction(turn, 65, 0, at, 8), kEInval);
    EXPECT_EQ(rt_sigaction(turn, SIGKILL, at, 0, 8), kEInval);
    EXPECT_EQ(rt_sigaction(turn, SIGSTOP, at, 0, 8), kEInval);
    EXPECT_EQ(rt_sigaction(turn, SIGKILL, 0, at, 8), 0);
    EXPECT_EQ(rt_sigaction(turn, SIGUSR1, at, 0, 4), kEInval);
    EXPECT_EQ(rt_sigaction(turn, SIGUSR1, 1, 0, 8), kEFault);
    EXPECT_EQ(rt_sigaction(turn, SIGUSR1, 0, 1, 8), kEFault);
    EXPECT_EQ(rt_sigprocmask(turn, 3, at, 0, 8), kEInval);
    EXPECT_EQ(rt_sigprocmask(turn, 3, 0, at, 8), 0);
    EXPECT_EQ(rt_sigprocmask(turn, kBlock, 1, 0, 8), kEFault);
    EXPECT_EQ(rt_sigprocmask(turn, kBlock, at, 0, 16), kEInval);
    EXPECT_EQ(rt_sigpending(turn, at, 16), kEInval);
    EXPECT_EQ(rt_sigpending(turn, 1, 8), kEFault);
    EXPECT_EQ(rt_sigsuspend(turn, at, 4), kEInval);
    EXPECT_EQ(rt_sigsuspend(turn, 1, 8), kEFault);
    EXPECT_EQ(rt_sigtimedwait(turn, at, 0, 0, 4), kEInval);
    EXPECT_EQ(rt_sigtimedwait(turn, 1, 0, 0, 8), kEFault);
    EXPECT_EQ(rt_sigtimedwait(turn, at, 0, 1, 8), kEFault);
    i64 negative[2] = {-1, 0};
    EXPECT_EQ(rt_sigtimedwait(turn, at, 0, reinterpret_cast<u64>(negative), 8), kEInval);
    EXPECT_EQ(sigaltstack(turn, 1, 0), kEFault);
    EXPECT_EQ(sigaltstack(turn, 0, 1), kEFault);
  });
}

TEST(Actions, MasksCombineAndKillAndStopStayOut) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    Turn& turn = engine.turn();
    SignalSet set = bit(SIGUSR1) | bit(SIGKILL) | bit(SIGSTOP) | bit(SIGSEGV), old = 0;
    u64 at = reinterpret_cast<u64>(&set);
    ASSERT_EQ(rt_sigprocmask(turn, kBlock, at, 0, 8), 0);
    set = bit(SIGUSR2);
    ASSERT_EQ(rt_sigprocmask(turn, kBlock, at, reinterpret_cast<u64>(&old), 8), 0);
    EXPECT_EQ(old, bit(SIGUSR1) | bit(SIGSEGV));
    set = bit(SIGUSR1);
    ASSERT_EQ(rt_sigprocmask(turn, kUnblock, at, reinterpret_cast<u64>(&old), 8), 0);
    EXPECT_EQ(old, bit(SIGUSR1) | bit(SIGUSR2) | bit(SIGSEGV));
    EXPECT_EQ(engine.state().blocked, bit(SIGUSR2) | bit(SIGSEGV));
    // set == old: the set is read before the old one is written.
    set = 0;
    ASSERT_EQ(rt_sigprocmask(turn, kSetMask, at, at, 8), 0);
    EXPECT_EQ(set, bit(SIGUSR2) | bit(SIGSEGV));
    EXPECT_EQ(engine.state().blocked, 0u);
  });
}

TEST(Actions, ThreadsShareThemVforkChildrenDoNot) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_mask(bit(SIGUSR2));
    engine.state().altstack_size = 4096;
    Thread thread, child;
    child.vfork_child = true;
    init_child_thread(engine.thread(), thread);
    init_child_thread(engine.thread(), child);
    EXPECT_EQ(thread.signals.actions, engine.state().actions);
    EXPECT_NE(child.signals.actions, engine.state().actions);
    EXPECT_EQ(thread.signals.blocked, bit(SIGUSR2));
    EXPECT_EQ(thread.signals.altstack_size, 0u);
    EXPECT_EQ(child.signals.altstack_size, 4096u);
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    EXPECT_EQ((*child.signals.actions)[SIGUSR1].handler, kDefault);
    // A table is used again once its process is gone: as many children as one likes.
    const Actions* table = child.signals.actions;
    for (int i = 0; i < 10'000; ++i) init_child_thread(engine.thread(), child);
    EXPECT_EQ(child.signals.actions, table);
  });
}

TEST(Actions, ExecInheritsWhatTheGuestHas) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGFPE, kIgnored);
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    engine.set_mask(bit(SIGBUS) | bit(SIGTERM));
    kill(getpid(), SIGBUS);  // blocked: stays with the engine
    ASSERT_TRUE(engine.state().pending & bit(SIGBUS));
    prepare_exec(engine.turn());
    struct sigaction kernel;
    sigaction(SIGFPE, nullptr, &kernel);
    EXPECT_EQ(kernel.sa_handler, SIG_IGN);
    SignalSet mask = 0, pending = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, 8);
    EXPECT_EQ(mask, bit(SIGBUS) | bit(SIGTERM));
    syscall(SYS_rt_sigpending, &pending, 8);
    EXPECT_EQ(pending, bit(SIGBUS));
    cancel_exec(engine.turn());
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, 8);
    EXPECT_EQ(mask, bit(SIGTERM));
    EXPECT_TRUE(engine.state().pending & bit(SIGBUS));
    sigaction(SIGFPE, nullptr, &kernel);
    EXPECT_NE(kernel.sa_handler, SIG_IGN);
  });
}

TEST(Actions, AThreadThatEndsPassesItsSignalsOn) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    kill(getpid(), SIGUSR1);
    end_thread(engine.thread());
    SignalSet pending = 0;
    syscall(SYS_rt_sigpending, &pending, 8);
    EXPECT_EQ(pending, bit(SIGUSR1));
  });
}

TEST(Actions, AForkedChildHasNothingPending) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, FakeEngine::kHandler);
    kill(getpid(), SIGUSR1);
    EXPECT_IN_CHILD([&] {
      after_fork(engine.turn());
      EXPECT_TRUE(deliverable(engine.turn()));  // for the kernel's mask
      deliver_pending(engine.turn());
      EXPECT_EQ(engine.regs().pc, FakeEngine::kPc);
      kill(getpid(), SIGUSR1);
      deliver_pending(engine.turn());
      EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler);
    });
    deliver_pending(engine.turn());
    EXPECT_EQ(engine.regs().pc, FakeEngine::kHandler);
  });
}

}  // namespace
}  // namespace detrec::guest::signal
