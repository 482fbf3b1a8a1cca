#include "tests/unit/syscalls/fixtures.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace detrec::syscalls::test {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::abort();
}

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "detrec-syscalls-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "mkdtemp");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    if (getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_ = getpid();
};

int loopback_socket(int type, sockaddr_in& address) {
  const int fd = socket(AF_INET, type, 0);
  require(fd >= 0, "socket");
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0, "bind");
  socklen_t length = sizeof(address);
  require(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
  return fd;
}

}  // namespace

const std::string& scratch() {
  static const ScratchDirectory directory;
  return directory.path();
}

const std::string& data_path() {
  static const std::string path = [] {
    std::string name = scratch() + "/data";
    const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    require(fd >= 0, "open");
    std::string content(kDataSize, 'x');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i % 23);
    require(write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()), "write");
    fsetxattr(fd, "user.one", "value", 5, 0);  // not every file system has attributes
    fsync(fd);
    close(fd);
    require(symlink("data", (scratch() + "/link").c_str()) == 0, "symlink");
    return name;
  }();
  return path;
}

int open_data() {
  const int fd = open(data_path().c_str(), O_RDWR);
  require(fd >= 0, "open");
  return fd;
}

Pipe::Pipe(const std::string& content) {
  int fds[2];
  require(pipe(fds) == 0, "pipe");
  read_end = fds[0];
  write_end = fds[1];
  if (content.empty()) return;
  require(write(write_end, content.data(), content.size()) == static_cast<ssize_t>(content.size()), "write");
}

void Pipe::close() const {
  ::close(read_end);
  ::close(write_end);
}

Connection::Connection(int family, int type) {
  if (family == AF_UNIX) {
    int fds[2];
    require(socketpair(AF_UNIX, type, 0, fds) == 0, "socketpair");
    client = fds[0];
    server = fds[1];
    return;
  }
  sockaddr_in address;
  listener = loopback_socket(SOCK_STREAM, address);
  require(listen(listener, 1) == 0, "listen");
  client = socket(AF_INET, SOCK_STREAM, 0);
  require(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0, "connect");
  server = accept(listener, nullptr, nullptr);
  require(server >= 0, "accept");
}

void Connection::close() const {
  ::close(client);
  ::close(server);
  if (listener >= 0) ::close(listener);
}

Waiting::Waiting(int family) {
  if (family == AF_INET) {
    sockaddr_in address;
    listener = loopback_socket(SOCK_STREAM, address);
    require(listen(listener, 1) == 0, "listen");
    client = socket(AF_INET, SOCK_STREAM, 0);
    require(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0, "connect");
    return;
  }
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr automatic{AF_UNIX, {}};  // the kernel chooses an abstract name
  require(bind(listener, &automatic, sizeof(automatic.sa_family)) == 0, "bind");
  require(listen(listener, 1) == 0, "listen");
  sockaddr_storage address;
  socklen_t length = sizeof(address);
  require(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
  client = socket(AF_UNIX, SOCK_STREAM, 0);
  require(bind(client, &automatic, sizeof(automatic.sa_family)) == 0, "bind");
  require(connect(client, reinterpret_cast<sockaddr*>(&address), length) == 0, "connect");
}

void Waiting::close() const {
  ::close(client);
  ::close(listener);
}

Datagrams::Datagrams(int count, const std::string& content) {
  sockaddr_in to;
  sockaddr_in from;
  receiver = loopback_socket(SOCK_DGRAM, to);
  sender = loopback_socket(SOCK_DGRAM, from);
  for (int i = 0; i < count; ++i) {
    require(sendto(sender, content.data(), content.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof(to)) ==
                static_cast<ssize_t>(content.size()),
            "sendto");
  }
}

void Datagrams::close() const {
  ::close(receiver);
  ::close(sender);
}

Terminal::Terminal() {
  master = posix_openpt(O_RDWR | O_NOCTTY);
  require(master >= 0, "posix_openpt");
  require(grantpt(master) == 0 && unlockpt(master) == 0, "unlockpt");
  slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  require(slave >= 0, "open pts");
}

void Terminal::close() const {
  ::close(slave);
  ::close(master);
}

pid_t exited_child(int status) {
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) _exit(status);
  siginfo_t info;
  require(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0, "waitid");
  return child;
}

void interrupt_soon() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  require(sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  // Repeats, so that a signal that comes before the call begins is followed by one that comes in time.
  const itimerval soon{{0, 20000}, {0, 20000}};
  require(setitimer(ITIMER_REAL, &soon, nullptr) == 0, "setitimer");
}

}  // namespace detrec::syscalls::test
