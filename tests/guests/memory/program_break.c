// brk and sbrk: growing, zeroes, shrinking, growing again gives zeroes again, refusals keep the break.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "guest.h"

static char bss_end_marker[16];

int main(void) {
  char* start = sbrk(0);
  EXPECT(start != (void*)-1);
  EXPECT(start > bss_end_marker);
  EXPECT(sbrk(100000) == start);
  for (int i = 0; i < 100000; i++) EXPECT_EQ(start[i], 0);
  memset(start, 5, 100000);
  EXPECT((char*)sbrk(0) == start + 100000);
  EXPECT_EQ(brk(start + 10000), 0);
  EXPECT_EQ(start[9999], 5);
  EXPECT_EQ(brk(start + 100000), 0);
  EXPECT_EQ(start[50000], 0);
  EXPECT_EQ(start[9999], 5);
  // A large step, and back.
  EXPECT_EQ(brk(start + (300 << 20)), 0);
  start[(300 << 20) - 1] = 1;
  EXPECT_EQ(brk(start + 100000), 0);
  // Below the start or absurdly high: the break stays where it is.
  EXPECT((char*)syscall(SYS_brk, 16) == start + 100000);
  EXPECT((char*)syscall(SYS_brk, 0) == start + 100000);
  EXPECT((char*)syscall(SYS_brk, 1ul << 60) == start + 100000);
  EXPECT_ERROR(brk((void*)(1ul << 60)), ENOMEM);
  // Another mapping in the way stops it.
  char* wall = (char*)(((uintptr_t)start + 100000 + (8 << 20)) & ~4095ul);
  REQUIRE(mmap(wall, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == wall);
  EXPECT_EQ(brk(wall - 4096), 0);
  EXPECT_ERROR(brk(wall + 8192), ENOMEM);
  EXPECT_EQ(wall[0], 0);
  REQUIRE(munmap(wall, 4096) == 0);
  EXPECT_EQ(brk(wall + 8192), 0);
  wall[4096] = 1;
  // RLIMIT_DATA counts.
  struct rlimit limit = {32 << 20, RLIM_INFINITY};
  REQUIRE(setrlimit(RLIMIT_DATA, &limit) == 0);
  EXPECT_ERROR(brk(start + (100 << 20)), ENOMEM);
  EXPECT_EQ(brk(start + (16 << 20)), 0);
  EXPECT_EQ(brk(start + 100000), 0);
  return guest_result();
}
