// Tight loops: one block that jumps to itself, one with a branch inside.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const uint64_t rounds = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) * 1000000ULL;
  uint64_t state = 88172645463325252ULL;
  for (uint64_t i = 0; i < rounds; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  uint64_t odd = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    if (state >> 62 == 3) {
      odd += state >> 33;
      __asm__ volatile("" : "+r"(odd));  // keeps the branch a branch
    }
  }
  printf("%llu %llu\n", (unsigned long long)state, (unsigned long long)odd);
  return 0;
}
