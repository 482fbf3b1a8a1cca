// A pipeline by hand: four processes, three pipes, descriptors moved by dup2, all data through, all statuses
// in.
#include <sys/wait.h>

#include "guest.h"

enum { kStages = 4, kBytes = 500000 };

int main(void) {
  int pipes[kStages][2];
  pid_t children[kStages];
  fflush(stdout);
  for (int i = 0; i < kStages; i++) REQUIRE(pipe(pipes[i]) == 0);
  for (int i = 0; i < kStages; i++) {
    children[i] = fork();
    REQUIRE(children[i] >= 0);
    if (children[i] == 0) {
      // Stage i reads from pipe i-1 (the first one makes the data) and writes to pipe i.
      if (i > 0) dup2(pipes[i - 1][0], 0);
      dup2(pipes[i][1], 1);
      for (int k = 0; k < kStages; k++) close(pipes[k][0]), close(pipes[k][1]);
      unsigned char buffer[3000];
      long total = 0;
      if (i == 0) {
        for (; total < kBytes; total += 1000) {
          memset(buffer, (int)(total / 1000), 1000);
          if (write(1, buffer, 1000) != 1000) _exit(1);
        }
        _exit(0);
      }
      ssize_t got;
      while ((got = read(0, buffer, sizeof buffer)) > 0) {
        for (ssize_t k = 0; k < got; k++) buffer[k]++;
        for (ssize_t done = 0; done < got;) {
          ssize_t written = write(1, buffer + done, (size_t)(got - done));
          if (written <= 0) _exit(2);
          done += written;
        }
        total += got;
      }
      _exit(total == kBytes ? i : 77);
    }
  }
  for (int i = 0; i < kStages; i++) {
    close(pipes[i][1]);
    if (i < kStages - 1) close(pipes[i][0]);
  }
  unsigned char buffer[7000];
  long total = 0, sum = 0;
  ssize_t got;
  while ((got = read(pipes[kStages - 1][0], buffer, sizeof buffer)) > 0) {
    for (ssize_t k = 0; k < got; k++) sum += buffer[k];
    total += got;
  }
  printf("%ld bytes, sum %ld\n", total, sum);
  EXPECT_EQ(total, kBytes);
  for (int i = 0; i < kStages; i++) {
    int status;
    EXPECT_EQ(waitpid(children[i], &status, 0), children[i]);
    EXPECT_EQ(status, i << 8);
  }
  return guest_result();
}
