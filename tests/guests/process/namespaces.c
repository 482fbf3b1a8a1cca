// New namespaces: in a fresh process namespace the first child is number 1, by every way to ask.
// @needs: root
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  fflush(stdout);
  pid_t helper = fork();
  REQUIRE(helper >= 0);
  if (helper == 0) {
    if (unshare(CLONE_NEWPID | CLONE_NEWUTS) != 0) _exit(60);
    if (sethostname("inside", 6) != 0) _exit(61);
    pid_t child = fork();
    if (child == 0) {
      int bad =
          getpid() != 1 || raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != 1 || gettid() != 1 || getppid() != 0;
      char name[64];
      bad += gethostname(name, sizeof name) != 0 || strcmp(name, "inside") != 0;
      pid_t inner = fork();
      if (inner == 0) _exit(getpid() == 2 && getppid() == 1 ? 0 : 1);
      int status;
      bad += inner != 2 || waitpid(2, &status, 0) != 2 || status != 0;
      bad += kill(getpid(), 0) != 0;
      _exit(bad ? 62 : 8);
    }
    int status;
    if (waitpid(child, &status, 0) != child) _exit(63);
    _exit(WEXITSTATUS(status));
  }
  int status;
  EXPECT_EQ(waitpid(helper, &status, 0), helper);
  printf("status %d\n", WEXITSTATUS(status));
  EXPECT_EQ(status, 8 << 8);
  return guest_result();
}
