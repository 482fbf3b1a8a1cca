// mmap and munmap: contents, hints, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_32BIT, partial unmapping, and all
// refusals.
#include <fcntl.h>
#include <sys/mman.h>

#include "guest.h"

enum { kPage = 4096, kReadWrite = PROT_READ | PROT_WRITE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS };

static int mapped(const void* page) {
  unsigned char state;
  return mincore((void*)page, kPage, &state) == 0;
}

int main(void) {
  char* a = mmap(NULL, 10 * kPage, kReadWrite, kPrivate, -1, 0);
  REQUIRE(a != MAP_FAILED);
  EXPECT_EQ((uintptr_t)a % kPage, 0);
  for (int i = 0; i < 10 * kPage; i++) EXPECT_EQ(a[i], 0);
  memset(a, 7, 10 * kPage);

  // Pieces.
  EXPECT_EQ(munmap(a + 3 * kPage, 2 * kPage), 0);
  for (int i = 0; i < 10; i++) EXPECT_EQ(mapped(a + i * kPage), i != 3 && i != 4);
  EXPECT_EQ(a[2 * kPage + 4095], 7);
  EXPECT_EQ(a[5 * kPage], 7);
  EXPECT_EQ(munmap(a + 3 * kPage, 2 * kPage), 0);  // nothing there: fine
  EXPECT_EQ(munmap(a + 2 * kPage, 4 * kPage), 0);  // over a hole
  EXPECT_EQ(mapped(a + 2 * kPage) + mapped(a + 5 * kPage), 0);

  // A free hint is honoured, also when it is not aligned; a taken one is not, and harms nobody.
  EXPECT(mmap(a + 3 * kPage, kPage, kReadWrite, kPrivate, -1, 0) == a + 3 * kPage);
  EXPECT(mmap(a + 4 * kPage + 123, kPage, kReadWrite, kPrivate, -1, 0) == a + 4 * kPage);
  char* other = mmap(a, kPage, kReadWrite, kPrivate, -1, 0);
  EXPECT(other != MAP_FAILED && other != a);
  EXPECT_EQ(a[0], 7);
  char* far_hint = (char*)0x300000000000;
  EXPECT(mmap(far_hint, kPage, kReadWrite, kPrivate, -1, 0) == far_hint);
  char* low_hint = (char*)0x13370000;
  EXPECT(mmap(low_hint, kPage, kReadWrite, kPrivate, -1, 0) == low_hint);

  // Fixed replaces, NOREPLACE refuses.
  a[kPage] = 9;
  EXPECT(mmap(a + kPage, kPage, kReadWrite, kPrivate | MAP_FIXED, -1, 0) == a + kPage);
  EXPECT_EQ(a[kPage], 0);
  EXPECT_EQ(a[kPage - 1], 7);
  EXPECT_ERROR((long)mmap(a + kPage, kPage, kReadWrite, kPrivate | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
  EXPECT_ERROR((long)mmap(a + kPage, 5 * kPage, kReadWrite, kPrivate | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
  EXPECT(mmap(a + 2 * kPage, kPage, kReadWrite, kPrivate | MAP_FIXED_NOREPLACE, -1, 0) == a + 2 * kPage);

  for (int i = 0; i < 20; i++) {
    char* low = mmap(NULL, 16 * kPage, kReadWrite, kPrivate | MAP_32BIT, -1, 0);
    EXPECT(low != MAP_FAILED);
    EXPECT((uintptr_t)low + 16 * kPage <= 0x80000000u);
    low[100] = 1;
  }

  // Other flags.
  char* noreserve = mmap(NULL, 1l << 36, PROT_NONE, kPrivate | MAP_NORESERVE, -1, 0);
  EXPECT(noreserve != MAP_FAILED);
  EXPECT_EQ(mprotect(noreserve + (1l << 35), kPage, kReadWrite), 0);
  noreserve[1l << 35] = 1;
  EXPECT_EQ(munmap(noreserve, 1l << 36), 0);
  char* populated = mmap(NULL, 8 * kPage, kReadWrite, kPrivate | MAP_POPULATE | MAP_STACK, -1, 0);
  EXPECT(populated != MAP_FAILED);
  unsigned char states[8];
  EXPECT_EQ(mincore(populated, 8 * kPage, states), 0);
  for (int i = 0; i < 8; i++) EXPECT_EQ(states[i] & 1, 1);
  char* shared = mmap(NULL, kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT(shared != MAP_FAILED && shared[5] == 0);
  int zero = open("/dev/zero", O_RDWR);
  char* from_zero = mmap(NULL, kPage, kReadWrite, MAP_PRIVATE, zero, 0);
  EXPECT(from_zero != MAP_FAILED && from_zero[77] == 0);
  from_zero[77] = 1;

  // Refusals.
  EXPECT_ERROR((long)mmap(NULL, 0, kReadWrite, kPrivate, -1, 0), EINVAL);
  EXPECT_ERROR((long)mmap(a + 1, kPage, kReadWrite, kPrivate | MAP_FIXED, -1, 0), EINVAL);
  EXPECT_ERROR((long)mmap(NULL, kPage, kReadWrite, MAP_ANONYMOUS, -1, 0), EINVAL);
  EXPECT_ERROR((long)mmap(NULL, kPage, kReadWrite, MAP_PRIVATE, -1, 0), EBADF);
  EXPECT_ERROR((long)mmap(NULL, kPage, kReadWrite, MAP_PRIVATE, zero, 100), EINVAL);
  EXPECT_ERROR((long)mmap(NULL, 1l << 47, kReadWrite, kPrivate | MAP_NORESERVE, -1, 0), ENOMEM);
  EXPECT_ERROR((long)mmap(NULL, ~0ul, kReadWrite, kPrivate, -1, 0), ENOMEM);
  EXPECT_ERROR((long)mmap((void*)0x7fffffffe000, 2 * kPage, kReadWrite, kPrivate | MAP_FIXED, -1, 0), ENOMEM);
  EXPECT_ERROR((long)mmap((void*)(1ul << 50), kPage, kReadWrite, kPrivate | MAP_FIXED, -1, 0), ENOMEM);
  int directory = open("/", O_RDONLY);
  EXPECT_ERROR((long)mmap(NULL, kPage, PROT_READ, MAP_PRIVATE, directory, 0), ENODEV);
  EXPECT_ERROR(munmap(a + 1, kPage), EINVAL);
  EXPECT_ERROR(munmap(a, 0), EINVAL);
  EXPECT_ERROR(munmap((void*)(1ul << 50), kPage), EINVAL);
  EXPECT_EQ(a[0], 7);
  return guest_result();
}
