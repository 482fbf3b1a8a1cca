// Mapped files: shared and private views, what pwrite, write, truncation and other mappings show in them, and
// what they show in the file; offsets, unlinked and closed files, memfd, refusals.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "guest.h"

enum { kPage = 4096, kReadWrite = PROT_READ | PROT_WRITE };

static char* map(int fd, int pages, int protection, int flags, off_t offset) {
  char* area = mmap(NULL, (size_t)pages * kPage, protection, flags, fd, offset);
  REQUIRE(area != MAP_FAILED);
  return area;
}

int main(void) {
  int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
  REQUIRE(fd >= 0);
  static char content[4 * kPage];
  for (size_t i = 0; i < sizeof content; i++) content[i] = (char)('a' + i / kPage);
  REQUIRE(write(fd, content, sizeof content) == sizeof content);

  char* shared = map(fd, 4, kReadWrite, MAP_SHARED, 0);
  char* twin = map(fd, 4, PROT_READ, MAP_SHARED, 0);
  char* private = map(fd, 4, kReadWrite, MAP_PRIVATE, 0);
  char* untouched = map(fd, 4, PROT_READ, MAP_PRIVATE, 0);
  char* third = map(fd, 1, PROT_READ, MAP_SHARED, 2 * kPage);
  printf("%c%c%c%c %c\n", shared[0], shared[kPage], shared[2 * kPage], shared[3 * kPage], third[0]);

  // A write through one view is in the others, not in the private page that was touched before.
  private[0] = 'P';
  shared[0] = 'S';
  printf("store: shared %c, twin %c, private %c, untouched %c\n", shared[0], twin[0], private[0],
         untouched[0]);
  char byte;
  EXPECT_EQ(pread(fd, &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'S');
  EXPECT_EQ(pwrite(fd, "W", 1, 1), 1);
  EXPECT_EQ(pwrite(fd, "X", 1, kPage), 1);
  printf("pwrite: shared %c%c, twin %c%c, private %c%c, untouched %c%c\n", shared[1], shared[kPage], twin[1],
         twin[kPage], private[1], private[kPage], untouched[1], untouched[kPage]);
  struct iovec vector[2] = {{"12", 2}, {"34", 2}};
  EXPECT_EQ(pwritev(fd, vector, 2, 2 * kPage), 4);
  printf("pwritev: %.4s\n", third);
  int second = open("data", O_WRONLY);
  REQUIRE(second >= 0);
  EXPECT_EQ(lseek(second, 2 * kPage + 4, SEEK_SET), 2 * kPage + 4);
  EXPECT_EQ(write(second, "5678", 4), 4);
  printf("write through another descriptor: %.8s\n", third);
  // Copies inside the kernel.
  off_t from = 0, to = 3 * kPage;
  EXPECT_EQ(copy_file_range(fd, &from, second, &to, 2, 0), 2);
  printf("copy_file_range: %.2s\n", shared + 3 * kPage);
  EXPECT_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kPage, kPage), 0);
  EXPECT_EQ(shared[kPage], 0);

  // Truncation and growth.
  EXPECT_EQ(ftruncate(fd, 3 * kPage + 10), 0);
  EXPECT_EQ(shared[3 * kPage + 10], 0);
  EXPECT_EQ(shared[3 * kPage + 9], 'd');
  EXPECT_EQ(ftruncate(fd, 4 * kPage), 0);
  EXPECT_EQ(shared[3 * kPage + 100], 0);
  EXPECT_EQ(msync(shared, 4 * kPage, MS_SYNC), 0);
  EXPECT_EQ(msync(shared, 4 * kPage, MS_ASYNC), 0);
  EXPECT_ERROR(msync(shared + 1, kPage, MS_SYNC), EINVAL);

  // Closed and unlinked, the maps live on.
  close(fd);
  close(second);
  EXPECT_EQ(unlink("data"), 0);
  EXPECT_EQ(shared[0], 'S');
  shared[5] = 'Q';
  EXPECT_EQ(twin[5], 'Q');

  // Part of a page: the rest reads as zeroes and is not written back.
  fd = open("short", O_RDWR | O_CREAT, 0600);
  REQUIRE(write(fd, "0123456789", 10) == 10);
  char* brief = map(fd, 1, kReadWrite, MAP_SHARED, 0);
  EXPECT_EQ(brief[10], 0);
  brief[9] = '!';
  brief[10] = '?';
  struct stat status;
  EXPECT_EQ(fstat(fd, &status), 0);
  EXPECT_EQ(status.st_size, 10);
  char text[32];
  EXPECT_EQ(pread(fd, text, sizeof text, 0), 10);
  printf("%.10s\n", text);

  int memory = memfd_create("some memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(memory >= 0);
  EXPECT_EQ(ftruncate(memory, kPage), 0);
  char* one = map(memory, 1, kReadWrite, MAP_SHARED, 0);
  char* two = map(memory, 1, PROT_READ, MAP_SHARED, 0);
  strcpy(one, "memfd");
  EXPECT(strcmp(two, "memfd") == 0);
  munmap(one, kPage);
  EXPECT_ERROR(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), EBUSY);  // a mapping that could be made writable
  munmap(two, kPage);
  EXPECT_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_ERROR((long)mmap(NULL, kPage, kReadWrite, MAP_SHARED, memory, 0), EPERM);
  EXPECT_ERROR(write(memory, "x", 1), EPERM);
  EXPECT_EQ(fcntl(memory, F_GET_SEALS), F_SEAL_WRITE);

  int read_only = open("short", O_RDONLY);
  EXPECT_ERROR((long)mmap(NULL, kPage, kReadWrite, MAP_SHARED, read_only, 0), EACCES);
  char* copy = map(read_only, 1, kReadWrite, MAP_PRIVATE, 0);
  copy[0] = 'c';
  EXPECT_EQ(brief[0], '0');
  char* later = map(read_only, 1, PROT_READ, MAP_SHARED, 0);
  EXPECT_ERROR(mprotect(later, kPage, kReadWrite), EACCES);
  int write_only = open("short", O_WRONLY);
  EXPECT_ERROR((long)mmap(NULL, kPage, PROT_READ, MAP_PRIVATE, write_only, 0), EACCES);
  return guest_result();
}
