// Vectored input and output: order, empty parts, partial results where a buffer ends, offsets and flags,
// limits.
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "guest.h"

int main(void) {
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  REQUIRE(fd >= 0);
  char one[] = "one", two[] = "twotwo", none[] = "";
  struct iovec parts[4] = {{one, 3}, {none, 0}, {two, 6}, {one, 3}};
  EXPECT_EQ(writev(fd, parts, 4), 12);
  EXPECT_EQ(pwritev(fd, parts, 1, 100), 3);
  char a[5], b[5], c[100];
  struct iovec into[3] = {{a, 5}, {b, 5}, {c, 100}};
  EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
  EXPECT_EQ(readv(fd, into, 3), 103);
  printf("%.5s %.5s %.2s %d\n", a, b, c, c[50]);
  EXPECT_EQ(preadv(fd, into, 2, 3), 10);
  printf("%.5s\n", a);
  EXPECT_EQ(preadv2(fd, into, 1, -1, 0), 0);
  EXPECT_EQ(pwritev2(fd, parts, 1, -1, RWF_APPEND), 3);
  EXPECT_EQ(lseek(fd, 0, SEEK_END), 106);
  EXPECT_ERROR(preadv2(fd, into, 1, 0, 0x40000000), EOPNOTSUPP);
  EXPECT_EQ(readv(fd, into, 0), 0);
  EXPECT_ERROR(readv(fd, into, -1), EINVAL);
  EXPECT_ERROR(readv(fd, into, IOV_MAX + 1), EINVAL);
  struct iovec many[IOV_MAX];
  for (int i = 0; i < IOV_MAX; i++) many[i] = (struct iovec){one, 1};
  EXPECT_EQ(pwritev(fd, many, IOV_MAX, 0), IOV_MAX);
  into[0].iov_len = ~0ul;
  EXPECT_ERROR(readv(fd, into, 1), EINVAL);
  EXPECT_ERROR(readv(fd, (void*)16, 1), EFAULT);

  // A buffer that ends in unmapped memory: what fits is moved, or EFAULT when nothing does.
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
  memset(pages, 'p', 4096);
  EXPECT_EQ(pwrite(fd, pages + 4000, 200, 0), 96);
  EXPECT_EQ(pread(fd, pages + 4050, 500, 0), 46);
  EXPECT_ERROR(pread(fd, pages + 4096, 500, 0), EFAULT);
  struct iovec crossing[2] = {{one, 3}, {pages + 4096, 10}};
  EXPECT_EQ(pwritev(fd, crossing, 2, 0), 3);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  EXPECT_EQ(write(ends[1], "0123456789", 10), 10);
  EXPECT_EQ(read(ends[0], pages + 4086, 100), 10);
  printf("%.10s\n", pages + 4086);
  return guest_result();
}
