// A program that may have eight descriptors, from the start.
// @limits: nofile=8:
// @recorded-differs: recording needs more descriptors than the limit leaves
// @not-replayed: there is no trace
#include <fcntl.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  int opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0) opened++;
  EXPECT_EQ(errno, EMFILE);
  printf("%d more\n", opened);
  EXPECT_EQ(opened, 5);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int i = 3; i < 8; i++) close(i);
    execl("/bin/sh", "sh", "-c", "exit 6", (char*)NULL);
    _exit(99);
  }
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 6 << 8);
  return guest_result();
}
