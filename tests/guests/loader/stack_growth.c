// The first thread's stack grows on touch to nearly 8 MiB, also by one big frame that skips many pages.
#include <sys/resource.h>

#include "guest.h"

static __attribute__((noinline)) int one_frame(void) {
  volatile char frame[6 << 20];
  for (size_t i = 0; i < sizeof frame; i += 4096) frame[i] = (char)(i >> 12);
  int sum = 0;
  for (size_t i = 0; i < sizeof frame; i += 4096) sum += frame[i];
  return sum;
}

static __attribute__((noinline)) int descend(int depth) {
  volatile char frame[1000];
  frame[500] = 1;
  return depth == 0 ? 0 : descend(depth - 1) + frame[500];
}

int main(void) {
  struct rlimit stack;
  REQUIRE(getrlimit(RLIMIT_STACK, &stack) == 0);
  REQUIRE(stack.rlim_cur >= 8 << 20);
  printf("%d\n", descend(5000));
  printf("%d\n", one_frame());
  return guest_result();
}
