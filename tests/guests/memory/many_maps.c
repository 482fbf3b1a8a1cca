// Thousands of mappings: alternating protections, holes, merging again; the map file follows.
#include <sys/mman.h>

#include "guest.h"

enum { kPage = 4096, kCount = 4000 };

static int rows_between(const char* start, const char* end) {
  FILE* maps = fopen("/proc/self/maps", "r");
  REQUIRE(maps != NULL);
  char line[1024];
  int rows = 0;
  while (fgets(line, sizeof line, maps)) {
    uintptr_t from, to;
    if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from < (uintptr_t)end && to > (uintptr_t)start) rows++;
  }
  fclose(maps);
  return rows;
}

int main(void) {
  char* area = mmap(NULL, kCount * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(area != MAP_FAILED);
  for (int i = 0; i < kCount; i++) area[i * kPage] = (char)i;
  for (int i = 0; i < kCount; i += 2) EXPECT_EQ(mprotect(area + i * kPage, kPage, PROT_READ), 0);
  EXPECT_EQ(rows_between(area, area + (kCount - 1) * kPage), kCount - 1);
  for (int i = 0; i < kCount; i++) EXPECT_EQ(area[i * kPage], (char)i);
  for (int i = 1; i < kCount; i += 4) EXPECT_EQ(munmap(area + i * kPage, kPage), 0);
  for (int i = 0; i < kCount; i += 4) EXPECT_EQ(area[i * kPage], (char)i);
  EXPECT_EQ(rows_between(area, area + (kCount - 1) * kPage), kCount - 1 - kCount / 4);
  // One call that covers them all.
  EXPECT(mmap(area, kCount * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
         area);
  for (int i = 0; i < kCount; i++) EXPECT_EQ(area[i * kPage], 0);
  EXPECT_EQ(rows_between(area + kPage, area + (kCount - 1) * kPage), 1);
  EXPECT_EQ(munmap(area, kCount * kPage), 0);
  EXPECT_EQ(rows_between(area, area + kCount * kPage), 0);
  // Many small ones wherever they fit, given back in another order.
  static char* pieces[kCount];
  for (int i = 0; i < kCount; i++) {
    pieces[i] =
        mmap(NULL, (size_t)(i % 5 + 1) * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pieces[i] != MAP_FAILED);
    *pieces[i] = (char)i;
  }
  for (int i = 0; i < kCount; i++) {
    int k = (int)((unsigned)i * 2654435761u % kCount);
    if (pieces[k] == NULL) continue;
    EXPECT_EQ(*pieces[k], (char)k);
    EXPECT_EQ(munmap(pieces[k], (size_t)(k % 5 + 1) * kPage), 0);
    pieces[k] = NULL;
  }
  return guest_result();
}
