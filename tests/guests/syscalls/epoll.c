// epoll: level and edge triggering, one-shot, changes, nesting, exact data, timeouts, many descriptors,
// errors.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "guest.h"

static int epoll;
static struct epoll_event events[512];

static int wait_now(void) { return epoll_wait(epoll, events, 512, 0); }
static void control(int operation, int fd, unsigned mask, uint64_t data) {
  struct epoll_event event = {.events = mask, .data.u64 = data};
  EXPECT_EQ(epoll_ctl(epoll, operation, fd, &event), 0);
}

int main(void) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  REQUIRE(epoll >= 0);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  EXPECT_EQ(wait_now(), 0);
  control(EPOLL_CTL_ADD, ends[0], EPOLLIN, 0x123456789abcdef0);
  EXPECT_EQ(wait_now(), 0);
  EXPECT_EQ(write(ends[1], "abc", 3), 3);
  EXPECT_EQ(wait_now(), 1);
  EXPECT_EQ(events[0].events, EPOLLIN);
  EXPECT_EQ(events[0].data.u64, 0x123456789abcdef0);
  EXPECT_EQ(wait_now(), 1);  // level: again
  control(EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLET, 2);
  EXPECT_EQ(wait_now(), 1);
  EXPECT_EQ(wait_now(), 0);  // edge: once
  EXPECT_EQ(write(ends[1], "d", 1), 1);
  EXPECT_EQ(wait_now(), 1);
  control(EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLONESHOT, 3);
  EXPECT_EQ(wait_now(), 1);
  EXPECT_EQ(wait_now(), 0);
  control(EPOLL_CTL_MOD, ends[0], EPOLLIN, 4);
  EXPECT_EQ(wait_now(), 1);
  char buffer[16];
  EXPECT_EQ(read(ends[0], buffer, sizeof buffer), 4);
  EXPECT_EQ(wait_now(), 0);
  close(ends[1]);
  EXPECT_EQ(wait_now(), 1);
  EXPECT_EQ(events[0].events, EPOLLHUP);
  control(EPOLL_CTL_DEL, ends[0], 0, 0);
  EXPECT_EQ(wait_now(), 0);

  struct epoll_event event = {.events = EPOLLIN};
  EXPECT_ERROR(epoll_ctl(epoll, EPOLL_CTL_DEL, ends[0], &event), ENOENT);
  EXPECT_ERROR(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[0], &event), ENOENT);
  EXPECT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), 0);
  EXPECT_ERROR(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), EEXIST);
  EXPECT_ERROR(epoll_ctl(epoll, 77, ends[0], &event), EINVAL);
  EXPECT_ERROR(epoll_ctl(epoll, EPOLL_CTL_ADD, epoll, &event), EINVAL);
  int file = open("file", O_RDWR | O_CREAT, 0600);
  EXPECT_ERROR(epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event), EPERM);
  EXPECT_ERROR(epoll_ctl(epoll, EPOLL_CTL_ADD, 999, &event), EBADF);
  EXPECT_ERROR(epoll_wait(epoll, events, 0, 0), EINVAL);
  EXPECT_ERROR(epoll_wait(epoll, (void*)16, 4, 0), EFAULT);
  close(ends[0]);

  // Many, some ready; a nested one.
  int fds[100];
  for (int i = 0; i < 100; i++) {
    fds[i] = eventfd(0, EFD_NONBLOCK);
    control(EPOLL_CTL_ADD, fds[i], EPOLLIN, (uint64_t)i);
  }
  for (int i = 0; i < 100; i += 7) EXPECT_EQ(eventfd_write(fds[i], 1), 0);
  int ready = wait_now(), sum = 0;
  for (int i = 0; i < ready; i++) sum += (int)events[i].data.u64;
  printf("%d ready, sum %d\n", ready, sum);
  EXPECT_EQ(ready, 15);
  EXPECT_EQ(epoll_wait(epoll, events, 5, 0), 5);
  int outer = epoll_create1(0);
  event.data.u64 = 55;
  EXPECT_EQ(epoll_ctl(outer, EPOLL_CTL_ADD, epoll, &event), 0);
  EXPECT_EQ(epoll_wait(outer, events, 5, 1000), 1);
  EXPECT_EQ(events[0].data.u64, 55);
  for (int i = 0; i < 100; i++) close(fds[i]);
  EXPECT_EQ(epoll_wait(outer, events, 5, 0), 0);
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  EXPECT_EQ(epoll_wait(epoll, events, 5, 30), 0);
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 29);
  struct timespec limit = {0, 1000000};
  EXPECT_EQ(epoll_pwait2(epoll, events, 5, &limit, NULL), 0);
  return guest_result();
}
