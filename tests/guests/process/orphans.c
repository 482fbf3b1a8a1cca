// A process whose parent ends is adopted by the nearest subreaper; the signal asked for at the parent's death
// comes; a daemon made by two forks works on and reports.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  fflush(stdout);
  pid_t self = getpid(), child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    pid_t middle = getpid();
    if (fork() == 0) {
      while (getppid() == middle) usleep(500);
      char answer = getppid() == self ? 'y' : 'n';
      _exit(write(ends[1], &answer, 1) == 1 ? 23 : 1);
    }
    _exit(0);
  }
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  char answer = 0;
  EXPECT_EQ(read(ends[0], &answer, 1), 1);
  printf("adopted by us: %c\n", answer);
  EXPECT(waitpid(-1, &status, 0) > 0);
  EXPECT_EQ(status, 23 << 8);

  // PR_SET_PDEATHSIG.
  child = fork();
  if (child == 0) {
    int synchronise[2];
    if (pipe(synchronise) != 0) _exit(1);
    if (fork() == 0) {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGUSR1);
      sigprocmask(SIG_BLOCK, &set, NULL);
      prctl(PR_SET_PDEATHSIG, SIGUSR1);
      char byte = 'x';
      if (write(synchronise[1], &byte, 1) != 1) _exit(1);
      int number = 0;
      sigwait(&set, &number);
      byte = number == SIGUSR1 ? 's' : 'n';
      _exit(write(ends[1], &byte, 1) == 1 ? 24 : 1);
    }
    char byte;
    _exit(read(synchronise[0], &byte, 1) == 1 ? 0 : 1);
  }
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(read(ends[0], &answer, 1), 1);
  printf("told of the death: %c\n", answer);
  EXPECT(waitpid(-1, &status, 0) > 0);

  // daemon(3).
  child = fork();
  if (child == 0) {
    if (daemon(1, 0) != 0) _exit(1);
    answer = getsid(0) == getpid() || getsid(0) != getsid(self) ? 'd' : 'n';
    _exit(write(ends[1], &answer, 1) == 1 ? 25 : 1);
  }
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(read(ends[0], &answer, 1), 1);
  printf("daemon: %c\n", answer);
  EXPECT(waitpid(-1, &status, 0) > 0);
  EXPECT_EQ(status, 25 << 8);
  return guest_result();
}
