// ioctl and fcntl: terminals asked of files, byte counts, flags, leases refused, unknown requests.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "guest.h"

int main(void) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  int file = open("file", O_RDWR | O_CREAT, 0600);
  struct winsize size;
  struct termios terminal;
  EXPECT_ERROR(ioctl(file, TIOCGWINSZ, &size), ENOTTY);
  EXPECT_ERROR(tcgetattr(file, &terminal), ENOTTY);
  EXPECT_EQ(isatty(file), 0);
  EXPECT_ERROR(ioctl(file, 0x12345678, &size), ENOTTY);
  EXPECT_ERROR(ioctl(file, 0xdeadbeef, 16), ENOTTY);
  EXPECT_ERROR(ioctl(999, FIONREAD, &size), EBADF);
  int value = 1;
  EXPECT_EQ(ioctl(ends[0], FIONBIO, &value), 0);
  EXPECT(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
  value = 0;
  EXPECT_EQ(ioctl(ends[0], FIONBIO, &value), 0);
  EXPECT(!(fcntl(ends[0], F_GETFL) & O_NONBLOCK));
  EXPECT_EQ(ioctl(ends[0], FIOCLEX), 0);
  EXPECT_EQ(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(ioctl(ends[0], FIONCLEX), 0);
  REQUIRE(write(file, "12345", 5) == 5);
  EXPECT_EQ(lseek(file, 2, SEEK_SET), 2);
  EXPECT_EQ(ioctl(file, FIONREAD, &value), 0);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(fcntl(file, F_GETFL) & O_ACCMODE, O_RDWR);
  EXPECT_EQ(fcntl(file, F_SETFL, O_APPEND), 0);
  EXPECT(fcntl(file, F_GETFL) & O_APPEND);
  EXPECT_ERROR(fcntl(file, 7777), EINVAL);
  EXPECT_ERROR(fcntl(999, F_GETFD), EBADF);
  EXPECT_ERROR(fcntl(file, F_GETLK, 16), EFAULT);
  printf("asked\n");
  return guest_result();
}
