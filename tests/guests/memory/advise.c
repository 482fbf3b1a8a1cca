// madvise: DONTNEED (anonymous and file), FREE, DONTFORK, WIPEONFORK, REMOVE, hints, refusals; mincore;
// mlock.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "guest.h"

enum { kPage = 4096, kReadWrite = PROT_READ | PROT_WRITE, kPrivate = MAP_PRIVATE | MAP_ANONYMOUS };

int main(void) {
  char* area = mmap(NULL, 8 * kPage, kReadWrite, kPrivate, -1, 0);
  REQUIRE(area != MAP_FAILED);
  memset(area, 1, 8 * kPage);
  EXPECT_EQ(madvise(area + kPage, 2 * kPage, MADV_DONTNEED), 0);
  EXPECT_EQ(area[0], 1);
  EXPECT_EQ(area[kPage], 0);
  EXPECT_EQ(area[3 * kPage - 1], 0);
  EXPECT_EQ(area[3 * kPage], 1);

  int fd = open("file", O_RDWR | O_CREAT, 0600);
  char text[kPage];
  memset(text, 'f', sizeof text);
  REQUIRE(write(fd, text, sizeof text) == kPage);
  char* file = mmap(NULL, kPage, kReadWrite, MAP_PRIVATE, fd, 0);
  REQUIRE(file != MAP_FAILED);
  file[10] = 'x';
  EXPECT_EQ(madvise(file, kPage, MADV_DONTNEED), 0);
  EXPECT_EQ(file[10], 'f');

  EXPECT_EQ(madvise(area + 4 * kPage, kPage, MADV_FREE), 0);
  char freed = area[4 * kPage];
  EXPECT(freed == 0 || freed == 1);  // either the old content or zeroes
  area[4 * kPage] = 9;
  EXPECT_EQ(area[4 * kPage], 9);

  char* wiped = mmap(NULL, kPage, kReadWrite, kPrivate, -1, 0);
  char* absent = mmap(NULL, kPage, kReadWrite, kPrivate, -1, 0);
  REQUIRE(wiped != MAP_FAILED && absent != MAP_FAILED);
  wiped[0] = 'w';
  absent[0] = 'a';
  EXPECT_EQ(madvise(wiped, kPage, MADV_WIPEONFORK), 0);
  EXPECT_EQ(madvise(absent, kPage, MADV_DONTFORK), 0);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    unsigned char state;
    int good = wiped[0] == 0 && mincore(absent, kPage, &state) == -1 && errno == ENOMEM;
    _exit(good ? 0 : 1);
  }
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(wiped[0] == 'w' && absent[0] == 'a');

  char* shared = mmap(NULL, 2 * kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  shared[0] = shared[kPage] = 's';
  EXPECT_EQ(madvise(shared, kPage, MADV_REMOVE), 0);
  EXPECT_EQ(shared[0], 0);
  EXPECT_EQ(shared[kPage], 's');
  EXPECT_EQ(madvise(shared, 2 * kPage, MADV_DONTNEED), 0);
  EXPECT_EQ(shared[kPage], 's');

  static const int kHints[] = {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTDUMP,
                               MADV_DODUMP, MADV_DOFORK, MADV_KEEPONFORK, MADV_COLD,     MADV_PAGEOUT};
  for (size_t i = 0; i < sizeof kHints / sizeof kHints[0]; i++) EXPECT_EQ(madvise(area, kPage, kHints[i]), 0);
  EXPECT_EQ(area[0], 1);
  EXPECT_ERROR(madvise(area, kPage, 9999), EINVAL);
  EXPECT_ERROR(madvise(area + 1, kPage, MADV_NORMAL), EINVAL);
  EXPECT_EQ(madvise(area, 0, MADV_DONTNEED), 0);
  REQUIRE(munmap(area + 7 * kPage, kPage) == 0);
  EXPECT_ERROR(madvise(area + 7 * kPage, kPage, MADV_DONTNEED), ENOMEM);

  unsigned char states[8];
  EXPECT_EQ(mincore(area, 2 * kPage, states), 0);
  EXPECT_ERROR(mincore(area, 8 * kPage, states), ENOMEM);
  EXPECT_ERROR(mincore(area + 1, kPage, states), EINVAL);
  EXPECT_ERROR(mincore(area, kPage, (void*)16), EFAULT);
  EXPECT_EQ(mlock(area, 2 * kPage), 0);
  EXPECT_EQ(munlock(area, 2 * kPage), 0);
  EXPECT_ERROR(mlock(area + 7 * kPage, kPage), ENOMEM);
  EXPECT_EQ(munlockall(), 0);
  return guest_result();
}
