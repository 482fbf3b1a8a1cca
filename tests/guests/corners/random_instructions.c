// rdrand and rdseed: either cpuid denies them, or they give numbers that differ; every operand size.
#include <cpuid.h>

#include "guest.h"

int main(void) {
  unsigned a, b, c, d;
  __cpuid(1, a, b, c, d);
  if (c & bit_RDRND) {
    uint64_t values[16], all = 0;
    for (int i = 0; i < 16; i++) {
      unsigned char valid = 0;
      for (int k = 0; k < 100 && !valid; k++)
        __asm__ volatile("rdrand %0\n setc %1" : "=r"(values[i]), "=q"(valid) : : "cc");
      EXPECT(valid);
      all |= values[i];
      for (int k = 0; k < i; k++) EXPECT(values[i] != values[k]);
    }
    EXPECT(all >> 32 != 0);
    uint64_t narrow = ~0ul, half = ~0ul;
    __asm__ volatile("rdrand %k0\n rdrand %w1" : "+r"(narrow), "+r"(half) : : "cc");
    EXPECT(narrow >> 32 == 0);
    EXPECT(half >> 16 == 0xffffffffffff);
  }
  __cpuid_count(7, 0, a, b, c, d);
  if (b & (1u << 18)) {
    uint64_t value;
    unsigned char valid = 0;
    for (int k = 0; k < 100000 && !valid; k++)
      __asm__ volatile("rdseed %0\n setc %1" : "=r"(value), "=q"(valid) : : "cc");
    EXPECT(valid);
  }
  printf("asked\n");
  return guest_result();
}
