// Pipes and FIFOs: capacity, partial and atomic writes, non-blocking ends, packets, splice, tee, vmsplice,
// end of file, opening a FIFO from two sides.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "guest.h"

int main(void) {
  int a[2], b[2];
  static char buffer[1 << 20];
  REQUIRE(pipe2(a, O_NONBLOCK | O_CLOEXEC) == 0 && pipe(b) == 0);
  EXPECT(fcntl(a[0], F_GETFL) & O_NONBLOCK);
  EXPECT_EQ(fcntl(a[0], F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(b[0], F_GETFD), 0);
  EXPECT_ERROR(read(a[0], buffer, 1), EAGAIN);
  printf("capacity %d\n", fcntl(a[1], F_GETPIPE_SZ));
  EXPECT_EQ(fcntl(a[1], F_SETPIPE_SZ, 8192), 8192);
  EXPECT_EQ(write(a[1], buffer, 100000), 8192);
  EXPECT_ERROR(write(a[1], buffer, 1), EAGAIN);
  int pending = 0;
  EXPECT_EQ(ioctl(a[0], FIONREAD, &pending), 0);
  EXPECT_EQ(pending, 8192);
  EXPECT_EQ(read(a[0], buffer, 1000000), 8192);
  struct pollfd entries[2] = {{a[0], POLLIN, 0}, {a[1], POLLOUT, 0}};
  EXPECT_EQ(poll(entries, 2, 0), 1);
  EXPECT_EQ(entries[1].revents, POLLOUT);

  // Moving without copying.
  int file = open("file", O_RDWR | O_CREAT, 0600);
  REQUIRE(write(file, "0123456789", 10) == 10);
  off_t offset = 2;
  EXPECT_EQ(splice(file, &offset, a[1], NULL, 5, 0), 5);
  EXPECT_EQ(offset, 7);
  EXPECT_EQ(tee(a[0], b[1], 4, 0), 4);
  EXPECT_EQ(read(a[0], buffer, 100), 5);
  printf("%.5s ", buffer);
  EXPECT_EQ(read(b[0], buffer, 100), 4);
  printf("%.4s ", buffer);
  struct iovec vector = {"spliced", 7};
  EXPECT_EQ(vmsplice(b[1], &vector, 1, 0), 7);
  EXPECT_EQ(splice(b[0], NULL, file, NULL, 7, 0), 7);
  EXPECT_EQ(pread(file, buffer, 100, 0), 17);
  printf("%.17s\n", buffer);

  // Packets.
  int packets[2];
  REQUIRE(pipe2(packets, O_DIRECT) == 0);
  EXPECT_EQ(write(packets[1], "one", 3), 3);
  EXPECT_EQ(write(packets[1], "three", 5), 5);
  EXPECT_EQ(read(packets[0], buffer, 100), 3);
  EXPECT_EQ(read(packets[0], buffer, 2), 2);

  // A child on the other side: much data through a small pipe, end of file when it is gone.
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(b[0]);
    memset(buffer, 'x', sizeof buffer);
    _exit(write(b[1], buffer, sizeof buffer) == sizeof buffer ? 0 : 1);
  }
  close(b[1]);
  size_t total = 0;
  ssize_t got;
  while ((got = read(b[0], buffer, 30000)) > 0) total += (size_t)got;
  EXPECT_EQ(got, 0);
  EXPECT_EQ(total, sizeof buffer);
  int status;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  struct pollfd hang_up = {b[0], POLLIN, 0};
  EXPECT_EQ(poll(&hang_up, 1, 0), 1);
  EXPECT_EQ(hang_up.revents, POLLHUP);

  // A FIFO: each open waits for the other.
  REQUIRE(mkfifo("fifo", 0600) == 0);
  EXPECT_ERROR(open("fifo", O_WRONLY | O_NONBLOCK), ENXIO);
  child = fork();
  if (child == 0) {
    int out = open("fifo", O_WRONLY);
    _exit(write(out, "through the fifo", 16) == 16 ? 0 : 1);
  }
  int in = open("fifo", O_RDONLY);
  REQUIRE(in >= 0);
  EXPECT_EQ(read(in, buffer, 100), 16);
  printf("%.16s\n", buffer);
  EXPECT_EQ(read(in, buffer, 100), 0);
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  return guest_result();
}
