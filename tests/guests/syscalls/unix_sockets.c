// Unix sockets: streams, datagrams, packets, passed descriptors and credentials, truncation, peeking,
// shutdown, names, many messages by one call.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "guest.h"

static void send_descriptor(int socket, int fd, const char* text) {
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec vector = {(void*)text, strlen(text)};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  EXPECT_EQ(sendmsg(socket, &message, 0), (long)strlen(text));
}

static int receive_descriptor(int socket, char* text, size_t size, int flags) {
  char control[256];
  struct iovec vector = {text, size};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t got = recvmsg(socket, &message, flags);
  EXPECT(got > 0);
  text[got > 0 ? got : 0] = 0;
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  REQUIRE(header != NULL && header->cmsg_type == SCM_RIGHTS);
  int fd;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

int main(void) {
  int pair[2];
  char buffer[256];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  int file = open("file", O_RDWR | O_CREAT, 0600);
  REQUIRE(write(file, "content", 7) == 7);
  send_descriptor(pair[0], file, "take this");
  int passed = receive_descriptor(pair[1], buffer, sizeof buffer - 1, MSG_CMSG_CLOEXEC);
  printf("%s\n", buffer);
  EXPECT(passed != file);
  EXPECT_EQ(fcntl(passed, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(pread(passed, buffer, 7, 0), 7);
  EXPECT(memcmp(buffer, "content", 7) == 0);
  struct stat one, two;
  EXPECT(fstat(file, &one) == 0 && fstat(passed, &two) == 0 && one.st_ino == two.st_ino);

  int on = 1;
  EXPECT_EQ(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
  EXPECT_EQ(write(pair[0], "who", 3), 3);
  char control[256];
  struct iovec vector = {buffer, sizeof buffer};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  EXPECT_EQ(recvmsg(pair[1], &message, 0), 3);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  REQUIRE(header != NULL && header->cmsg_type == SCM_CREDENTIALS);
  struct ucred credentials;
  memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
  EXPECT_EQ(credentials.pid, getpid());
  EXPECT_EQ(credentials.uid, getuid());
  socklen_t length = sizeof credentials;
  EXPECT_EQ(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &credentials, &length), 0);
  EXPECT_EQ(credentials.pid, getpid());

  // Peek, shutdown.
  EXPECT_EQ(write(pair[1], "peek", 4), 4);
  EXPECT_EQ(recv(pair[0], buffer, 10, MSG_PEEK), 4);
  EXPECT_EQ(recv(pair[0], buffer, 10, 0), 4);
  EXPECT_ERROR(recv(pair[0], buffer, 10, MSG_DONTWAIT), EAGAIN);
  EXPECT_EQ(shutdown(pair[1], SHUT_WR), 0);
  EXPECT_EQ(read(pair[0], buffer, 10), 0);
  EXPECT_EQ(write(pair[0], "x", 1), 1);

  // Datagrams keep their bounds; what does not fit is cut.
  int datagrams[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) == 0);
  EXPECT_EQ(send(datagrams[0], "first message", 13, 0), 13);
  EXPECT_EQ(send(datagrams[0], "2", 1, 0), 1);
  vector.iov_len = 5;
  message.msg_controllen = 0;
  EXPECT_EQ(recvmsg(datagrams[1], &message, 0), 5);
  EXPECT(message.msg_flags & MSG_TRUNC);
  EXPECT_EQ(recv(datagrams[1], buffer, sizeof buffer, 0), 1);
  struct mmsghdr several[3];
  struct iovec vectors[3];
  char texts[3][16] = {"aa", "bbb", "cccc"};
  memset(several, 0, sizeof several);
  for (int i = 0; i < 3; i++) {
    vectors[i] = (struct iovec){texts[i], strlen(texts[i])};
    several[i].msg_hdr.msg_iov = &vectors[i];
    several[i].msg_hdr.msg_iovlen = 1;
  }
  EXPECT_EQ(sendmmsg(datagrams[0], several, 3, 0), 3);
  for (int i = 0; i < 3; i++) vectors[i] = (struct iovec){buffer + i * 16, 16};
  EXPECT_EQ(recvmmsg(datagrams[1], several, 3, MSG_DONTWAIT, NULL), 3);
  printf("%u %u %u\n", several[0].msg_len, several[1].msg_len, several[2].msg_len);

  // Names: in the file system and abstract.
  int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "name"};
  EXPECT_EQ(bind(listener, (struct sockaddr*)&address, sizeof address), 0);
  EXPECT_EQ(listen(listener, 3), 0);
  int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
  EXPECT_EQ(connect(client, (struct sockaddr*)&address, sizeof address), 0);
  int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  REQUIRE(server >= 0);
  EXPECT_EQ(send(client, "packet", 6, 0), 6);
  EXPECT_EQ(recv(server, buffer, sizeof buffer, 0), 6);
  length = sizeof address;
  EXPECT_EQ(getsockname(server, (struct sockaddr*)&address, &length), 0);
  printf("%s, length %u\n", address.sun_path, length);
  length = sizeof address;
  EXPECT_EQ(getpeername(server, (struct sockaddr*)&address, &length), 0);
  EXPECT_EQ(length, sizeof(sa_family_t));
  address.sun_path[0] = 'x';
  EXPECT_ERROR(connect(client, (struct sockaddr*)&address, sizeof address), ENOENT);
  int other = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  strcpy(address.sun_path, "no such name");
  EXPECT_ERROR(connect(other, (struct sockaddr*)&address, sizeof address), ENOENT);
  address.sun_path[0] = 0;
  snprintf(address.sun_path + 1, 50, "guest-%d", getpid());
  EXPECT_EQ(bind(other, (struct sockaddr*)&address, (socklen_t)(sizeof(sa_family_t) + 20)), 0);
  int type;
  length = sizeof type;
  EXPECT_EQ(getsockopt(other, SOL_SOCKET, SO_TYPE, &type, &length), 0);
  EXPECT_EQ(type, SOCK_SEQPACKET);
  EXPECT_ERROR(getsockopt(other, SOL_SOCKET, 9999, &type, &length), ENOPROTOOPT);
  EXPECT_ERROR(recv(file, buffer, 1, 0), ENOTSOCK);
  return guest_result();
}
