// SIGPIPE: with a handler, ignored, suppressed, for pipes and sockets, writev and splice.
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "guest.h"

static volatile int calls;
static void handler(int number) {
  (void)number;
  calls++;
}

int main(void) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  signal(SIGPIPE, handler);
  EXPECT_ERROR(write(ends[1], "x", 1), EPIPE);
  EXPECT_EQ(calls, 1);
  struct iovec vector = {"xy", 2};
  EXPECT_ERROR(writev(ends[1], &vector, 1), EPIPE);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(write(ends[1], "", 0), 0);
  signal(SIGPIPE, SIG_IGN);
  EXPECT_ERROR(write(ends[1], "x", 1), EPIPE);
  signal(SIGPIPE, handler);
  int pair[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  close(pair[0]);
  EXPECT_ERROR(send(pair[1], "x", 1, MSG_NOSIGNAL), EPIPE);
  EXPECT_EQ(calls, 2);
  EXPECT_ERROR(send(pair[1], "x", 1, 0), EPIPE);
  EXPECT_EQ(calls, 3);
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigprocmask(SIG_BLOCK, &set, NULL);
  EXPECT_ERROR(write(ends[1], "x", 1), EPIPE);
  sigpending(&pending);
  EXPECT(sigismember(&pending, SIGPIPE));
  EXPECT_EQ(calls, 3);
  printf("%d calls\n", calls);
  return guest_result();
}
