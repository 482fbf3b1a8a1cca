#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/signal/fake_engine.h"
#include "trace/guest/signal/host_handler.h"

extern "C" char detrec_interruptible[], detrec_window_begin[], detrec_window_syscall[], detrec_window_end[],
    detrec_window_not_started[], detrec_window_restart[];

namespace detrec::guest::signal {
namespace {

using test::FakeEngine;

constexpr u64 kPc = FakeEngine::kPc, kHandler = FakeEngine::kHandler;

template <class T>
u64 at(T* p) {
  return reinterpret_cast<u64>(p);
}

/// SIGALRM after 20 ms, and again in case that the first was too early.
void alarm_soon() {
  itimerval soon = {{0, 200'000}, {0, 20'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}
void no_alarm() {
  itimerval none = {};
  setitimer(ITIMER_REAL, &none, nullptr);
}

SysResult call(FakeEngine& engine, long nr, u64 a0 = 0, u64 a1 = 0, u64 a2 = 0, u64 a3 = 0, u64 a4 = 0,
               u64 a5 = 0) {
  return raw_syscall_interruptible(engine.thread(), nr, a0, a1, a2, a3, a4, a5);
}

struct Pipe {
  int end[2];
  Pipe() { EXPECT_EQ(pipe(end), 0); }
};

TEST(Waiting, AFinishedCallIsUntouched) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    Pipe p;
    EXPECT_EQ(write(p.end[1], "abc", 3), 3);
    char buffer[8];
    EXPECT_EQ(call(engine, SYS_read, static_cast<u64>(p.end[0]), at(buffer), 8), 3);
    EXPECT_EQ(call(engine, SYS_read, 1000, at(buffer), 8), -EBADF);
    // All six arguments arrive.
    EXPECT_EQ(call(engine, SYS_futex, at(buffer), 1, 1, 0, 0, 0), 0);
    auto page = static_cast<u64>(call(engine, SYS_mmap, 0, 4096, 3, 0x22, ~u64{0}, 0));
    EXPECT_EQ(page % 4096, 0u);
  });
}

TEST(Waiting, TheKernelsWordOnRestarts) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGALRM, kHandler);
    Pipe p;
    char buffer[8];
    pollfd fds = {p.end[0], POLLIN, 0};
    auto read_end = static_cast<u64>(p.end[0]);
    auto wait = [&](auto&& body) {
      alarm_soon();
      SysResult r = body();
      no_alarm();
      deliver_pending(engine.turn());
      engine.return_from_handler();
      return r;
    };
    EXPECT_EQ(wait([&] { return call(engine, SYS_read, read_end, at(buffer), 8); }), kERestartSys);
    EXPECT_EQ(wait([&] { return call(engine, SYS_poll, at(&fds), 1, ~u64{0}); }), -EINTR);
    timespec long_time = {100, 0}, left = {};
    EXPECT_EQ(wait([&] { return call(engine, SYS_nanosleep, at(&long_time), at(&left)); }), -EINTR);
    EXPECT_GT(left.tv_sec, 90);
    EXPECT_EQ(wait([&] { return call(engine, SYS_pause); }), -EINTR);
    // A socket with a timeout is another thing than one without.
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    auto receive = [&] { return call(engine, SYS_recvfrom, static_cast<u64>(sockets[0]), at(buffer), 8); };
    EXPECT_EQ(wait(receive), kERestartSys);
    timeval timeout = {100, 0};
    setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    EXPECT_EQ(wait(receive), -EINTR);
  });
}

TEST(Waiting, DoesNotStartWhenASignalIsThere) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, kHandler);
    raise(SIGUSR1);
    EXPECT_EQ(call(engine, SYS_pause), kERestartNoIntr);
  });
}

/// A host frame that interrupted detrec_interruptible at `rip`.
u64 rip_after_signal(FakeEngine& engine, const char* rip, u64 rcx, int signo) {
  UserContext context{};
  context.stack.sp = reinterpret_cast<u64>(engine.thread().host_signal_stack) + 64;
  context.stack.size = 1;
  context.machine.rip = at(rip);
  context.machine.rcx = rcx;
  SignalInfo info{};
  info.signo = signo;
  info.code = SI_TKILL;
  detrec_host_handler(signo, &info, &context);
  return context.machine.rip;
}

TEST(Waiting, SignalAtEveryByteOfTheWindow) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, kHandler);
    for (const char* rip = detrec_interruptible; rip < detrec_window_restart; ++rip) {
      bool in_window = rip >= detrec_window_begin && rip <= detrec_window_syscall;
      u64 expected = in_window ? at(detrec_window_not_started) : at(rip);
      EXPECT_EQ(rip_after_signal(engine, rip, 0, SIGUSR1), expected) << rip - detrec_interruptible;
    }
    // Put back by the kernel, to be restarted.
    EXPECT_EQ(rip_after_signal(engine, detrec_window_syscall, at(detrec_window_end), SIGUSR1),
              at(detrec_window_restart));
    // What the guest blocks does not disturb.
    FakeEngine* e = &engine;
    e->state().blocked = bit(SIGSEGV) | bit(SIGUSR1);
    EXPECT_EQ(rip_after_signal(engine, detrec_window_begin, 0, SIGSEGV), at(detrec_window_begin));
  });
}

/// Steps a child to every instruction of detrec_interruptible in turn and sends it a signal there.
TEST(Waiting, SignalAtEveryInstruction) {
  int instructions = 0, not_started = 0, finished = 0;
  for (int stop_after = 0;; ++stop_after) {
    pid_t child = fork();
    if (child == 0) {
      FakeEngine engine;
      engine.set_action(SIGUSR1, kHandler);
      SysResult own_pid = getpid();
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(99);
      raise(SIGSTOP);
      SysResult r = call(engine, SYS_getpid);
      deliver_pending(engine.turn());
      if (engine.regs().pc != kHandler) _exit(98);
      _exit(r == kERestartNoIntr ? 1 : r == own_pid ? 2 : 97);
    }
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99) GTEST_SKIP() << "ptrace is not allowed here";
    ASSERT_TRUE(WIFSTOPPED(status));
    auto rip = [&] {
      return static_cast<u64>(ptrace(PTRACE_PEEKUSER, child, offsetof(user_regs_struct, rip), nullptr));
    };
    auto step = [&] {
      ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
      waitpid(child, &status, 0);
    };
    while (rip() != at(detrec_interruptible)) step();
    bool inside = true;
    u64 first = rip();
    for (int i = 0; i < stop_after && inside; ++i) {
      step();
      inside = rip() >= first && rip() < at(detrec_window_not_started);
    }
    ptrace(inside ? PTRACE_CONT : PTRACE_KILL, child, nullptr, SIGUSR1);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!inside) break;
    ++instructions;
    ASSERT_TRUE(WIFEXITED(status)) << stop_after << ": " << status;
    int expected = finished > 0 ? 2 : WEXITSTATUS(status);
    EXPECT_EQ(WEXITSTATUS(status), expected) << "not monotonous at " << stop_after;
    not_started += WEXITSTATUS(status) == 1;
    finished += WEXITSTATUS(status) == 2;
  }
  EXPECT_EQ(finished, 2);  // pop, ret
  EXPECT_EQ(not_started, instructions - 2);
  EXPECT_EQ(instructions, 17);
}

TEST(Waiting, ResultsBecomeWhatTheGuestSees) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    struct Case {
      SysResult internal;
      bool sa_restart;
      bool restarts;
    };
    for (Case c :
         {Case{kERestartSys, true, true}, Case{kERestartSys, false, false}, Case{kERestartNoIntr, true, true},
          Case{kERestartNoIntr, false, true}, Case{kERestartNoHand, true, false},
          Case{kERestartNoHand, false, false}, Case{kERestartBlock, true, false}}) {
      engine.set_action(SIGUSR1, kHandler, c.sa_restart ? SA_RESTART : 0);
      raise(SIGUSR1);
      engine.finish_syscall(SYS_read, c.internal);
      ASSERT_EQ(engine.regs().pc, kHandler);
      engine.return_from_handler();
      EXPECT_EQ(engine.regs().pc, c.restarts ? kPc - 2 : kPc) << c.internal;
      EXPECT_EQ(static_cast<i64>(engine.regs().gpr[kRax]), c.restarts ? SYS_read : -EINTR) << c.internal;
      engine.regs().pc = kPc;
    }
    // Without a handler all go on.
    for (SysResult internal : {kERestartSys, kERestartNoIntr, kERestartNoHand, kERestartBlock}) {
      engine.finish_syscall(SYS_read, internal);
      EXPECT_EQ(engine.regs().pc, kPc - 2);
      EXPECT_EQ(engine.regs().gpr[kRax], u64{SYS_read});
      engine.regs().pc = kPc;
    }
    // Ordinary results stay, and a register that looks like an internal one later does too.
    engine.finish_syscall(SYS_read, -EINTR);
    EXPECT_EQ(static_cast<i64>(engine.regs().gpr[kRax]), -EINTR);
    engine.regs().gpr[kRax] = static_cast<u64>(kERestartSys);
    raise(SIGUSR1);
    deliver_pending(engine.turn());
    engine.return_from_handler();
    EXPECT_EQ(static_cast<i64>(engine.regs().gpr[kRax]), kERestartSys);
  });
}

TEST(Waiting, OnlyTheFirstHandlerDecides) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, kHandler + 1, SA_RESTART);
    engine.set_action(SIGUSR2, kHandler + 2);
    engine.set_mask(bit(SIGUSR1) | bit(SIGUSR2));
    raise(SIGUSR2);
    raise(SIGUSR1);
    engine.set_mask(0);
    engine.finish_syscall(SYS_read, kERestartSys);
    engine.return_from_handler();
    engine.return_from_handler();
    EXPECT_EQ(engine.regs().pc, kPc - 2);
  });
}

/// Every call that takes a mask: waits with SIGALRM open although the guest blocks it.
TEST(Waiting, MaskForTheTimeOfACall) {
  using Body = SysResult (*)(FakeEngine&, const SignalSet*);
  static Pipe p;
  static int epoll = epoll_create1(0);
  const Body bodies[] = {
      [](FakeEngine& e, const SignalSet* mask) { return rt_sigsuspend(e.turn(), at(mask), 8); },
      [](FakeEngine& e, const SignalSet* mask) {
        pollfd fds = {p.end[0], POLLIN, 0};
        return call(e, SYS_ppoll, at(&fds), 1, 0, at(mask), 8);
      },
      [](FakeEngine& e, const SignalSet* mask) {
        u64 argument[2] = {at(mask), 8};
        return call(e, SYS_pselect6, 0, 0, 0, 0, 0, at(argument));
      },
      [](FakeEngine& e, const SignalSet* mask) {
        epoll_event event;
        return call(e, SYS_epoll_pwait, static_cast<u64>(epoll), at(&event), 1, ~u64{0}, at(mask), 8);
      },
  };
  for (Body body : bodies) {
    EXPECT_IN_CHILD([&] {
      FakeEngine engine;
      engine.set_action(SIGALRM, kHandler, SA_RESTART, bit(SIGHUP));
      SignalSet blocked = bit(SIGALRM) | bit(SIGUSR1), during = bit(SIGTERM);
      engine.set_mask(blocked);
      for (bool before : {true, false}) {
        if (before) raise(SIGALRM);
        if (!before) alarm_soon();
        SysResult r = body(engine, &during);
        no_alarm();
        EXPECT_TRUE(r == -EINTR || r == kERestartNoHand) << r;
        engine.finish_syscall(SYS_ppoll, r);
        ASSERT_EQ(engine.regs().pc, kHandler);
        EXPECT_EQ(engine.state().blocked, during | bit(SIGALRM) | bit(SIGHUP));
        engine.return_from_handler();
        EXPECT_EQ(engine.state().blocked, blocked);
        EXPECT_EQ(engine.regs().pc, kPc);
        EXPECT_EQ(static_cast<i64>(engine.regs().gpr[kRax]), -EINTR);
        SignalSet kernel;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &kernel, 8);
        EXPECT_EQ(kernel, blocked);
      }
    });
  }
}

TEST(Waiting, ASignalThatTheEngineHoldsEndsACallWithAMask) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGSEGV, kHandler, SA_RESTART);
    engine.set_mask(bit(SIGSEGV));
    kill(getpid(), SIGSEGV);
    SignalSet none = 0;
    engine.finish_syscall(SYS_rt_sigsuspend, rt_sigsuspend(engine.turn(), at(&none), 8));
    EXPECT_EQ(engine.regs().pc, kHandler);
    engine.return_from_handler();
    EXPECT_EQ(engine.regs().pc, kPc);
    EXPECT_EQ(static_cast<i64>(engine.regs().gpr[kRax]), -EINTR);
    EXPECT_EQ(engine.state().blocked, bit(SIGSEGV));
    // The same in a call that goes through the interruptible one alone.
    kill(getpid(), SIGSEGV);
    EXPECT_EQ(call(engine, SYS_ppoll, 0, 0, 0, at(&none), 8), kERestartNoHand);
    EXPECT_TRUE(engine.state().restore_saved);
  });
}

TEST(Waiting, MaskEndsWithACallThatIsNotInterrupted) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    engine.set_action(SIGUSR1, kHandler);
    engine.set_mask(bit(SIGUSR1));
    raise(SIGUSR1);
    Pipe p;
    EXPECT_EQ(write(p.end[1], "x", 1), 1);
    pollfd fds = {p.end[0], POLLIN, 0};
    SignalSet none = 0;
    timespec zero = {};
    EXPECT_EQ(call(engine, SYS_ppoll, at(&fds), 1, at(&zero), at(&none), 8), 1);
    EXPECT_EQ(engine.state().blocked, bit(SIGUSR1));
    EXPECT_FALSE(deliverable(engine.turn()));
    SignalSet pending = 0;
    rt_sigpending(engine.turn(), at(&pending), 8);
    EXPECT_EQ(pending, bit(SIGUSR1));
    // The kernel complains of a bad size itself.
    EXPECT_EQ(call(engine, SYS_ppoll, at(&fds), 1, at(&zero), at(&none), 4), -EINVAL);
    EXPECT_EQ(engine.state().blocked, bit(SIGUSR1));
  });
}

TEST(Waiting, Sigtimedwait) {
  EXPECT_IN_CHILD([] {
    FakeEngine engine;
    SignalSet set = bit(SIGUSR1) | bit(SIGSEGV) | bit(40);
    engine.set_mask(set);
    timespec zero = {};
    siginfo_t info = {};
    auto wait = [&] { return rt_sigtimedwait(engine.turn(), at(&set), at(&info), at(&zero), 8); };
    EXPECT_EQ(wait(), -EAGAIN);
    for (int value : {1, 2}) {
      union sigval v;
      v.sival_int = value;
      sigqueue(getpid(), 40, v);
    }
    raise(SIGUSR1);
    kill(getpid(), SIGSEGV);  // held by the engine
    EXPECT_EQ(wait(), SIGSEGV);
    EXPECT_EQ(info.si_signo, SIGSEGV);
    EXPECT_EQ(wait(), SIGUSR1);
    for (int value : {1, 2}) {
      EXPECT_EQ(wait(), 40);
      EXPECT_EQ(info.si_value.sival_int, value);
    }
    EXPECT_EQ(wait(), -EAGAIN);
    // A handler's signal ends the wait.
    engine.set_action(SIGALRM, kHandler, SA_RESTART);
    alarm_soon();
    EXPECT_EQ(rt_sigtimedwait(engine.turn(), at(&set), 0, 0, 8), -EINTR);
    no_alarm();
  });
}

}  // namespace
}  // namespace detrec::guest::signal
