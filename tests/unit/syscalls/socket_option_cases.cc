// Options of sockets.
#include <linux/filter.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

Case option(std::string name, int family, int level, int number, socklen_t room,
            std::vector<int> lacking = {ENOPROTOOPT}) {
  return {std::move(name),
          [=](Arena& arena) {
            const Connection connection(family);
            Call one =
                call(SYS_getsockopt, connection.client, level, number, arena.out(1000), arena.in(room));
            one.clean_up = [connection] { connection.close(); };
            return one;
          },
          "", std::move(lacking)};
}

}  // namespace

std::vector<Case> socket_option_cases() {
  return {
      option("so_type", AF_INET, SOL_SOCKET, SO_TYPE, 100),
      option("so_type_cut", AF_INET, SOL_SOCKET, SO_TYPE, 2),
      option("so_type_no_room", AF_INET, SOL_SOCKET, SO_TYPE, 0),
      option("so_error", AF_INET, SOL_SOCKET, SO_ERROR, 4),
      option("so_linger", AF_INET, SOL_SOCKET, SO_LINGER, 100),
      option("so_sndbuf", AF_INET, SOL_SOCKET, SO_SNDBUF, 100),
      option("so_rcvtimeo", AF_INET, SOL_SOCKET, SO_RCVTIMEO, 100),
      option("so_peercred", AF_UNIX, SOL_SOCKET, SO_PEERCRED, 100),
      option("so_domain", AF_UNIX, SOL_SOCKET, SO_DOMAIN, 100),
      option("so_cookie", AF_INET, SOL_SOCKET, SO_COOKIE, 100),
      option("so_meminfo", AF_INET, SOL_SOCKET, SO_MEMINFO, 100),
      option("so_timestamping", AF_INET, SOL_SOCKET, SO_TIMESTAMPING, 100),
      option("so_txtime", AF_INET, SOL_SOCKET, SO_TXTIME, 100),
      option("so_bindtodevice", AF_INET, SOL_SOCKET, SO_BINDTODEVICE, 100),
      option("so_peername", AF_INET, SOL_SOCKET, 28, 16),
      option("so_peersec", AF_UNIX, SOL_SOCKET, SO_PEERSEC, 100),
      option("so_peergroups", AF_UNIX, SOL_SOCKET, SO_PEERGROUPS, 400),
      option("so_netns_cookie", AF_INET, SOL_SOCKET, 71, 8),
      option("so_max_pacing_rate", AF_INET, SOL_SOCKET, SO_MAX_PACING_RATE, 8),
      option("ip_ttl", AF_INET, IPPROTO_IP, IP_TTL, 100),
      option("ip_tos_byte", AF_INET, IPPROTO_IP, IP_TOS, 1),
      option("ip_mtu", AF_INET, IPPROTO_IP, IP_MTU, 100),
      option("ip_options", AF_INET, IPPROTO_IP, IP_OPTIONS, 100),
      option("ip_multicast_if", AF_INET, IPPROTO_IP, IP_MULTICAST_IF, 100),
      option("ip_pktoptions", AF_INET, IPPROTO_IP, 9, 100),
      option("tcp_nodelay", AF_INET, IPPROTO_TCP, TCP_NODELAY, 100),
      option("tcp_info", AF_INET, IPPROTO_TCP, TCP_INFO, 1000),
      option("tcp_info_cut", AF_INET, IPPROTO_TCP, TCP_INFO, 30),
      option("tcp_congestion", AF_INET, IPPROTO_TCP, TCP_CONGESTION, 100),
      option("tcp_congestion_cut", AF_INET, IPPROTO_TCP, TCP_CONGESTION, 3),
      option("tcp_cc_info", AF_INET, IPPROTO_TCP, TCP_CC_INFO, 100),
      option("tcp_ulp", AF_INET, IPPROTO_TCP, 31, 100),
      option("tcp_fastopen_key", AF_INET, IPPROTO_TCP, TCP_FASTOPEN_KEY, 100),
      {"so_peergroups_too_small",
       [](Arena& arena) {
         const Connection connection(AF_UNIX);
         std::uint8_t groups[400];
         socklen_t size = sizeof(groups);
         getsockopt(connection.client, SOL_SOCKET, SO_PEERGROUPS, groups, &size);
         Call one = call(SYS_getsockopt, connection.client, SOL_SOCKET, SO_PEERGROUPS, arena.out(100),
                         arena.in(socklen_t{1}));
         one.expect = size == 0 ? 0 : -ERANGE;
         one.clean_up = [connection] { connection.close(); };
         return one;
       },
       "",
       {ENOPROTOOPT}},
      {"so_get_filter",
       [](Arena& arena) {
         const Datagrams datagrams(0);
         sock_filter program[3] = {{BPF_LD | BPF_W | BPF_LEN, 0, 0, 0},
                                   {BPF_JMP | BPF_JA, 0, 0, 0},
                                   {BPF_RET | BPF_K, 0, 0, 0xffff}};
         const sock_fprog filter{3, program};
         if (setsockopt(datagrams.receiver, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) != 0)
           std::abort();
         Call one = call(SYS_getsockopt, datagrams.receiver, SOL_SOCKET, SO_ATTACH_FILTER, arena.out(100),
                         arena.in(socklen_t{10}));
         one.clean_up = [datagrams] { datagrams.close(); };
         return one;
       },
       "",
       {}},
      {"so_peerpidfd",
       [](Arena& arena) {
         const Connection connection(AF_UNIX);
         std::uint8_t* place = arena.out(100);
         Call one = call(SYS_getsockopt, connection.client, SOL_SOCKET, 77, place, arena.in(socklen_t{100}));
         one.clean_up = [connection, place] {
           int pidfd = -1;
           std::memcpy(&pidfd, place, sizeof(pidfd));
           close(pidfd);
           connection.close();
         };
         return one;
       },
       "",
       {ENOPROTOOPT, ENODATA}},
      {"ipv6_v6only",
       [](Arena& arena) {
         const int fd = socket(AF_INET6, SOCK_STREAM, 0);
         Call one =
             call(SYS_getsockopt, fd, IPPROTO_IPV6, IPV6_V6ONLY, arena.out(100), arena.in(socklen_t{100}));
         one.clean_up = [fd] { close(fd); };
         return one;
       },
       "",
       {EBADF}},
      {"netlink_list_memberships",
       [](Arena& arena) {
         const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
         Call one = call(SYS_getsockopt, fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, arena.out(100),
                         arena.in(socklen_t{100}));
         one.clean_up = [fd] { close(fd); };
         return one;
       },
       "",
       {EBADF}},
      {"setsockopt",
       [](Arena& arena) {
         const Connection connection(AF_INET);
         Call one = call(SYS_setsockopt, connection.client, SOL_SOCKET, SO_KEEPALIVE, arena.in(1), 4);
         one.clean_up = [connection] { connection.close(); };
         return one;
       },
       "",
       {}},
      {"getsockopt_unknown",
       [](Arena& arena) {
         const Connection connection(AF_INET);
         Call one = call(SYS_getsockopt, connection.client, SOL_SOCKET, 999, arena.out(100),
                         arena.in(socklen_t{100}));
         one.expect = -ENOPROTOOPT;
         one.clean_up = [connection] { connection.close(); };
         return one;
       },
       "",
       {}},
  };
}

}  // namespace detrec::syscalls::test
