// touches MIB: touches so much memory, computes, changes a tenth of it, computes.
#include <stdio.h>
#include <stdlib.h>

enum { kPage = 4096, kRounds = 30 * 1000 * 1000 };

static volatile unsigned long result = 1;
volatile int stage;

static void compute(void) {
  for (long i = 0; i < kRounds; ++i) result = result * 6364136223846793005ul + 1;
}

int main(int argc, char** argv) {
  const size_t bytes = (size_t)(argc > 1 ? atol(argv[1]) : 200) << 20;
  volatile char* memory = malloc(bytes);
  if (memory == NULL) return 1;
  for (size_t at = 0; at < bytes; at += kPage) memory[at] = (char)(at >> 12);
  stage = 1;
  compute();
  for (size_t at = 0; at < bytes; at += kPage * 10) memory[at] = 1;
  stage = 2;
  compute();
  printf("%lu\n", result);
  return 0;
}
