// A large bss: all zero, all writable, and zero also behind the data in the last page of the data segment.
#include "guest.h"

enum { kSize = 256 << 20, kStep = 1 << 20 };
static char area[kSize];
static char initialised[100] = "data";

extern char edata[], end[];

int main(void) {
  EXPECT_EQ(initialised[4], 0);
  for (char* p = edata; ((uintptr_t)p & 4095) != 0 && p < end; p++) {
    if (p >= (char*)&guest_failures && p < (char*)(&guest_failures + 1)) continue;
    if (p >= area) EXPECT_EQ(*p, 0);
  }
  for (size_t i = 0; i < kSize; i += kStep) {
    EXPECT_EQ(area[i], 0);
    area[i] = (char)(i / kStep + 1);
  }
  area[kSize - 1] = 77;
  unsigned sum = 0;
  for (size_t i = 0; i < kSize; i += kStep) sum += (unsigned char)area[i];
  printf("sum %u, last %d\n", sum, area[kSize - 1]);
  return guest_result();
}
