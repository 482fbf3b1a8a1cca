// Addresses that other runtimes own must be free for them: small fixed mappings where AddressSanitizer, Go,
// Wine and others put theirs, and at both ends of the address space.
#include <sys/mman.h>

#include "guest.h"

static void claim(const char* who, uintptr_t address, size_t size) {
  void* want = (void*)address;
  char* got = mmap(want, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  printf("%s: %s\n", who, got == want ? "free" : strerrorname_np(errno));
  EXPECT(got == want);
  if (got != want) return;
  got[0] = 1;
  got[size - 1] = 2;
  EXPECT_EQ(got[0] + got[size - 1], 3);
  EXPECT_EQ(munmap(got, size), 0);
}

int main(void) {
  claim("lowest page", 0x10000, 4096);
  claim("just above", 0x20000, 16 << 20);
  claim("Wine", 0x7ffe0000, 0x10000);
  claim("AddressSanitizer's low shadow", 0x7fff8000, 0x10007000);
  claim("AddressSanitizer's high shadow", 0x02008fff7000, 1 << 30);
  claim("Go", 0xc000000000, 64 << 20);
  claim("Go, further", 0xc004000000, 64 << 20);
  claim("four gigabytes", 0x100000000, 1 << 30);
  claim("the middle", 0x400000000000, 1l << 32);
  return guest_result();
}
