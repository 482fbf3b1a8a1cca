// poll, ppoll, select, pselect: conditions of pipes, sockets and files, closed descriptors, timeouts, large
// sets.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

#include "guest.h"

static void show(const char* what, int fd, short events) {
  struct pollfd entry = {fd, events, 0};
  int result = poll(&entry, 1, 0);
  printf("%s: %d %x\n", what, result, (unsigned)entry.revents);
}

int main(void) {
  int ends[2], pair[2];
  REQUIRE(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  int file = open("file", O_RDWR | O_CREAT, 0600);
  show("empty pipe", ends[0], POLLIN);
  show("pipe to write", ends[1], POLLOUT);
  REQUIRE(write(ends[1], "x", 1) == 1);
  show("full pipe", ends[0], POLLIN | POLLRDNORM);
  show("file", file, POLLIN | POLLOUT);
  show("closed", 77, POLLIN);
  show("negative", -5, POLLIN);
  show("socket", pair[0], POLLIN | POLLOUT);
  close(pair[1]);
  show("socket without peer", pair[0], POLLIN | POLLOUT | POLLRDHUP);
  close(ends[0]);
  show("pipe without reader", ends[1], POLLOUT);

  fd_set readable, writable;
  REQUIRE(pipe(ends) == 0);
  FD_ZERO(&readable);
  FD_ZERO(&writable);
  FD_SET(ends[0], &readable);
  FD_SET(ends[1], &writable);
  struct timeval limit = {1, 0};
  EXPECT_EQ(select(ends[1] + 1, &readable, &writable, NULL, &limit), 1);
  EXPECT(!FD_ISSET(ends[0], &readable) && FD_ISSET(ends[1], &writable));
  FD_ZERO(&readable);
  // Select looks no further than the descriptor table reaches, which has 64 entries at least.
  close(60);
  FD_SET(60, &readable);
  EXPECT_ERROR(select(61, &readable, NULL, NULL, &limit), EBADF);
  EXPECT_ERROR(select(-1, NULL, NULL, NULL, &limit), EINVAL);
  limit.tv_sec = 0;
  limit.tv_usec = 20000;
  EXPECT_EQ(select(0, NULL, NULL, NULL, &limit), 0);
  EXPECT_EQ(limit.tv_usec, 0);  // what is left is written back
  struct timespec zero = {0, 0}, brief = {0, 1000000};
  FD_ZERO(&readable);
  FD_SET(ends[0], &readable);
  EXPECT_EQ(pselect(ends[0] + 1, &readable, NULL, NULL, &brief, NULL), 0);
  struct pollfd entry = {ends[0], POLLIN, 0};
  EXPECT_EQ(ppoll(&entry, 1, &zero, NULL), 0);
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  EXPECT_EQ(poll(NULL, 0, 25), 0);
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT((after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000 >= 25000);

  static struct pollfd many[900];
  for (int i = 0; i < 900; i++) many[i] = (struct pollfd){i % 2 ? ends[1] : ends[0], POLLIN | POLLOUT, 0};
  EXPECT_EQ(poll(many, 900, 0), 450);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  EXPECT_ERROR(poll(many, files.rlim_cur + 1, 0), EINVAL);
  return guest_result();
}
