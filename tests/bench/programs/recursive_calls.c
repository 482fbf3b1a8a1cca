// Recursive calls: Fibonacci the slow way, and Ackermann's function for deep stacks.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned long fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static unsigned long ackermann(unsigned long m, unsigned long n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

int main(int argc, char** argv) {
  const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 30;
  printf("%lu\n", fibonacci(n));
  printf("%lu\n", ackermann(2, n * 20UL));
  return 0;
}
