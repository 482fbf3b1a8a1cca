// A process that gives up its privileges goes on: it computes, forks, executes by descriptor, maps, and
// cannot go back.
// @needs: root
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>

#include "guest.h"

extern char** environ;

int main(int argc, char** argv) {
  if (argc > 1) {
    EXPECT_EQ(getuid(), 65534);
    EXPECT_EQ(geteuid(), 65534);
    printf("as another user\n");
    fflush(stdout);
    return guest_failures ? 1 : 9;
  }
  int self = open("/proc/self/exe", O_RDONLY);
  REQUIRE(self >= 0);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
      _exit(70);
    if (setuid(0) == 0) _exit(71);
    if (kill(1, 0) == 0 || errno != EPERM) _exit(72);
    pid_t inner = fork();
    if (inner == 0) {
      char* arguments[] = {argv[0], "inside", NULL};
      fexecve(self, arguments, environ);
      _exit(73);
    }
    int status;
    if (waitpid(inner, &status, 0) != inner) _exit(74);
    _exit(WEXITSTATUS(status));
  }
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 9 << 8);
  return guest_result();
}
