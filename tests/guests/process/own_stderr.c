// A program that makes descriptor 2 a file of its own finds there only what it has written itself.
#include <fcntl.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  char name[] = "/tmp/own-stderr-XXXXXX";
  int file = mkstemp(name);
  EXPECT(file >= 0);
  EXPECT_EQ(dup2(file, 2), 2);
  EXPECT_EQ(write(2, "mine\n", 5), 5);
  pid_t child = fork();  // detrec has something to say about it when it records
  if (child == 0) _exit(7);
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(lseek(file, 0, SEEK_END), 5);
  unlink(name);
  return guest_result();
}
