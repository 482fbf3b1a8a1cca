// Addresses and messages of sockets.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

// A value-result length with this capacity.
socklen_t* capacity(Arena& arena, socklen_t size) { return arena.in(size); }

Case accepting(std::string name, int family, long nr, socklen_t room) {
  return {std::move(name),
          [=](Arena& arena) {
            const Waiting waiting(family);
            Call one = call(nr, waiting.listener, arena.out(200), capacity(arena, room), 0);
            one.clean_up = [waiting] { waiting.close(); };
            return one;
          },
          "",
          {}};
}

Case naming(std::string name, long nr, int family, socklen_t room) {
  return {std::move(name),
          [=](Arena& arena) {
            const Connection connection(family);
            Call one = call(nr, connection.client, arena.out(200), capacity(arena, room));
            one.clean_up = [connection] { connection.close(); };
            return one;
          },
          "",
          {}};
}

struct Message {
  std::uint8_t* name = nullptr;
  socklen_t name_length = 0;
  std::size_t buffers[2] = {100, 500};
  std::size_t control_length = 0;
};

// A msghdr whose flags and gaps keep the filling.
std::uint8_t* put_message(Arena& arena, std::uint8_t* place, const Message& message) {
  struct Two {
    iovec each[2];
  };
  const Two buffers{{{arena.out(message.buffers[0]), message.buffers[0]},
                     {arena.out(message.buffers[1]), message.buffers[1]}}};
  arena.set(place, message.name);
  arena.set(place + 8, message.name_length);
  arena.set(place + 16, arena.in(buffers));
  arena.set(place + 24, std::size_t{2});
  arena.set(place + 32, message.control_length == 0 ? nullptr : arena.out(message.control_length));
  arena.set(place + 40, message.control_length);
  return place;
}

// A connected pair where the client has sent two descriptors and the receiver wants credentials too.
Connection with_descriptors_sent() {
  const Connection connection(AF_UNIX);
  const int on = 1;
  setsockopt(connection.server, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
  char content[] = "with descriptors";
  iovec vector{content, sizeof(content)};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int fds[2] = {0, 1};
  std::memcpy(CMSG_DATA(rights), fds, sizeof(fds));
  if (sendmsg(connection.client, &header, 0) < 0) std::abort();
  return connection;
}

Case receiving_descriptors(std::string name, std::size_t control_length) {
  return {std::move(name),
          [=](Arena& arena) {
            const Connection connection = with_descriptors_sent();
            Message message;
            message.control_length = control_length;
            Call one = call(SYS_recvmsg, connection.server, put_message(arena, arena.out(56), message), 0);
            one.clean_up = [connection] { connection.close(); };
            return one;
          },
          "",
          {}};
}

Case receiving_datagram(std::string name, Message message, bool named, int flags) {
  return {std::move(name),
          [=](Arena& arena) {
            const Datagrams datagrams(1, std::string(250, 'd'));
            Message filled = message;
            if (named) filled.name = arena.out(200);
            Call one =
                call(SYS_recvmsg, datagrams.receiver, put_message(arena, arena.out(56), filled), flags);
            one.clean_up = [datagrams] { datagrams.close(); };
            return one;
          },
          "",
          {}};
}

Case receiving_from(std::string name, std::function<Call(Arena&, const Datagrams&)> prepare) {
  return {std::move(name),
          [prepare](Arena& arena) {
            const Datagrams datagrams(3, "three of them");
            Call one = prepare(arena, datagrams);
            one.clean_up = [datagrams] { datagrams.close(); };
            return one;
          },
          "",
          {}};
}

}  // namespace

std::vector<Case> socket_cases() {
  Message truncated;
  truncated.buffers[0] = 10;
  truncated.buffers[1] = 20;
  Message named;
  named.name_length = 100;
  Message cut_name;
  cut_name.name_length = 5;
  return {
      accepting("accept_unix", AF_UNIX, SYS_accept, 110),
      accepting("accept_inet", AF_INET, SYS_accept, 110),
      accepting("accept4_inet", AF_INET, SYS_accept4, 110),
      accepting("accept_inet_cut", AF_INET, SYS_accept, 6),
      {"accept_without_address",
       [](Arena& arena) {
         const Waiting waiting(AF_INET);
         Call one = call(SYS_accept, waiting.listener, 0, capacity(arena, 100));
         one.clean_up = [waiting] { waiting.close(); };
         return one;
       },
       "",
       {}},
      naming("getsockname_inet", SYS_getsockname, AF_INET, 100),
      naming("getsockname_unix", SYS_getsockname, AF_UNIX, 100),
      naming("getsockname_cut", SYS_getsockname, AF_INET, 4),
      naming("getpeername_inet", SYS_getpeername, AF_INET, 100),
      naming("getpeername_no_room", SYS_getpeername, AF_INET, 0),
      {"socketpair",
       [](Arena& arena) {
         std::uint8_t* fds = arena.out(32);
         Call one = call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, fds);
         one.clean_up = [fds] {
           int each[2];
           std::memcpy(each, fds, sizeof(each));
           close(each[0]);
           close(each[1]);
         };
         return one;
       },
       "",
       {}},
      receiving_from("recvfrom",
                     [](Arena& a, const Datagrams& datagrams) {
                       return call(SYS_recvfrom, datagrams.receiver, a.out(100), 100, 0, a.out(100),
                                   capacity(a, 100));
                     }),
      receiving_from("recvfrom_cut_address",
                     [](Arena& a, const Datagrams& datagrams) {
                       return call(SYS_recvfrom, datagrams.receiver, a.out(100), 100, 0, a.out(100),
                                   capacity(a, 3));
                     }),
      receiving_from("recvfrom_truncated",
                     [](Arena& a, const Datagrams& datagrams) {
                       return call(SYS_recvfrom, datagrams.receiver, a.out(100), 5, MSG_TRUNC, 0, 0);
                     }),
      {"recvfrom_stream_with_address",
       [](Arena& arena) {
         const Connection connection(AF_INET);
         if (write(connection.client, "stream", 6) != 6) std::abort();
         Call one = call(SYS_recvfrom, connection.server, arena.out(100), 100, 0, arena.out(100),
                         capacity(arena, 100));
         one.clean_up = [connection] { connection.close(); };
         return one;
       },
       "",
       {}},
      receiving_datagram("recvmsg", Message{}, false, 0),
      receiving_datagram("recvmsg_named", named, true, 0),
      receiving_datagram("recvmsg_cut_name", cut_name, true, 0),
      receiving_datagram("recvmsg_truncated", truncated, false, MSG_TRUNC),
      receiving_descriptors("recvmsg_control", 200),
      receiving_descriptors("recvmsg_control_cut", 50),
      receiving_descriptors("recvmsg_control_tiny", 20),
      receiving_from("recvmmsg",
                     [](Arena& a, const Datagrams& datagrams) {
                       std::uint8_t* place = a.out(5 * 64);
                       for (int i = 0; i < 5; ++i) {
                         Message message;
                         message.name = i % 2 == 0 ? a.out(100) : nullptr;
                         message.name_length = i == 2 ? 4 : 100;
                         message.control_length = 40;
                         put_message(a, place + 64 * i, message);
                       }
                       return call(SYS_recvmmsg, datagrams.receiver, place, 5, MSG_DONTWAIT, 0);
                     }),
      receiving_from("recvmmsg_timeout",
                     [](Arena& a, const Datagrams& datagrams) {
                       std::uint8_t* place = put_message(a, a.out(64), Message{});
                       return call(SYS_recvmmsg, datagrams.receiver, place, 1, 0, a.in(timespec{3, 0}));
                     }),
      {"sendmmsg",
       [](Arena& arena) {
         const Connection connection(AF_UNIX);
         std::uint8_t* place = arena.out(3 * 64);
         for (int i = 0; i < 3; ++i) {
           put_message(arena, place + 64 * i, Message{});
           arena.set(place + 64 * i + 48, 0);
         }
         Call one = call(SYS_sendmmsg, connection.client, place, 3, 0);
         one.clean_up = [connection] { connection.close(); };
         return one;
       },
       "",
       {}},
      {"sendmsg",
       [](Arena& arena) {
         const Connection connection(AF_UNIX);
         Call one = call(SYS_sendmsg, connection.client, put_message(arena, arena.out(56), Message{}), 0);
         one.clean_up = [connection] { connection.close(); };
         return one;
       },
       "",
       {}},
  };
}

}  // namespace detrec::syscalls::test
