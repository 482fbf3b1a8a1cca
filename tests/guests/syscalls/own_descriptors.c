// /proc/self/fd and fdinfo list what the program opened and nothing else; no other number answers.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "guest.h"

static void list(const char* path) {
  DIR* folder = opendir(path);
  REQUIRE(folder != NULL);
  int seen[64] = {0}, others = 0;
  struct dirent* entry;
  while ((entry = readdir(folder))) {
    if (entry->d_name[0] == '.') continue;
    int fd = atoi(entry->d_name);
    if (fd < 64) {
      seen[fd]++;
    } else {
      others++;
    }
  }
  int own = dirfd(folder);
  printf("%s:", path);
  for (int i = 0; i < 64; i++) {
    if (seen[i]) printf(" %d%s", i, i == own ? "(the folder)" : "");
  }
  printf(", others %d\n", others);
  EXPECT_EQ(others, 0);
  closedir(folder);
}

int main(void) {
  int null = open("/dev/null", O_RDONLY);
  EXPECT_EQ(null, 3);
  EXPECT_EQ(dup2(null, 20), 20);
  list("/proc/self/fd");
  list("/proc/self/fdinfo");
  list("/proc/thread-self/fd");
  list("/dev/fd");
  char path[64], target[256];
  snprintf(path, sizeof path, "/proc/%d/fd", getpid());
  DIR* folder = opendir(path);
  int entries = 0;
  while (readdir(folder)) entries++;
  closedir(folder);
  EXPECT_EQ(entries, 2 + 3 + 2 + 1);
  int answering = 0;
  for (int fd = 0; fd < 70000; fd++) answering += fcntl(fd, F_GETFD) >= 0;
  EXPECT_EQ(answering, 5);
  for (int fd = 4; fd < 20000; fd += 5) {
    if (fd == 20) continue;
    struct stat status;
    EXPECT_ERROR(fstat(fd, &status), EBADF);
    EXPECT_ERROR(dup(fd), EBADF);
    EXPECT_ERROR(lseek(fd, 0, SEEK_CUR), EBADF);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    EXPECT_ERROR(readlink(path, target, sizeof target), ENOENT);
  }
  struct pollfd entry = {1023, POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 1);
  EXPECT_EQ(entry.revents, POLLNVAL);
  ssize_t length = readlink("/proc/self/fd/20", target, sizeof target);
  printf("%.*s\n", (int)length, target);
  int again = open("/proc/self/fd/20", O_RDONLY);
  EXPECT_EQ(again, 4);
  return guest_result();
}
