// mremap: growing in place, moving, shrinking, to a fixed place, leaving the old place, doubling a shared
// mapping.
#include <sys/mman.h>

#include "guest.h"

enum { kPage = 4096, kReadWrite = PROT_READ | PROT_WRITE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS };
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static int mapped(const void* page) {
  unsigned char state;
  return mincore((void*)page, kPage, &state) == 0;
}

static void number(char* area, int pages) {
  for (int i = 0; i < pages; i++) area[i * kPage + 5] = (char)(i + 1);
}
static void expect_numbers(const char* area, int pages) {
  for (int i = 0; i < pages; i++) EXPECT_EQ(area[i * kPage + 5], i + 1);
}

int main(void) {
  // A place with room behind it: eight pages reserved, then given back.
  char* room = mmap(NULL, 16 * kPage, PROT_NONE, kPrivate, -1, 0);
  REQUIRE(room != MAP_FAILED);
  REQUIRE(mmap(room, 2 * kPage, kReadWrite, kPrivate | MAP_FIXED, -1, 0) == room);
  number(room, 2);
  // Occupied behind: not in place.
  EXPECT_ERROR((long)mremap(room, 2 * kPage, 4 * kPage, 0), ENOMEM);
  expect_numbers(room, 2);
  // Free behind: in place.
  REQUIRE(munmap(room + 2 * kPage, 6 * kPage) == 0);
  EXPECT(mremap(room, 2 * kPage, 6 * kPage, 0) == room);
  expect_numbers(room, 2);
  EXPECT_EQ(room[5 * kPage], 0);
  number(room, 6);
  // Shrinking frees the tail.
  EXPECT(mremap(room, 6 * kPage, 3 * kPage, 0) == room);
  EXPECT_EQ(mapped(room + 2 * kPage), 1);
  EXPECT_EQ(mapped(room + 3 * kPage), 0);
  // Moving.
  REQUIRE(mmap(room + 3 * kPage, kPage, PROT_NONE, kPrivate | MAP_FIXED_NOREPLACE, -1, 0) ==
          room + 3 * kPage);
  char* moved = mremap(room, 3 * kPage, 40 * kPage, MREMAP_MAYMOVE);
  REQUIRE(moved != MAP_FAILED);
  EXPECT(moved != room);
  EXPECT_EQ(mapped(room), 0);
  expect_numbers(moved, 3);
  EXPECT_EQ(moved[39 * kPage], 0);
  // To a fixed place, over what is there.
  char* target = mmap(NULL, 40 * kPage, kReadWrite, kPrivate, -1, 0);
  target[7] = 77;
  EXPECT(mremap(moved, 40 * kPage, 10 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
  expect_numbers(target, 3);
  EXPECT_EQ(target[7], 0);
  EXPECT_EQ(mapped(moved), 0);
  EXPECT_EQ(target[20 * kPage], 0);
  // One page out of the middle of a mapping.
  char* one = mremap(target + kPage, kPage, 2 * kPage, MREMAP_MAYMOVE);
  REQUIRE(one != MAP_FAILED);
  EXPECT_EQ(one[5], 2);
  EXPECT_EQ(mapped(target + kPage), 0);
  EXPECT_EQ(target[2 * kPage + 5], 3);
  // The old place stays, empty.
  char* kept = mremap(one, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
  REQUIRE(kept != MAP_FAILED);
  EXPECT_EQ(kept[5], 2);
  EXPECT_EQ(one[5], 0);
  // Old size zero duplicates a shared mapping.
  char* shared = mmap(NULL, 2 * kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* twin = mremap(shared, 0, 2 * kPage, MREMAP_MAYMOVE);
  REQUIRE(twin != MAP_FAILED);
  shared[3] = 33;
  EXPECT_EQ(twin[3], 33);

  EXPECT_ERROR((long)mremap(kept + 1, kPage, kPage, 0), EINVAL);
  EXPECT_ERROR((long)mremap(kept, kPage, 0, 0), EINVAL);
  EXPECT_ERROR((long)mremap(kept, kPage, kPage, MREMAP_FIXED, target), EINVAL);
  EXPECT_ERROR((long)mremap(room, kPage, 2 * kPage, MREMAP_MAYMOVE), EFAULT);
  EXPECT_ERROR((long)mremap(kept, kPage, kPage, 64), EINVAL);

  // realloc of large blocks uses it.
  size_t size = 1 << 20;
  unsigned* block = malloc(size);
  REQUIRE(block != NULL);
  for (unsigned i = 0; i < size / 4; i++) block[i] = i;
  for (int i = 0; i < 7; i++) {
    block = realloc(block, size * 2);
    REQUIRE(block != NULL);
    for (unsigned k = (unsigned)(size / 4); k < size / 2; k++) block[k] = k;
    size *= 2;
  }
  for (unsigned i = 0; i < size / 4; i += 1000) EXPECT_EQ(block[i], i);
  free(block);
  printf("%zu\n", size);
  return guest_result();
}
