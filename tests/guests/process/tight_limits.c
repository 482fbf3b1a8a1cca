// Images executed under tight limits start and run: few descriptors, no file growth, no locked memory, no
// core, a small stack; and what exceeds a limit fails in the program's own terms.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "guest.h"

static void limit(__rlimit_resource_t which, rlim_t value) {
  struct rlimit both = {value, value};
  if (setrlimit(which, &both) != 0) _exit(90);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    switch (atoi(argv[1])) {
      case 0: {
        int fd = open("/dev/null", O_RDONLY);
        if (fd != 3 || open("/dev/null", O_RDONLY) != -1 || errno != EMFILE) _exit(1);
        break;
      }
      case 1: {
        signal(SIGXFSZ, SIG_IGN);
        int fd = open("growing", O_RDWR | O_CREAT, 0600);
        if (write(fd, "x", 1) != -1 || errno != EFBIG) _exit(2);
        break;
      }
      default:
        break;
    }
    void* block = malloc(1 << 20);
    if (block == NULL) _exit(3);
    memset(block, 1, 1 << 20);
    pid_t child = fork();
    if (child == 0) _exit(7);
    int status;
    if (waitpid(child, &status, 0) != child || status != 7 << 8) _exit(4);
    _exit(30);
  }
  static const char* const kNames[] = {"descriptors", "file size", "locked memory", "core", "stack"};
  for (int i = 0; i < 5; i++) {
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (i == 0) limit(RLIMIT_NOFILE, 4);
      if (i == 1) limit(RLIMIT_FSIZE, 0);
      if (i == 2) limit(RLIMIT_MEMLOCK, 0);
      if (i == 3) limit(RLIMIT_CORE, 0);
      if (i == 4) limit(RLIMIT_STACK, 256 << 10);
      char number[2] = {(char)('0' + i), 0};
      execl("/proc/self/exe", argv[0], number, (char*)NULL);
      _exit(91);
    }
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    printf("%s: %x\n", kNames[i], (unsigned)status);
    EXPECT_EQ(status, 30 << 8);
  }
  // Used-up processor time.
  pid_t child = fork();
  if (child == 0) {
    struct rlimit cpu = {1, 2};
    setrlimit(RLIMIT_CPU, &cpu);
    volatile unsigned work = 0;
    for (;;) work = work * 3 + 1;
  }
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
  return guest_result();
}
