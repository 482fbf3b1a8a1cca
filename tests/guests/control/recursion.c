// Recursion: wide, deep, mutual, by pointer.
#include "guest.h"

static __attribute__((noinline)) long fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) long ackermann(long m, long n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

static __attribute__((noinline)) long deep(long n) {
  volatile long local = n;
  return n == 0 ? 0 : deep(n - 1) + local;
}

static int is_odd(int n);
static __attribute__((noinline)) int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
static __attribute__((noinline)) int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }

typedef long (*Function)(void* self, long n);
static long factorial(void* self, long n) { return n < 2 ? 1 : n * (*(Function*)self)(self, n - 1); }

int main(void) {
  Function function = factorial;
  printf("fibonacci %ld\n", fibonacci(25));
  printf("ackermann %ld\n", ackermann(2, 300));
  printf("deep %ld\n", deep(100000));
  printf("even %d odd %d\n", is_even(10001), is_odd(10001));
  printf("factorial %ld\n", factorial(&function, 20));
  EXPECT_EQ(fibonacci(20), 6765);
  return guest_result();
}
