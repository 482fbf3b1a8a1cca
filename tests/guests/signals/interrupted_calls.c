// Blocking calls and signals: without SA_RESTART they give EINTR; with it those that restart go on (the
// handler makes them succeed), the others give EINTR all the same.
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "guest.h"

static int pipe_ends[2], sockets[2], full_pipe[2], epoll;
static sem_t semaphore;
static volatile int calls;
static void (*volatile help)(void);  // what makes the call succeed when it goes on

static void handler(int number) {
  (void)number;
  int kept = errno;
  calls++;
  if (help) help();
  errno = kept;
}

static void write_pipe(void) { REQUIRE(write(pipe_ends[1], "p", 1) == 1); }
static void write_socket(void) { REQUIRE(write(sockets[1], "s", 1) == 1); }
static void drain_pipe(void) {
  static char buffer[65536];
  REQUIRE(read(full_pipe[0], buffer, sizeof buffer) > 0);
}
static void post(void) { sem_post(&semaphore); }

static char buffer[100];
static long do_read(void) { return read(pipe_ends[0], buffer, 1); }
static long do_recv(void) { return recv(sockets[0], buffer, 1, 0); }
static long do_write(void) {
  static char block[65536];
  return write(full_pipe[1], block, sizeof block) > 0 ? 1 : -1;
}
static long do_poll(void) {
  struct pollfd entry = {pipe_ends[0], POLLIN, 0};
  return poll(&entry, 1, 20000);
}
static long do_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe_ends[0], &set);
  struct timeval limit = {20, 0};
  return select(pipe_ends[0] + 1, &set, NULL, NULL, &limit);
}
static long do_epoll(void) {
  struct epoll_event event;
  return epoll_wait(epoll, &event, 1, 20000);
}
static long do_pause(void) { return pause(); }
static long do_sem(void) { return sem_wait(&semaphore) == 0 ? 1 : -1; }
static long do_sem_timed(void) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  return sem_timedwait(&semaphore, &limit) == 0 ? 1 : -1;
}
static long do_sigtimedwait(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  struct timespec limit = {20, 0};
  return sigtimedwait(&set, NULL, &limit);
}
static long do_recv_timeout(void) {
  struct timeval limit = {20, 0};
  REQUIRE(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  long result = recv(sockets[0], buffer, 1, 0);
  int kept = errno;
  limit.tv_sec = 0;
  REQUIRE(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  errno = kept;
  return result;
}
static pid_t child;
static void end_child(void) { kill(child, SIGKILL); }
static long do_wait(void) { return waitpid(child, NULL, 0) == child ? 1 : -1; }

static void run(const char* name, long (*call)(void), void (*helper)(void), int restarts) {
  for (int restart = 0; restart < 2; restart++) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0};
    REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
    calls = 0;
    help = restart && restarts ? helper : NULL;
    struct itimerval timer = {{0, 0}, {0, 150000}};
    REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    errno = 0;
    long result = call();
    int error = errno;
    printf("%s%s: result %ld, %s\n", name, restart ? " with SA_RESTART" : "", result,
           result < 0 ? strerrorname_np(error) : "");
    EXPECT_EQ(calls, 1);
    if (restart && restarts) {
      EXPECT_EQ(result, 1);
    } else {
      EXPECT(result == -1 && error == EINTR);
    }
  }
}

int main(void) {
  REQUIRE(pipe(pipe_ends) == 0 && pipe(full_pipe) == 0);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  REQUIRE(epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &event) == 0);
  REQUIRE(sem_init(&semaphore, 0, 0) == 0);
  fcntl(full_pipe[1], F_SETFL, O_NONBLOCK);
  while (write(full_pipe[1], buffer, sizeof buffer) > 0) {
  }
  fcntl(full_pipe[1], F_SETFL, 0);
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) pause();
  }
  run("read", do_read, write_pipe, 1);
  run("recv", do_recv, write_socket, 1);
  run("write", do_write, drain_pipe, 1);
  run("poll", do_poll, NULL, 0);
  run("select", do_select, NULL, 0);
  run("epoll_wait", do_epoll, NULL, 0);
  run("pause", do_pause, NULL, 0);
  run("sem_wait", do_sem, post, 1);
  run("sem_timedwait", do_sem_timed, NULL, 0);
  run("sigtimedwait", do_sigtimedwait, NULL, 0);
  run("recv with timeout", do_recv_timeout, NULL, 0);
  run("waitpid", do_wait, end_child, 1);

  // nanosleep says what is left, and goes on by itself only when no handler ran.
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval timer = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &timer, NULL);
  struct timespec sleep = {5, 0}, left = {0, 0};
  EXPECT_ERROR(nanosleep(&sleep, &left), EINTR);
  EXPECT(left.tv_sec == 4);
  setitimer(ITIMER_REAL, &timer, NULL);
  left.tv_sec = 0;
  EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, &left), EINTR);
  EXPECT(left.tv_sec == 4);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  now.tv_sec += 5;
  setitimer(ITIMER_REAL, &timer, NULL);
  EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL), EINTR);
  signal(SIGALRM, SIG_IGN);
  setitimer(ITIMER_REAL, &timer, NULL);
  sleep.tv_sec = 0;
  sleep.tv_nsec = 60000000;
  EXPECT_EQ(nanosleep(&sleep, &left), 0);
  return guest_result();
}
