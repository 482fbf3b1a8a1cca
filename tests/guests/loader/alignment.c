// Segments aligned to 2 MiB and data aligned to 64 KiB.
#include "guest.h"

static char aligned_data[100] __attribute__((aligned(65536))) = "aligned";
static char aligned_bss[100] __attribute__((aligned(65536)));

int main(void) {
  EXPECT_EQ((uintptr_t)aligned_data % 65536, 0);
  EXPECT_EQ((uintptr_t)aligned_bss % 65536, 0);
  printf("%s, %d\n", aligned_data, aligned_bss[99]);
  return guest_result();
}
