// Nested functions whose address is taken run through trampolines on the (executable) stack.
#include "guest.h"

static __attribute__((noinline)) int apply(int (*function)(int), int x) { return function(x); }

static __attribute__((noinline)) int outer(int a, int depth) {
  int calls = 0;
  int inner(int x) {
    calls++;
    return x * a + calls;
  }
  int result = 0;
  for (int i = 0; i < 5; i++) result += apply(inner, i);
  if (depth > 0) result += outer(a + 1, depth - 1);
  return result + apply(inner, calls);
}

static int compare_with(int sign, int* numbers, size_t count) {
  int compare(const void* a, const void* b) { return sign * (*(const int*)a - *(const int*)b); }
  qsort(numbers, count, sizeof *numbers, compare);
  return numbers[0];
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 2000; i++) sum += outer(i % 17, i % 9);
  printf("%ld\n", sum);
  int numbers[] = {5, 2, 9, 1, 7, 3};
  EXPECT_EQ(compare_with(1, numbers, 6), 1);
  EXPECT_EQ(compare_with(-1, numbers, 6), 9);
  return guest_result();
}
