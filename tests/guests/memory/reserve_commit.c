// How managed runtimes use memory: a huge reservation without access, parts of it committed by mprotect and
// by MAP_FIXED, given back by MADV_DONTNEED or a new reservation, aligned pieces cut out of larger ones.
#include <sys/mman.h>

#include "guest.h"

enum {
  kPage = 4096,
  kReadWrite = PROT_READ | PROT_WRITE,
  kReserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
};

int main(void) {
  size_t size = 256ul << 30;
  char* heap = mmap(NULL, size, PROT_NONE, kReserve, -1, 0);
  REQUIRE(heap != MAP_FAILED);
  for (int i = 0; i < 64; i++) {
    char* chunk = heap + (size >> 6) * (size_t)i;
    EXPECT_EQ(mprotect(chunk, 1 << 20, kReadWrite), 0);
    chunk[12345] = (char)i;
    EXPECT(mmap(chunk + (2 << 20), 1 << 20, kReadWrite, kReserve | MAP_FIXED, -1, 0) == chunk + (2 << 20));
    chunk[(2 << 20) + 7] = (char)(i + 1);
  }
  for (int i = 0; i < 64; i++) {
    char* chunk = heap + (size >> 6) * (size_t)i;
    EXPECT_EQ(chunk[12345], i);
    EXPECT_EQ(chunk[(2 << 20) + 7], i + 1);
    EXPECT_EQ(madvise(chunk, 1 << 20, MADV_DONTNEED), 0);
    EXPECT_EQ(chunk[12345], 0);
    EXPECT(mmap(chunk, 4 << 20, PROT_NONE, kReserve | MAP_FIXED, -1, 0) == chunk);
  }
  EXPECT_EQ(munmap(heap, size), 0);

  // 4 MiB aligned to 4 MiB: map double, cut off both ends.
  for (int i = 0; i < 30; i++) {
    size_t unit = 4 << 20;
    char* twice = mmap(NULL, 2 * unit, kReadWrite, kReserve, -1, 0);
    REQUIRE(twice != MAP_FAILED);
    char* aligned = (char*)(((uintptr_t)twice + unit - 1) & ~(unit - 1));
    if (aligned > twice) EXPECT_EQ(munmap(twice, (size_t)(aligned - twice)), 0);
    char* end = twice + 2 * unit;
    if (aligned + unit < end) EXPECT_EQ(munmap(aligned + unit, (size_t)(end - aligned) - unit), 0);
    aligned[0] = aligned[unit - 1] = 1;
  }
  return guest_result();
}
