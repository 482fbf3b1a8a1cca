// setjmp and longjmp: out of deep calls, out of a libc callback, many times, with a signal mask, and back up
// again.
#include <setjmp.h>
#include <signal.h>

#include "guest.h"

static jmp_buf target;
static int comparisons;

static __attribute__((noinline)) void descend(int depth, int value) {
  volatile char frame[64];
  frame[0] = (char)depth;
  if (depth == 0) longjmp(target, value);
  descend(depth - 1, value);
  frame[1] = frame[0];
}

static int bail_out(const void* a, const void* b) {
  if (++comparisons == 20) longjmp(target, 99);
  return *(const int*)a - *(const int*)b;
}

int main(void) {
  volatile int count = 0;
  long sum = 0;
  int value = setjmp(target);
  if (value != 0) {
    sum += value;
    EXPECT_EQ(value, count);
  }
  if (count < 2000) {
    count++;
    descend(count % 60, count);
  }
  EXPECT_EQ(count, 2000);

  int numbers[64];
  for (int i = 0; i < 64; i++) numbers[i] = 64 - i;
  value = setjmp(target);
  if (value == 0) qsort(numbers, 64, sizeof numbers[0], bail_out);
  EXPECT_EQ(value, 99);

  value = setjmp(target);
  if (value == 0) longjmp(target, 0);
  EXPECT_EQ(value, 1);

  sigjmp_buf with_mask;
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (sigsetjmp(with_mask, 1) == 0) {
    sigprocmask(SIG_BLOCK, &set, NULL);
    siglongjmp(with_mask, 1);
  }
  sigprocmask(SIG_BLOCK, NULL, &old);
  EXPECT(!sigismember(&old, SIGUSR1));
  printf("%d jumps\n", count);
  return guest_result();
}
