// A tree of sixty-three processes, each adding up its children's sums by pipes.
#include <sys/wait.h>

#include "guest.h"

static long node(int depth, long id) {
  if (depth == 0) return id;
  long sum = id;
  int ends[2][2];
  pid_t children[2];
  for (int i = 0; i < 2; i++) {
    REQUIRE(pipe(ends[i]) == 0);
    children[i] = fork();
    REQUIRE(children[i] >= 0);
    if (children[i] == 0) {
      long result = node(depth - 1, id * 2 + i);
      _exit(write(ends[i][1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
  }
  for (int i = 0; i < 2; i++) {
    long result = 0;
    REQUIRE(read(ends[i][0], &result, sizeof result) == sizeof result);
    sum += result;
    int status;
    REQUIRE(waitpid(children[i], &status, 0) == children[i] && status == 0);
    close(ends[i][0]);
    close(ends[i][1]);
  }
  return sum;
}

int main(void) {
  fflush(stdout);
  long sum = node(5, 1);
  printf("%ld\n", sum);
  EXPECT_EQ(sum, 63 * 64 / 2);
  return guest_result();
}
