// pidfds: opened for a child and for ourselves, signalled, polled, waited for.
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) pause();
  }
  int fd = pidfd_open(child, 0);
  REQUIRE(fd >= 0);
  struct pollfd entry = {fd, POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0);
  EXPECT_EQ(pidfd_send_signal(fd, 0, NULL, 0), 0);
  EXPECT_EQ(pidfd_send_signal(fd, SIGTERM, NULL, 0), 0);
  EXPECT_EQ(poll(&entry, 1, 10000), 1);
  siginfo_t info;
  EXPECT_EQ(waitid((idtype_t)P_PIDFD, (id_t)fd, &info, WEXITED), 0);
  EXPECT(info.si_pid == child && info.si_code == CLD_KILLED && info.si_status == SIGTERM);
  EXPECT_ERROR(pidfd_send_signal(fd, SIGTERM, NULL, 0), ESRCH);
  int own = pidfd_open(getpid(), 0);
  EXPECT(own >= 0);
  signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(pidfd_send_signal(own, SIGUSR1, NULL, 0), 0);
  EXPECT_ERROR(pidfd_open(0x7ffffffe, 0), ESRCH);
  EXPECT_ERROR(pidfd_open(getpid(), 0x1000), EINVAL);
  printf("done\n");
  return guest_result();
}
