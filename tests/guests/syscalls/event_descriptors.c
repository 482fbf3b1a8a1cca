// eventfd, timerfd, and waiting for them in another thread.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include "guest.h"

static void* reader(void* argument) {
  int fd = *(int*)argument;
  uint64_t value = 0;
  EXPECT_EQ(read(fd, &value, sizeof value), 8);
  return (void*)value;
}

int main(void) {
  int fd = eventfd(3, EFD_CLOEXEC);
  uint64_t value;
  EXPECT_EQ(read(fd, &value, sizeof value), 8);
  EXPECT_EQ(value, 3);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, reader, &fd) == 0);
  usleep(5000);
  EXPECT_EQ(eventfd_write(fd, 41), 0);
  void* result;
  pthread_join(thread, &result);
  EXPECT_EQ((long)result, 41);
  EXPECT_ERROR(read(fd, &value, 4), EINVAL);
  int counter = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(read(counter, &value, 8), 8);
    EXPECT_EQ(value, 1);
  }
  EXPECT_ERROR(read(counter, &value, 8), EAGAIN);
  value = ~0ull - 1;
  EXPECT_EQ(write(counter, &value, 8), 8);
  value = 1;
  EXPECT_ERROR(write(counter, &value, 8), EAGAIN);

  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  REQUIRE(timer >= 0);
  EXPECT_ERROR(read(timer, &value, 8), EAGAIN);
  struct itimerspec spec = {{0, 0}, {0, 3000000}}, now;
  EXPECT_EQ(timerfd_settime(timer, 0, &spec, NULL), 0);
  struct pollfd entry = {timer, POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 5000), 1);
  EXPECT_EQ(read(timer, &value, 8), 8);
  EXPECT_EQ(value, 1);
  spec.it_interval.tv_nsec = 2000000;
  EXPECT_EQ(timerfd_settime(timer, 0, &spec, NULL), 0);
  EXPECT_EQ(timerfd_gettime(timer, &now), 0);
  EXPECT_EQ(now.it_interval.tv_nsec, 2000000);
  usleep(20000);
  EXPECT_EQ(read(timer, &value, 8), 8);
  EXPECT(value >= 5);
  fcntl(timer, F_SETFL, 0);
  for (int i = 0; i < 3; i++) EXPECT_EQ(read(timer, &value, 8), 8);
  memset(&spec, 0, sizeof spec);
  EXPECT_EQ(timerfd_settime(timer, 0, &spec, &now), 0);
  EXPECT_EQ(now.it_interval.tv_nsec, 2000000);
  entry.revents = 0;
  EXPECT_EQ(poll(&entry, 1, 10), 0);
  clock_gettime(CLOCK_REALTIME, &spec.it_value);
  int absolute = timerfd_create(CLOCK_REALTIME, 0);
  spec.it_value.tv_sec -= 5;  // in the past: at once
  EXPECT_EQ(timerfd_settime(absolute, TFD_TIMER_ABSTIME, &spec, NULL), 0);
  EXPECT_EQ(read(absolute, &value, 8), 8);
  EXPECT_ERROR(timerfd_create(77, 0), EINVAL);
  spec.it_value.tv_nsec = 2000000000;
  EXPECT_ERROR(timerfd_settime(timer, 0, &spec, NULL), EINVAL);
  return guest_result();
}
