// fork: both return values, identities, copied memory, shared file offsets, buffered output, two hundred
// children, children of children, exit statuses.
// @recorded-part: child processes are not recorded
#include <fcntl.h>
#include <sys/wait.h>

#include "guest.h"

static int data = 1;

static int status_of(pid_t child) {
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

int main(void) {
  int* heap = malloc(sizeof *heap);
  *heap = 2;
  int local = 3;
  pid_t parent = getpid();
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  fflush(stdout);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int bad = getpid() == parent || getppid() != parent || getpid() != gettid() || getpid() == 0;
    data += * heap += local += 10;
    bad += data != 16;
    bad += write(fd, "child", 5) != 5;
    _exit(bad ? 99 : 42);
  }
  EXPECT(child != parent);
  EXPECT_EQ(status_of(child), 42 << 8);
  EXPECT(data == 1 && *heap == 2 && local == 3);
  EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5);
  EXPECT_EQ(getpid(), parent);

  for (int i = 0; i < 200; i++) {
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(i & 255);
    EXPECT_EQ(status_of(child), (i & 255) << 8);
  }
  pid_t children[30];
  for (int i = 0; i < 30; i++) {
    children[i] = fork();
    REQUIRE(children[i] >= 0);
    if (children[i] == 0) {
      pid_t inner = fork();
      if (inner == 0) _exit(i);
      int status;
      _exit(waitpid(inner, &status, 0) == inner ? WEXITSTATUS(status) + 100 : 1);
    }
  }
  for (int i = 0; i < 30; i++) EXPECT_EQ(status_of(children[i]), (i + 100) << 8);
  // What was buffered is written by both unless flushed.
  printf("buffered ");
  child = fork();
  if (child == 0) exit(0);
  EXPECT_EQ(status_of(child), 0);
  printf("by the parent\n");
  return guest_result();
}
