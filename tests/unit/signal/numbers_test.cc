#include "trace/guest/signal/numbers.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace detrec::guest::signal {
namespace {

TEST(SignalNumbers, MatchTheSystemHeaders) {
  EXPECT_EQ(kSigHup, SIGHUP);
  EXPECT_EQ(kSigIll, SIGILL);
  EXPECT_EQ(kSigTrap, SIGTRAP);
  EXPECT_EQ(kSigBus, SIGBUS);
  EXPECT_EQ(kSigFpe, SIGFPE);
  EXPECT_EQ(kSigSegv, SIGSEGV);
  EXPECT_EQ(kSigChld, SIGCHLD);
  EXPECT_EQ(kSigCont, SIGCONT);
  EXPECT_EQ(kSigStop, SIGSTOP);
  EXPECT_EQ(kSigSys, SIGSYS);
  EXPECT_EQ(kSaNoCldStop, u64{SA_NOCLDSTOP});
  EXPECT_EQ(kSaNoCldWait, u64{SA_NOCLDWAIT});
  EXPECT_EQ(kSaSigInfo, u64{SA_SIGINFO});
  EXPECT_EQ(kSaOnStack, u64{SA_ONSTACK});
  EXPECT_EQ(kSaRestart, u64{SA_RESTART});
  EXPECT_EQ(kSaNoDefer, u64{SA_NODEFER});
  EXPECT_EQ(kSaResetHand, u64{static_cast<unsigned>(SA_RESETHAND)});
  EXPECT_EQ(kBlock, SIG_BLOCK);
  EXPECT_EQ(kUnblock, SIG_UNBLOCK);
  EXPECT_EQ(kSetMask, SIG_SETMASK);
  EXPECT_EQ(kSsOnStack, u32{SS_ONSTACK});
  EXPECT_EQ(kSsDisable, u32{SS_DISABLE});
  EXPECT_EQ(kSiTkill, SI_TKILL);
  EXPECT_EQ(kSiKernel, SI_KERNEL);
}

TEST(SignalNumbers, DefaultActionsAreThoseOfSignal7) {
  for (int signo : {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS}) {
    EXPECT_EQ(default_action(signo), DefaultAction::kCore) << signo;
  }
  for (int signo : {SIGCHLD, SIGCONT, SIGURG, SIGWINCH}) {
    EXPECT_EQ(default_action(signo), DefaultAction::kIgnore) << signo;
  }
  for (int signo : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
    EXPECT_EQ(default_action(signo), DefaultAction::kStop) << signo;
  }
  for (int signo : {SIGHUP, SIGINT, SIGKILL, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT,
                    SIGVTALRM, SIGPROF, SIGIO, SIGPWR, 32, 33, 34, 64}) {
    EXPECT_EQ(default_action(signo), DefaultAction::kTerminate) << signo;
  }
}

}  // namespace
}  // namespace detrec::guest::signal
