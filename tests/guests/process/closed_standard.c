// A program started without standard descriptors: the new image finds 0, 1 and 2 free, and what it opens gets
// them.
#include <fcntl.h>
#include <sys/wait.h>

#include "guest.h"

int main(int argc, char** argv) {
  if (argc > 1) {
    for (int i = 0; i < 3; i++) {
      if (fcntl(i, F_GETFD) != -1 || errno != EBADF) _exit(10 + i);
    }
    for (int i = 0; i < 3; i++) {
      if (open("/dev/null", O_RDWR) != i) _exit(20 + i);
    }
    _exit(5);
  }
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(0), close(1), close(2);
    execl("/proc/self/exe", argv[0], "inside", (char*)NULL);
    _exit(99);
  }
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 5 << 8);
  return guest_result();
}
