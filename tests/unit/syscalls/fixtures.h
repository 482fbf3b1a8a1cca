// Things that the cases make calls about: files, descriptors, children.
#pragma once

#include <sys/types.h>

#include <string>

namespace detrec::syscalls::test {

/// A directory of this process's own, removed at exit.
const std::string& scratch();
/// A file in it with `kDataSize` known bytes and the attribute user.one = "value" where attributes exist.
inline constexpr std::size_t kDataSize = 10000;
const std::string& data_path();
/// A new descriptor of that file, open for reading and writing, at offset 0.
int open_data();

/// A pipe with `content` in it; the write end stays open.
struct Pipe {
  int read_end = -1;
  int write_end = -1;
  explicit Pipe(const std::string& content = "");
  void close() const;
};

/// A connected pair of stream sockets of a family (AF_UNIX or AF_INET), and the listener of AF_INET.
struct Connection {
  int client = -1;
  int server = -1;
  int listener = -1;
  explicit Connection(int family, int type = 1 /* SOCK_STREAM */);
  void close() const;
};

/// A listening socket with one connection waiting to be accepted.
struct Waiting {
  int listener = -1;
  int client = -1;
  explicit Waiting(int family);
  void close() const;
};

/// A datagram socket on the loopback, with `count` datagrams sent to itself from another one.
struct Datagrams {
  int receiver = -1;
  int sender = -1;
  explicit Datagrams(int count, const std::string& content = "datagram");
  void close() const;
};

/// A pseudo-terminal.
struct Terminal {
  int master = -1;
  int slave = -1;
  Terminal();
  void close() const;
};

/// A child that has exited with this status and is not waited for yet.
pid_t exited_child(int status);

/// Lets SIGALRM interrupt this thread in some 20 ms, without restart.
void interrupt_soon();

}  // namespace detrec::syscalls::test
