// Signals sent to ourselves are delivered before the call returns, with the sender's information: kill,
// raise, tgkill, sigqueue, pthread_kill, rt_sigqueueinfo.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "guest.h"

static volatile int calls;
static siginfo_t last;

static void handler(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  calls++;
  last = *info;
}

static void expect(const char* how, int code) {
  printf("%s: calls %d, number %d, code %d, own pid %d, own uid %d\n", how, calls, last.si_signo,
         last.si_code, last.si_pid == getpid(), last.si_uid == getuid());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(last.si_code, code);
  calls = 0;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  REQUIRE(sigaction(SIGRTMIN + 5, &action, NULL) == 0);
  EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
  expect("kill", SI_USER);
  EXPECT_EQ(raise(SIGUSR1), 0);
  expect("raise", SI_TKILL);
  EXPECT_EQ(syscall(SYS_tgkill, getpid(), gettid(), SIGRTMIN + 5), 0);
  expect("tgkill", SI_TKILL);
  EXPECT_EQ(syscall(SYS_tkill, gettid(), SIGUSR1), 0);
  expect("tkill", SI_TKILL);
  union sigval value = {.sival_int = 4711};
  EXPECT_EQ(sigqueue(getpid(), SIGRTMIN + 5, value), 0);
  EXPECT_EQ(last.si_value.sival_int, 4711);
  expect("sigqueue", SI_QUEUE);
  EXPECT_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  expect("pthread_kill", SI_TKILL);
  EXPECT_EQ(pthread_sigqueue(pthread_self(), SIGUSR1, value), 0);
  expect("pthread_sigqueue", SI_QUEUE);
  siginfo_t own;
  memset(&own, 0, sizeof own);
  own.si_code = -77;
  own.si_pid = 12345;
  own.si_value.sival_int = 99;
  EXPECT_EQ(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &own), 0);
  EXPECT_EQ(last.si_pid, 12345);
  EXPECT_EQ(last.si_value.sival_int, 99);
  expect("rt_sigqueueinfo", -77);
  EXPECT_EQ(kill(0 - getpgrp(), 0), 0);
  EXPECT_EQ(kill(getpid(), 0), 0);
  EXPECT_ERROR(kill(getpid(), 65), EINVAL);
  EXPECT_ERROR(kill(0x7ffffffe, 0), ESRCH);
  EXPECT_EQ(calls, 0);

  // Queued real-time signals arrive in order and all of them.
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 5);
  sigprocmask(SIG_BLOCK, &set, &old);
  for (int i = 0; i < 10; i++) {
    value.sival_int = i;
    EXPECT_EQ(sigqueue(getpid(), SIGRTMIN + 5, value), 0);
  }
  EXPECT_EQ(calls, 0);
  for (int i = 0; i < 4; i++) {
    siginfo_t info;
    EXPECT_EQ(sigwaitinfo(&set, &info), SIGRTMIN + 5);
    EXPECT_EQ(info.si_value.sival_int, i);
  }
  sigprocmask(SIG_SETMASK, &old, NULL);
  EXPECT_EQ(calls, 6);
  return guest_result();
}
