// Tail calls: ten million of them need no stack; direct, through pointers, between functions.
#include "guest.h"

static long even(long n, long count);
static __attribute__((noinline)) long odd(long n, long count) {
  return n == 0 ? count : even(n - 1, count + 1);
}
static __attribute__((noinline)) long even(long n, long count) {
  return n == 0 ? count : odd(n - 1, count + 2);
}

typedef long (*Step)(long n, long count);
static long first(long n, long count);
static long second(long n, long count);
static Step volatile steps[2] = {first, second};
static __attribute__((noinline)) long first(long n, long count) {
  return n == 0 ? count : steps[n & 1](n - 1, count + 3);
}
static __attribute__((noinline)) long second(long n, long count) {
  return n == 0 ? count : steps[n & 1](n - 1, count ^ 5);
}

int main(void) {
  printf("%ld\n", even(10000000, 0));
  printf("%ld\n", first(3000000, 0));
  EXPECT_EQ(odd(1, 0), 1);
  return guest_result();
}
