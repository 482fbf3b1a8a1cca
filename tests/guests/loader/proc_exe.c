// /proc/self/exe is this program, however it is asked for.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "guest.h"

static void expect_path(const char* what, ssize_t length, const char* buffer, const char* real) {
  if (length != (ssize_t)strlen(real) || memcmp(buffer, real, (size_t)length) != 0) {
    guest_failures++;
    printf("FAILED %s: '%.*s', expected '%s'\n", what, (int)(length > 0 ? length : 0), buffer, real);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  char real[4096], buffer[4096], name[64];
  REQUIRE(realpath(argv[0], real) != NULL);

  expect_path("self", readlink("/proc/self/exe", buffer, sizeof buffer), buffer, real);
  expect_path("thread-self", readlink("/proc/thread-self/exe", buffer, sizeof buffer), buffer, real);
  snprintf(name, sizeof name, "/proc/%d/exe", getpid());
  expect_path("pid", readlink(name, buffer, sizeof buffer), buffer, real);
  snprintf(name, sizeof name, "/proc/%d/task/%d/exe", getpid(), gettid());
  expect_path("task", readlink(name, buffer, sizeof buffer), buffer, real);
  long length = syscall(SYS_readlink, "/proc/self/exe", buffer, sizeof buffer);
  expect_path("raw", length, buffer, real);
  length = readlinkat(AT_FDCWD, "/proc/self/exe", buffer, sizeof buffer);
  expect_path("readlinkat", length, buffer, real);
  int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);
  REQUIRE(folder >= 0);
  expect_path("relative", readlinkat(folder, "exe", buffer, sizeof buffer), buffer, real);
  EXPECT_EQ(readlink("/proc/self/exe", buffer, 5), 5);
  EXPECT(memcmp(buffer, real, 5) == 0);
  EXPECT_ERROR(readlink("/proc/self/exe", buffer, 0), EINVAL);
  REQUIRE(realpath("/proc/self/exe", buffer) != NULL);
  EXPECT(strcmp(buffer, real) == 0);

  struct stat by_name, by_link;
  REQUIRE(stat(real, &by_name) == 0);
  REQUIRE(stat("/proc/self/exe", &by_link) == 0);
  EXPECT(by_name.st_ino == by_link.st_ino && by_name.st_dev == by_link.st_dev);
  int fd = open("/proc/self/exe", O_RDONLY);
  REQUIRE(fd >= 0);
  REQUIRE(fstat(fd, &by_link) == 0);
  EXPECT(by_name.st_ino == by_link.st_ino);
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  expect_path("fd", readlink(name, buffer, sizeof buffer), buffer, real);
  EXPECT_EQ(access("/proc/self/exe", X_OK), 0);
  return guest_result();
}
