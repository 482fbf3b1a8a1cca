// inotify: the events of a file's life, in order, with names; moves are paired by their cookie.
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "guest.h"

int main(void) {
  int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  REQUIRE(fd >= 0);
  REQUIRE(mkdir("watched", 0700) == 0);
  int watch = inotify_add_watch(fd, "watched", IN_ALL_EVENTS);
  EXPECT_EQ(watch, 1);
  char buffer[4096] __attribute__((aligned(8)));
  EXPECT_ERROR(read(fd, buffer, sizeof buffer), EAGAIN);
  int file = open("watched/a", O_RDWR | O_CREAT, 0600);
  REQUIRE(file >= 0);
  EXPECT_EQ(write(file, "x", 1), 1);
  close(file);
  EXPECT_EQ(rename("watched/a", "watched/b"), 0);
  EXPECT_EQ(chmod("watched/b", 0644), 0);
  EXPECT_EQ(unlink("watched/b"), 0);
  struct pollfd entry = {fd, POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 1000), 1);
  ssize_t got = read(fd, buffer, sizeof buffer);
  EXPECT(got > 0);
  uint32_t cookie = 0;
  for (ssize_t at = 0; at < got;) {
    struct inotify_event* event = (struct inotify_event*)(buffer + at);
    printf("%x %s\n", event->mask, event->len ? event->name : "");
    if (event->mask & IN_MOVED_FROM) cookie = event->cookie;
    if (event->mask & IN_MOVED_TO) EXPECT(event->cookie == cookie && cookie != 0);
    at += (ssize_t)(sizeof *event + event->len);
  }
  EXPECT_EQ(inotify_rm_watch(fd, watch), 0);
  got = read(fd, buffer, sizeof buffer);
  EXPECT(got > 0 && (((struct inotify_event*)buffer)->mask & IN_IGNORED));
  EXPECT_ERROR(inotify_rm_watch(fd, watch), EINVAL);
  EXPECT_ERROR(inotify_add_watch(fd, "nothing", IN_CREATE), ENOENT);
  return guest_result();
}
