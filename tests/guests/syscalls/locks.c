// Locks on files between processes: POSIX (with owner, blocking, deadlock), open-file-description, flock.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "guest.h"

static int lock(int fd, int command, short type, off_t start, off_t length) {
  struct flock request = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(fd, command, &request);
}

static int to_child[2], to_parent[2];
static void tell(int fd) { REQUIRE(write(fd, "x", 1) == 1); }
static void hear(int fd) {
  char byte;
  REQUIRE(read(fd, &byte, 1) == 1);
}

int main(void) {
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  REQUIRE(fd >= 0 && pipe(to_child) == 0 && pipe(to_parent) == 0);
  EXPECT_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 10), 0);
  EXPECT_EQ(lock(fd, F_SETLK, F_RDLCK, 20, 10), 0);
  fflush(stdout);
  pid_t parent = getpid(), child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int own = open("file", O_RDWR);
    int bad = 0;
    bad += !(lock(own, F_SETLK, F_WRLCK, 5, 1) == -1 && (errno == EAGAIN || errno == EACCES));
    bad += lock(own, F_SETLK, F_RDLCK, 22, 2) != 0;
    bad += lock(own, F_SETLK, F_WRLCK, 10, 10) != 0;
    struct flock query = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 100};
    bad += !(fcntl(own, F_GETLK, &query) == 0 && query.l_type == F_WRLCK && query.l_pid == parent &&
             query.l_len == 10);
    tell(to_parent[1]);
    bad += lock(own, F_SETLKW, F_WRLCK, 0, 10) != 0;  // until the parent gives it up
    tell(to_parent[1]);
    hear(to_child[0]);
    _exit(bad);
  }
  hear(to_parent[0]);
  usleep(20000);
  EXPECT_EQ(lock(fd, F_SETLK, F_UNLCK, 0, 10), 0);
  hear(to_parent[0]);
  EXPECT_ERROR(lock(fd, F_SETLK, F_WRLCK, 0, 1), EAGAIN);
  tell(to_child[1]);
  int status;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 0), 0);  // the child's locks died with it

  // Two descriptions in one process exclude each other.
  int other = open("file", O_RDWR);
  EXPECT_EQ(lock(fd, F_SETLK, F_UNLCK, 0, 0), 0);
  EXPECT_EQ(lock(fd, F_OFD_SETLK, F_WRLCK, 0, 10), 0);
  EXPECT_ERROR(lock(other, F_OFD_SETLK, F_WRLCK, 0, 10), EAGAIN);
  EXPECT_EQ(lock(fd, F_OFD_SETLK, F_UNLCK, 0, 10), 0);
  EXPECT_EQ(flock(fd, LOCK_EX), 0);
  EXPECT_ERROR(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
  EXPECT_EQ(flock(fd, LOCK_UN), 0);
  EXPECT_EQ(flock(other, LOCK_SH | LOCK_NB), 0);

  // Deadlock.
  EXPECT_EQ(flock(other, LOCK_UN), 0);
  EXPECT_EQ(lock(fd, F_SETLK, F_WRLCK, 0, 1), 0);
  child = fork();
  if (child == 0) {
    int bad = lock(fd, F_SETLK, F_WRLCK, 1, 1) != 0;
    tell(to_parent[1]);
    bad += lock(fd, F_SETLKW, F_WRLCK, 0, 1) != 0;
    _exit(bad);
  }
  hear(to_parent[0]);
  usleep(100000);
  int result = lock(fd, F_SETLKW, F_WRLCK, 1, 1);
  EXPECT(result == -1 && errno == EDEADLK);
  EXPECT_EQ(lock(fd, F_SETLK, F_UNLCK, 0, 1), 0);
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT_EQ(status, 0);
  return guest_result();
}
