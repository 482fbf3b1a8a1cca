// TCP and UDP over loopback: connections, non-blocking connect, options, refused connections, names, out to a
// thread.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "guest.h"

static int listener;

static void* server(void* argument) {
  (void)argument;
  for (int i = 0; i < 3; i++) {
    int fd = accept(listener, NULL, NULL);
    EXPECT(fd >= 0);
    char buffer[65536];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof buffer)) > 0) {
      for (ssize_t k = 0; k < got; k++) buffer[k] = (char)(buffer[k] + 1);
      for (ssize_t done = 0; done < got;) {
        ssize_t sent = write(fd, buffer + done, (size_t)(got - done));
        if (sent < 0) break;
        done += sent;
      }
    }
    close(fd);
  }
  return NULL;
}

int main(void) {
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  EXPECT_EQ(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  REQUIRE(bind(listener, (struct sockaddr*)&address, sizeof address) == 0);
  REQUIRE(listen(listener, 8) == 0);
  REQUIRE(getsockname(listener, (struct sockaddr*)&address, &length) == 0);
  EXPECT(address.sin_port != 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, server, NULL) == 0);
  for (int i = 0; i < 3; i++) {
    int fd = socket(AF_INET, SOCK_STREAM | (i == 1 ? SOCK_NONBLOCK : 0), 0);
    int result = connect(fd, (struct sockaddr*)&address, sizeof address);
    if (i == 1) {
      EXPECT(result == 0 || errno == EINPROGRESS);
      struct pollfd entry = {fd, POLLOUT, 0};
      EXPECT_EQ(poll(&entry, 1, 5000), 1);
      int error = 1;
      length = sizeof error;
      EXPECT_EQ(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length), 0);
      EXPECT_EQ(error, 0);
      EXPECT_EQ(fcntl(fd, F_SETFL, 0), 0);
    } else {
      EXPECT_EQ(result, 0);
    }
    EXPECT_EQ(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
    struct sockaddr_in peer;
    length = sizeof peer;
    EXPECT_EQ(getpeername(fd, (struct sockaddr*)&peer, &length), 0);
    EXPECT_EQ(peer.sin_port, address.sin_port);
    char text[64], back[64];
    int size = snprintf(text, sizeof text, "connection %d", i);
    EXPECT_EQ(write(fd, text, (size_t)size), size);
    EXPECT_EQ(recv(fd, back, (size_t)size, MSG_WAITALL), size);
    for (int k = 0; k < size; k++) EXPECT_EQ(back[k], text[k] + 1);
    if (i == 2) {
      // A megabyte out of a file while reading the answer.
      int file = open("file", O_RDWR | O_CREAT, 0600);
      EXPECT_EQ(ftruncate(file, 1 << 20), 0);
      EXPECT_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
      off_t offset = 0;
      size_t received = 0;
      static char answer[65536];
      while (received < 1 << 20) {
        struct pollfd entry = {fd, (short)(POLLIN | (offset < 1 << 20 ? POLLOUT : 0)), 0};
        REQUIRE(poll(&entry, 1, 5000) == 1);
        if (entry.revents & POLLOUT) sendfile(fd, file, &offset, (size_t)((1 << 20) - offset));
        if (entry.revents & POLLIN) {
          ssize_t got = read(fd, answer, sizeof answer);
          REQUIRE(got > 0);
          EXPECT_EQ(answer[0], 1);
          received += (size_t)got;
        }
      }
      printf("%zu bytes back\n", received);
    }
    close(fd);
  }
  pthread_join(thread, NULL);
  close(listener);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_ERROR(connect(fd, (struct sockaddr*)&address, sizeof address), ECONNREFUSED);

  int one = socket(AF_INET, SOCK_DGRAM, 0), two = socket(AF_INET, SOCK_DGRAM, 0);
  address.sin_port = 0;
  REQUIRE(bind(one, (struct sockaddr*)&address, sizeof address) == 0);
  length = sizeof address;
  REQUIRE(getsockname(one, (struct sockaddr*)&address, &length) == 0);
  EXPECT_EQ(sendto(two, "datagram", 8, 0, (struct sockaddr*)&address, sizeof address), 8);
  char buffer[100];
  struct sockaddr_in from;
  length = sizeof from;
  EXPECT_EQ(recvfrom(one, buffer, sizeof buffer, 0, (struct sockaddr*)&from, &length), 8);
  EXPECT_EQ(ntohl(from.sin_addr.s_addr), INADDR_LOOPBACK);
  EXPECT_EQ(sendto(one, "reply", 5, 0, (struct sockaddr*)&from, sizeof from), 5);
  int pending = 0;
  struct pollfd entry = {two, POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 5000), 1);
  EXPECT_EQ(ioctl(two, FIONREAD, &pending), 0);
  EXPECT_EQ(pending, 5);
  EXPECT_EQ(recv(two, buffer, sizeof buffer, 0), 5);
  struct timeval limit = {0, 20000};
  EXPECT_EQ(setsockopt(two, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
  EXPECT_ERROR(recv(two, buffer, sizeof buffer, 0), EAGAIN);
  EXPECT_ERROR(socket(AF_INET, 99, 0), EINVAL);
  EXPECT_ERROR(socket(999, SOCK_STREAM, 0), EAFNOSUPPORT);
  return guest_result();
}
