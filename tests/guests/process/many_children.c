// A hundred and fifty children alive at once, released together, their statuses gathered; half of them
// execute a program.
#include <sys/wait.h>

#include "guest.h"

enum { kChildren = 150 };

int main(int argc, char** argv) {
  if (argc > 1) _exit(atoi(argv[1]));
  int gate[2];
  REQUIRE(pipe(gate) == 0);
  fflush(stdout);
  pid_t children[kChildren];
  for (int i = 0; i < kChildren; i++) {
    children[i] = fork();
    REQUIRE(children[i] >= 0);
    if (children[i] == 0) {
      close(gate[1]);
      char byte;
      if (read(gate[0], &byte, 1) != 0) _exit(255);
      if (i % 2) _exit(i);
      char number[16];
      snprintf(number, sizeof number, "%d", i);
      execl("/proc/self/exe", argv[0], number, (char*)NULL);
      _exit(254);
    }
  }
  close(gate[1]);  // end of file for all
  int sum = 0;
  for (int i = 0; i < kChildren; i++) {
    int status;
    EXPECT_EQ(waitpid(children[i], &status, 0), children[i]);
    EXPECT_EQ(status, i << 8);
    sum += WEXITSTATUS(status);
  }
  printf("%d\n", sum);
  return guest_result();
}
