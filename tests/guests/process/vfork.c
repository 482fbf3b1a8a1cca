// vfork: the child borrows the parent's memory until it exits or executes; the parent waits for that.
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <sys/wait.h>

#include "guest.h"

enum { GATE = 50 };  // a descriptor that the executed image waits at

int main(int argc, char** argv) {
  if (argc > 1) {
    char nothing;
    return read(GATE, &nothing, 1) == 0 ? 17 : 18;  // once the parent has closed its end
  }
  volatile int shared = 1;
  fflush(stdout);
  pid_t child = vfork();
  REQUIRE(child >= 0);
  if (child == 0) {
    shared = 5;
    _exit(3);
  }
  EXPECT_EQ(shared, 5);
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 3 << 8);
  for (volatile int i = 0; i < 20; i++) {
    int gate[2];
    REQUIRE(pipe2(gate, O_CLOEXEC) == 0 && dup2(gate[0], GATE) == GATE);
    child = vfork();
    if (child == 0) {
      shared = 6;
      execl("/proc/self/exe", argv[0], "again", (char*)NULL);
      _exit(99);
    }
    EXPECT_EQ(shared, 6);
    EXPECT_EQ(waitpid(child, &status, WNOHANG), 0);  // it runs now, and we too
    close(gate[0]);
    close(gate[1]);  // which it waits for
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 17 << 8);
  }
  child = vfork();
  if (child == 0) {
    execl("/no/such/program", "x", (char*)NULL);
    shared = errno;
    _exit(4);
  }
  EXPECT_EQ(shared, ENOENT);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 4 << 8);
  printf("done\n");
  return guest_result();
}
