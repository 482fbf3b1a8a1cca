/* Nested loops with calls, for a long time: `busy N` runs 1000 N rounds. */
#include <stdio.h>
#include <stdlib.h>

volatile unsigned long result = 1;
volatile unsigned long last;
volatile unsigned long often;

__attribute__((noinline)) static unsigned long mix(unsigned long x) { return x * 6364136223846793005ul + 1442695040888963407ul; }

int main(int argc, char **argv) {
  unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
  last = 1;  // early write
  for (unsigned long i = 0; i < rounds; ++i) {
    for (int k = 0; k < 1000; ++k) {
      result = mix(result);
      if ((result & 1023) == 0) ++often;  // often
    }
    if (i == rounds / 10) last = result;  // late write
  }
  printf("%lu\n", result);  // end
  return 0;
}
