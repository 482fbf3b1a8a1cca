// Files opened with O_DIRECT, which read and write whole blocks only, are mapped like others: also unlinked
// ones, and ones whose size is no multiple of a block.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "guest.h"

enum { kPage = 4096, kPages = 20, kMore = 100 };

static void map_file(const char* name, int flags, off_t size, int unlinked) {
  int fd = open(name, O_CREAT | O_TRUNC | O_DIRECT | flags, 0600);
  if (fd < 0) {
    printf("%s: no O_DIRECT here: %d\n", name, errno);
    return;
  }
  void* blocks;
  REQUIRE(posix_memalign(&blocks, kPage, kPages * kPage) == 0);
  for (int i = 0; i < kPages; i++) memset((char*)blocks + i * kPage, 'a' + i, kPage);
  REQUIRE(write(fd, blocks, kPages * kPage) == kPages * kPage);
  REQUIRE(ftruncate(fd, size) == 0);
  int reader = open(name, O_RDONLY | O_DIRECT);
  REQUIRE(reader >= 0);
  if (unlinked) EXPECT_EQ(unlink(name), 0);
  char* shared =
      flags == O_RDWR ? mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
  char* private = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, reader, 0);
  REQUIRE(shared != MAP_FAILED && private != MAP_FAILED);
  long last = (long)size - 1;
  printf("%s: %c %c %d\n", name, private[0], private[last],
         last + 1 < kPages * kPage ? private[last + 1] : -1);
  if (shared) {
    shared[0] = 'S';
    printf("%s: %c %c %c\n", name, shared[0], private[0], shared[last]);
  }
  EXPECT_EQ(fcntl(fd, F_GETFL) & O_DIRECT, O_DIRECT);
  EXPECT_EQ(fcntl(reader, F_GETFL) & O_DIRECT, O_DIRECT);
  free(blocks);
}

int main(void) {
  map_file("whole", O_RDWR, kPages * kPage, 0);
  map_file("uneven", O_RDWR, (kPages - 1) * kPage + kMore, 0);
  map_file("unlinked", O_RDWR, (kPages - 1) * kPage + kMore, 1);
  map_file("written", O_WRONLY, kPages * kPage, 1);
  return 0;
}
