// getrandom and /dev/urandom: lengths, flags, that bytes differ, refusals.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "guest.h"

int main(void) {
  static unsigned char a[1 << 20], b[1 << 20];
  EXPECT_EQ(getrandom(a, 32, 0), 32);
  EXPECT_EQ(getrandom(b, 32, 0), 32);
  EXPECT(memcmp(a, b, 32) != 0);
  EXPECT_EQ(getrandom(a, 256, GRND_NONBLOCK), 256);
  EXPECT_EQ(getrandom(a, 64, GRND_RANDOM), 64);
  EXPECT_EQ(getentropy(b, 256), 0);
  ssize_t got = getrandom(a, sizeof a, 0);
  EXPECT_EQ(got, sizeof a);
  long ones = 0;
  for (ssize_t i = 0; i < got; i++) ones += __builtin_popcount(a[i]);
  EXPECT(ones > got * 4 - 20000 && ones < got * 4 + 20000);
  int fd = open("/dev/urandom", O_RDONLY);
  REQUIRE(fd >= 0);
  EXPECT_EQ(read(fd, b, 1000), 1000);
  EXPECT(memcmp(a, b, 1000) != 0);
  EXPECT_EQ(getrandom(a, 0, 0), 0);
  EXPECT_ERROR(getrandom(a, 10, 0xff), EINVAL);
  EXPECT_ERROR(syscall(SYS_getrandom, (void*)16, 10, 0), EFAULT);
  return guest_result();
}
