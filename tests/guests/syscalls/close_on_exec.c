// Which descriptors an executed image finds: close-on-exec by every call that can set it, cleared by dup,
// positions kept.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "guest.h"

int main(int argc, char** argv) {
  if (argc == 1) {
    REQUIRE(dup2(open("file", O_RDWR | O_CREAT, 0600), 10) == 10);
    REQUIRE(write(10, "0123456789", 10) == 10 && lseek(10, 4, SEEK_SET) == 4);
    close(3);
    open("file", O_RDONLY | O_CLOEXEC);  // 3
    dup(3);                              // 4 stays
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);            // 5, 6
    eventfd(0, EFD_CLOEXEC);                         // 7
    epoll_create1(EPOLL_CLOEXEC);                    // 8
    fcntl(10, F_DUPFD_CLOEXEC, 20);                  // 20
    dup3(10, 21, O_CLOEXEC);                         // 21
    dup3(10, 22, 0);                                 // 22 stays
    dup2(21, 23);                                    // 23 stays
    memfd_create("m", 0);                            // 9 stays
    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);  // 11
    timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);    // 12
    dup2(10, 24);
    fcntl(24, F_SETFD, FD_CLOEXEC);  // 24
    dup2(10, 25);
    fcntl(25, F_SETFD, FD_CLOEXEC);
    fcntl(25, F_SETFD, 0);  // 25 stays
    for (int fd = 3; fd < 40; fd++) {
      if (fcntl(fd, F_GETFD) >= 0) printf("%d:%d ", fd, fcntl(fd, F_GETFD));
    }
    printf("\n");
    fflush(stdout);
    char* arguments[] = {argv[0], "again", NULL};
    execv("/proc/self/exe", arguments);
    REQUIRE(!"execv returned");
  }
  for (int fd = 3; fd < 40; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) printf("%d:%d ", fd, fcntl(fd, F_GETFD));
  }
  printf("\n");
  int answering = 0;
  for (int fd = 0; fd < 20000; fd++) answering += fcntl(fd, F_GETFD) >= 0;
  EXPECT_EQ(answering, 3 + 6);
  char buffer[20];
  EXPECT_EQ(read(10, buffer, 3), 3);
  EXPECT(memcmp(buffer, "456", 3) == 0);
  EXPECT_EQ(lseek(22, 0, SEEK_CUR), 7);
  return guest_result();
}
