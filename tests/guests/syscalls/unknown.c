// System call numbers that do not exist give ENOSYS, wherever they lie; so do the ones that were never
// finished.
#include "guest.h"

int main(void) {
  static const long kNumbers[] = {156,        174,        177,   178,     180,        181,
                                  182,        183,        184,   185,     205,        211,
                                  214,        215,        236,   360,     386,        387,
                                  400,        423,        470,   480,     499,        511,
                                  512,        547,        548,   600,     1023,       1024,
                                  4096,       65535,      65536, 1 << 20, 0x3fffffff, 0x7fffffff,
                                  0x80000000, 0xffffffff, -1,    -2,      -1000,      0x100000000 + 999};
  for (size_t i = 0; i < sizeof kNumbers / sizeof kNumbers[0]; i++) {
    long result = raw_syscall(kNumbers[i], 1, 2, 3, 4, 5, 6);
    printf("%ld: %s\n", kNumbers[i], result == -ENOSYS ? "ENOSYS" : strerrorname_np((int)-result));
    EXPECT_EQ(result, -ENOSYS);
  }
  EXPECT(getpid() > 0);
  return guest_result();
}
