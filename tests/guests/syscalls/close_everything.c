// A program that closes every descriptor it may have, as daemons do, goes on: opens, forks and executes
// afterwards.
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void child_works(const char* how, char** argv) {
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char* arguments[] = {argv[0], (char*)how, NULL};
    execv("/proc/self/exe", arguments);
    _exit(99);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT_EQ(status, 7 << 8);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    printf("executed after %s\n", argv[1]);
    fflush(stdout);
    return 7;
  }
  EXPECT_EQ(syscall(SYS_close_range, 3, ~0u, 0), 0);
  child_works("close_range", argv);
  EXPECT_EQ(syscall(SYS_close_range, 3, ~0u, 4 /* CLOEXEC */), 0);
  child_works("close_range with cloexec", argv);
  int closed = 0;
  for (int fd = 3; fd < 70000; fd++) closed += close(fd) == 0;
  EXPECT_EQ(closed, 0);
  child_works("a loop of close", argv);
  for (int fd = 0x7fffff00; fd > 0 && fd <= 0x7fffffff - 1; fd++) EXPECT_ERROR(close(fd), EBADF);
  EXPECT_ERROR(close(-1), EBADF);
  closefrom(3);
  int fd = open("/dev/null", O_RDONLY);
  EXPECT_EQ(fd, 3);
  EXPECT_EQ(dup(fd), 4);
  EXPECT_ERROR(syscall(SYS_close_range, 5, 4, 0), EINVAL);
  child_works("closefrom", argv);
  EXPECT_EQ(syscall(SYS_close_range, 0, 0, 0), 0);  // standard input
  EXPECT_EQ(open("/dev/null", O_RDONLY), 0);
  return guest_result();
}
