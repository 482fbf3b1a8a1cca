// Single calls that move tens of megabytes: files, pipes to a child, /dev/zero; contents are checked.
#include <fcntl.h>
#include <sys/wait.h>

#include "guest.h"

enum { kSize = 48 << 20 };

static uint64_t checksum(const unsigned char* data, size_t size) {
  uint64_t sum = 0;
  for (size_t i = 0; i < size; i += 8) sum = sum * 31 + *(const uint64_t*)(data + i);
  return sum;
}

int main(void) {
  unsigned char* data = malloc(kSize);
  unsigned char* back = malloc(kSize);
  REQUIRE(data != NULL && back != NULL);
  uint64_t x = 1;
  for (size_t i = 0; i < kSize; i += 8) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    memcpy(data + i, &x, 8);
  }
  uint64_t sum = checksum(data, kSize);
  int fd = open("large", O_RDWR | O_CREAT, 0600);
  REQUIRE(fd >= 0);
  EXPECT_EQ(write(fd, data, kSize), kSize);
  EXPECT_EQ(pread(fd, back, kSize, 0), kSize);
  EXPECT_EQ(checksum(back, kSize), sum);
  EXPECT_EQ(lseek(fd, 100, SEEK_SET), 100);
  EXPECT_EQ(read(fd, back, kSize), kSize - 100);
  int zero = open("/dev/zero", O_RDONLY);
  EXPECT_EQ(read(zero, back, kSize), kSize);
  EXPECT_EQ(checksum(back, kSize), 0);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    _exit(write(ends[1], data, kSize) == kSize ? 0 : 1);
  }
  close(ends[1]);
  size_t total = 0;
  ssize_t got;
  while ((got = read(ends[0], back + total, kSize - total)) > 0) total += (size_t)got;
  EXPECT_EQ(total, kSize);
  EXPECT_EQ(checksum(back, kSize), sum);
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  unlink("large");
  printf("%lx\n", sum);
  return guest_result();
}
