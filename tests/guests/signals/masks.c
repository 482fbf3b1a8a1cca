// Blocking and waiting: sigprocmask, sigpending, sigsuspend, pause, sigwaitinfo, sigtimedwait, signalfd,
// masks of ppoll and pselect.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "guest.h"

static volatile int calls;
static void handler(int number) {
  (void)number;
  calls++;
}

static sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  if (number) sigaddset(&set, number);
  return set;
}

int main(void) {
  struct sigaction action = {.sa_handler = handler};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  sigset_t usr1 = only(SIGUSR1), empty = only(0), old, pending;
  EXPECT_EQ(sigprocmask(SIG_BLOCK, &usr1, &old), 0);
  EXPECT(!sigismember(&old, SIGUSR1));
  raise(SIGUSR1);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(sigpending(&pending), 0);
  EXPECT(sigismember(&pending, SIGUSR1));
  EXPECT_ERROR(sigsuspend(&empty), EINTR);
  EXPECT_EQ(calls, 1);
  sigprocmask(SIG_BLOCK, NULL, &old);
  EXPECT(sigismember(&old, SIGUSR1));  // sigsuspend put the mask back
  raise(SIGUSR1);
  EXPECT_EQ(sigprocmask(SIG_UNBLOCK, &usr1, NULL), 0);
  EXPECT_EQ(calls, 2);  // delivered before sigprocmask returned

  alarm(1);
  EXPECT_ERROR(pause(), EINTR);
  EXPECT_EQ(calls, 3);

  // Waiting synchronously.
  sigprocmask(SIG_BLOCK, &usr1, NULL);
  siginfo_t info;
  struct timespec zero = {0, 0}, soon = {0, 5000000};
  EXPECT_ERROR(sigtimedwait(&usr1, &info, &zero), EAGAIN);
  EXPECT_ERROR(sigtimedwait(&usr1, &info, &soon), EAGAIN);
  raise(SIGUSR1);
  EXPECT_EQ(sigtimedwait(&usr1, &info, &zero), SIGUSR1);
  EXPECT_EQ(info.si_code, SI_USER);  // libc hides SI_TKILL here
  raise(SIGUSR1);
  int number;
  EXPECT_EQ(sigwait(&usr1, &number), 0);
  EXPECT_EQ(number, SIGUSR1);
  EXPECT_EQ(calls, 3);

  // signalfd.
  int fd = signalfd(-1, &usr1, SFD_NONBLOCK | SFD_CLOEXEC);
  REQUIRE(fd >= 0);
  struct signalfd_siginfo record;
  EXPECT_ERROR(read(fd, &record, sizeof record), EAGAIN);
  struct pollfd poll_entry = {fd, POLLIN, 0};
  EXPECT_EQ(poll(&poll_entry, 1, 0), 0);
  union sigval value = {.sival_int = 31};
  sigqueue(getpid(), SIGUSR1, value);
  EXPECT_EQ(poll(&poll_entry, 1, 1000), 1);
  EXPECT_EQ(read(fd, &record, sizeof record), sizeof record);
  EXPECT_EQ(record.ssi_signo, SIGUSR1);
  EXPECT_EQ(record.ssi_int, 31);
  EXPECT_EQ(record.ssi_pid, getpid());
  sigset_t alarm_set = only(SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm_set, NULL);
  EXPECT_EQ(signalfd(fd, &alarm_set, 0), fd);
  raise(SIGUSR1);
  EXPECT_ERROR(read(fd, &record, sizeof record), EAGAIN);
  raise(SIGALRM);
  EXPECT_EQ(read(fd, &record, sizeof record), sizeof record);
  EXPECT_EQ(record.ssi_signo, SIGALRM);
  close(fd);
  sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);

  // SIGUSR1 is pending: calls with a mask of their own let it in.
  struct timespec long_time = {10, 0};
  EXPECT_ERROR(ppoll(NULL, 0, &long_time, &empty), EINTR);
  EXPECT_EQ(calls, 4);
  raise(SIGUSR1);
  EXPECT_ERROR(pselect(0, NULL, NULL, NULL, &long_time, &empty), EINTR);
  EXPECT_EQ(calls, 5);
  int epoll = epoll_create1(0);
  struct epoll_event event;
  raise(SIGUSR1);
  EXPECT_ERROR(epoll_pwait(epoll, &event, 1, 10000, &empty), EINTR);
  EXPECT_EQ(calls, 6);
  sigprocmask(SIG_BLOCK, NULL, &old);
  EXPECT(sigismember(&old, SIGUSR1));
  EXPECT_EQ(ppoll(NULL, 0, &zero, &empty), 0);

  // Kill and stop cannot be blocked; bad calls.
  sigset_t full;
  sigfillset(&full);
  sigprocmask(SIG_SETMASK, &full, NULL);
  sigprocmask(SIG_BLOCK, NULL, &old);
  EXPECT(!sigismember(&old, SIGKILL) && !sigismember(&old, SIGSTOP));
  EXPECT_ERROR(sigprocmask(17, &full, NULL), EINVAL);
  EXPECT_ERROR(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &full, NULL, 4), EINVAL);
  EXPECT_ERROR(syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void*)16, NULL, 8), EFAULT);
  printf("%d calls\n", calls);
  return guest_result();
}
