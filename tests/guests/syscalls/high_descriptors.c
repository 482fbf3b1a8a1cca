// Every number below the limit is ours: dup2 to the highest ones, to each of the last hundred, F_DUPFD,
// filling them all; the limit itself can be read and moved.
#include <fcntl.h>
#include <sys/resource.h>

#include "guest.h"

int main(void) {
  struct rlimit limit;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  printf("limit %llu of %llu\n", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
  int top = (int)limit.rlim_cur - 1;
  int fd = open("/dev/null", O_RDWR);
  EXPECT_EQ(fd, 3);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(dup2(fd, top - i), top - i);
    EXPECT_EQ(write(top - i, "x", 1), 1);
    EXPECT_EQ(fcntl(top - i, F_GETFD), 0);
  }
  EXPECT_ERROR(dup2(fd, top + 1), EBADF);
  EXPECT_ERROR(dup2(fd, 1 << 30), EBADF);
  EXPECT_ERROR(fcntl(fd, F_DUPFD, top + 1), EINVAL);
  EXPECT_EQ(dup3(fd, top, O_CLOEXEC), top);
  EXPECT_EQ(fcntl(top, F_GETFD), FD_CLOEXEC);
  for (int i = 0; i < 100; i++) EXPECT_EQ(close(top - i), 0);
  EXPECT_EQ(fcntl(fd, F_DUPFD, top - 10), top - 10);
  EXPECT_EQ(fcntl(fd, F_DUPFD, top - 10), top - 9);
  EXPECT_EQ(close(top - 10) + close(top - 9), 0);

  limit.rlim_cur = 256;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  int opened = 0;
  while (dup(fd) >= 0) opened++;
  EXPECT_EQ(errno, EMFILE);
  printf("%d more below 256\n", opened);
  EXPECT_EQ(opened, 252);
  EXPECT_ERROR(open("/dev/null", O_RDONLY), EMFILE);
  int ends[2];
  EXPECT_ERROR(pipe(ends), EMFILE);
  for (int i = 4; i < 256; i++) EXPECT_EQ(close(i), 0);
  EXPECT_EQ(pipe(ends), 0);
  EXPECT(ends[0] == 4 && ends[1] == 5);

  // To the hard limit (bounded, some machines have a million).
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  struct rlimit now;
  REQUIRE(getrlimit(RLIMIT_NOFILE, &now) == 0);
  EXPECT(now.rlim_cur == limit.rlim_max);
  if (now.rlim_cur < 2000000) {
    top = (int)now.rlim_cur - 1;
    EXPECT_EQ(dup2(fd, top), top);
    EXPECT_EQ(close(top), 0);
  }
  return guest_result();
}
