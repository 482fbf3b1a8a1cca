// Options of setsockopt and getsockopt.
//
// setsockopt reads as many bytes as its length argument says; getsockopt writes as many as its value-result
// length says afterwards. So one list serves both; what an option does otherwise is said in its row.
#include "trace/syscalls/build_commands.h"

namespace detrec::syscalls {
namespace {

using namespace build;

enum class Use : std::uint8_t {
  kBoth,
  kSet,        ///< setsockopt only
  kGet,        ///< getsockopt only
  kGetInOut,   ///< both; getsockopt reads the buffer too
  kGetFilter,  ///< both; getsockopt's length counts filter instructions of 8 bytes
  kGetFd,      ///< getsockopt leaves a new descriptor in the buffer
  kRefused,    ///< neither: `error`
};

struct Option {
  std::uint32_t level;
  std::uint32_t number;
  char name[40];
  Use use = Use::kBoth;
  int error = ENOPROTOOPT;
};

constexpr std::uint32_t kIp = 0;
constexpr std::uint32_t kSocket = 1;
constexpr std::uint32_t kTcp = 6;
constexpr std::uint32_t kUdp = 17;
constexpr std::uint32_t kVsock = 40;
constexpr std::uint32_t kIpv6 = 41;
constexpr std::uint32_t kIcmpv6 = 58;
constexpr std::uint32_t kRaw = 255;
constexpr std::uint32_t kPacket = 263;
constexpr std::uint32_t kNetlink = 270;
constexpr std::uint32_t kAlg = 279;
constexpr std::uint32_t kTls = 282;
constexpr std::uint32_t kXdp = 283;
constexpr std::uint32_t kMptcp = 284;

constexpr Option kOptions[] = {
    // socket(7), include/uapi/asm-generic/socket.h
    {kSocket, 1, "SO_DEBUG"},
    {kSocket, 2, "SO_REUSEADDR"},
    {kSocket, 3, "SO_TYPE", Use::kGet},
    {kSocket, 4, "SO_ERROR", Use::kGet},
    {kSocket, 5, "SO_DONTROUTE"},
    {kSocket, 6, "SO_BROADCAST"},
    {kSocket, 7, "SO_SNDBUF"},
    {kSocket, 8, "SO_RCVBUF"},
    {kSocket, 9, "SO_KEEPALIVE"},
    {kSocket, 10, "SO_OOBINLINE"},
    {kSocket, 11, "SO_NO_CHECK"},
    {kSocket, 12, "SO_PRIORITY"},
    {kSocket, 13, "SO_LINGER"},
    {kSocket, 14, "SO_BSDCOMPAT"},
    {kSocket, 15, "SO_REUSEPORT"},
    {kSocket, 16, "SO_PASSCRED"},
    {kSocket, 17, "SO_PEERCRED", Use::kGet},
    {kSocket, 18, "SO_RCVLOWAT"},
    {kSocket, 19, "SO_SNDLOWAT", Use::kGet},
    {kSocket, 20, "SO_RCVTIMEO_OLD"},
    {kSocket, 21, "SO_SNDTIMEO_OLD"},
    {kSocket, 25, "SO_BINDTODEVICE"},
    {kSocket, 26, "SO_ATTACH_FILTER", Use::kGetFilter},
    {kSocket, 27, "SO_DETACH_FILTER", Use::kSet},
    {kSocket, 28, "SO_PEERNAME", Use::kGet},
    {kSocket, 29, "SO_TIMESTAMP_OLD"},
    {kSocket, 30, "SO_ACCEPTCONN", Use::kGet},
    {kSocket, 31, "SO_PEERSEC", Use::kGet},
    {kSocket, 32, "SO_SNDBUFFORCE", Use::kSet},
    {kSocket, 33, "SO_RCVBUFFORCE", Use::kSet},
    {kSocket, 34, "SO_PASSSEC"},
    {kSocket, 35, "SO_TIMESTAMPNS_OLD"},
    {kSocket, 36, "SO_MARK"},
    {kSocket, 37, "SO_TIMESTAMPING_OLD"},
    {kSocket, 38, "SO_PROTOCOL", Use::kGet},
    {kSocket, 39, "SO_DOMAIN", Use::kGet},
    {kSocket, 40, "SO_RXQ_OVFL"},
    {kSocket, 41, "SO_WIFI_STATUS"},
    {kSocket, 42, "SO_PEEK_OFF"},
    {kSocket, 43, "SO_NOFCS"},
    {kSocket, 44, "SO_LOCK_FILTER"},
    {kSocket, 45, "SO_SELECT_ERR_QUEUE"},
    {kSocket, 46, "SO_BUSY_POLL"},
    {kSocket, 47, "SO_MAX_PACING_RATE"},
    {kSocket, 48, "SO_BPF_EXTENSIONS", Use::kGet},
    {kSocket, 49, "SO_INCOMING_CPU"},
    {kSocket, 50, "SO_ATTACH_BPF", Use::kSet},
    {kSocket, 51, "SO_ATTACH_REUSEPORT_CBPF", Use::kSet},
    {kSocket, 52, "SO_ATTACH_REUSEPORT_EBPF", Use::kSet},
    {kSocket, 53, "SO_CNX_ADVICE", Use::kSet},
    {kSocket, 55, "SO_MEMINFO", Use::kGet},
    {kSocket, 56, "SO_INCOMING_NAPI_ID", Use::kGet},
    {kSocket, 57, "SO_COOKIE", Use::kGet},
    {kSocket, 59, "SO_PEERGROUPS", Use::kGet},
    // Memory would be read at any later time.
    {kSocket, 60, "SO_ZEROCOPY", Use::kRefused, EOPNOTSUPP},
    {kSocket, 61, "SO_TXTIME"},
    {kSocket, 62, "SO_BINDTOIFINDEX"},
    {kSocket, 63, "SO_TIMESTAMP_NEW"},
    {kSocket, 64, "SO_TIMESTAMPNS_NEW"},
    {kSocket, 65, "SO_TIMESTAMPING_NEW"},
    {kSocket, 66, "SO_RCVTIMEO_NEW"},
    {kSocket, 67, "SO_SNDTIMEO_NEW"},
    {kSocket, 68, "SO_DETACH_REUSEPORT_BPF", Use::kSet},
    {kSocket, 69, "SO_PREFER_BUSY_POLL"},
    {kSocket, 70, "SO_BUSY_POLL_BUDGET"},
    {kSocket, 71, "SO_NETNS_COOKIE", Use::kGet},
    {kSocket, 72, "SO_BUF_LOCK"},
    {kSocket, 73, "SO_RESERVE_MEM"},
    {kSocket, 74, "SO_TXREHASH"},
    {kSocket, 75, "SO_RCVMARK"},
    {kSocket, 76, "SO_PASSPIDFD"},
    {kSocket, 77, "SO_PEERPIDFD", Use::kGetFd},
    {kSocket, 78, "SO_DEVMEM_LINEAR", Use::kRefused},
    {kSocket, 79, "SO_DEVMEM_DMABUF", Use::kRefused},
    {kSocket, 80, "SO_DEVMEM_DONTNEED", Use::kRefused},
    {kSocket, 82, "SO_RCVPRIORITY"},
    {kSocket, 83, "SO_PASSRIGHTS"},
    {kSocket, 84, "SO_INQ"},
    // ip(7), include/uapi/linux/in.h
    {kIp, 1, "IP_TOS"},
    {kIp, 2, "IP_TTL"},
    {kIp, 3, "IP_HDRINCL"},
    {kIp, 4, "IP_OPTIONS"},
    {kIp, 5, "IP_ROUTER_ALERT"},
    {kIp, 6, "IP_RECVOPTS"},
    {kIp, 7, "IP_RETOPTS"},
    {kIp, 8, "IP_PKTINFO"},
    {kIp, 9, "IP_PKTOPTIONS", Use::kGet},
    {kIp, 10, "IP_MTU_DISCOVER"},
    {kIp, 11, "IP_RECVERR"},
    {kIp, 12, "IP_RECVTTL"},
    {kIp, 13, "IP_RECVTOS"},
    {kIp, 14, "IP_MTU", Use::kGet},
    {kIp, 15, "IP_FREEBIND"},
    {kIp, 16, "IP_IPSEC_POLICY"},
    {kIp, 17, "IP_XFRM_POLICY"},
    {kIp, 18, "IP_PASSSEC"},
    {kIp, 19, "IP_TRANSPARENT"},
    {kIp, 20, "IP_RECVORIGDSTADDR"},
    {kIp, 21, "IP_MINTTL"},
    {kIp, 22, "IP_NODEFRAG"},
    {kIp, 23, "IP_CHECKSUM"},
    {kIp, 24, "IP_BIND_ADDRESS_NO_PORT"},
    {kIp, 25, "IP_RECVFRAGSIZE"},
    {kIp, 26, "IP_RECVERR_RFC4884"},
    {kIp, 32, "IP_MULTICAST_IF"},
    {kIp, 33, "IP_MULTICAST_TTL"},
    {kIp, 34, "IP_MULTICAST_LOOP"},
    {kIp, 35, "IP_ADD_MEMBERSHIP", Use::kSet},
    {kIp, 36, "IP_DROP_MEMBERSHIP", Use::kSet},
    {kIp, 37, "IP_UNBLOCK_SOURCE", Use::kSet},
    {kIp, 38, "IP_BLOCK_SOURCE", Use::kSet},
    {kIp, 39, "IP_ADD_SOURCE_MEMBERSHIP", Use::kSet},
    {kIp, 40, "IP_DROP_SOURCE_MEMBERSHIP", Use::kSet},
    {kIp, 41, "IP_MSFILTER", Use::kGetInOut},
    {kIp, 42, "MCAST_JOIN_GROUP", Use::kSet},
    {kIp, 43, "MCAST_BLOCK_SOURCE", Use::kSet},
    {kIp, 44, "MCAST_UNBLOCK_SOURCE", Use::kSet},
    {kIp, 45, "MCAST_LEAVE_GROUP", Use::kSet},
    {kIp, 46, "MCAST_JOIN_SOURCE_GROUP", Use::kSet},
    {kIp, 47, "MCAST_LEAVE_SOURCE_GROUP", Use::kSet},
    {kIp, 48, "MCAST_MSFILTER", Use::kGetInOut},
    {kIp, 49, "IP_MULTICAST_ALL"},
    {kIp, 50, "IP_UNICAST_IF"},
    {kIp, 51, "IP_LOCAL_PORT_RANGE"},
    {kIp, 52, "IP_PROTOCOL", Use::kGet},
    // The packet filter's tables (netfilter_ipv4/ip_tables.h) have pointers inside.
    {kIp, 64, "IPT_SO_SET_REPLACE", Use::kRefused},
    {kIp, 65, "IPT_SO_SET_ADD_COUNTERS", Use::kRefused},
    {kIp, 66, "IPT_SO_GET_REVISION_MATCH", Use::kRefused},
    {kIp, 67, "IPT_SO_GET_REVISION_TARGET", Use::kRefused},
    {kIp, 80, "SO_ORIGINAL_DST", Use::kGet},
    // tcp(7), include/uapi/linux/tcp.h
    {kTcp, 1, "TCP_NODELAY"},
    {kTcp, 2, "TCP_MAXSEG"},
    {kTcp, 3, "TCP_CORK"},
    {kTcp, 4, "TCP_KEEPIDLE"},
    {kTcp, 5, "TCP_KEEPINTVL"},
    {kTcp, 6, "TCP_KEEPCNT"},
    {kTcp, 7, "TCP_SYNCNT"},
    {kTcp, 8, "TCP_LINGER2"},
    {kTcp, 9, "TCP_DEFER_ACCEPT"},
    {kTcp, 10, "TCP_WINDOW_CLAMP"},
    {kTcp, 11, "TCP_INFO", Use::kGet},
    {kTcp, 12, "TCP_QUICKACK"},
    {kTcp, 13, "TCP_CONGESTION"},
    {kTcp, 14, "TCP_MD5SIG", Use::kSet},
    {kTcp, 16, "TCP_THIN_LINEAR_TIMEOUTS"},
    {kTcp, 17, "TCP_THIN_DUPACK"},
    {kTcp, 18, "TCP_USER_TIMEOUT"},
    {kTcp, 19, "TCP_REPAIR"},
    {kTcp, 20, "TCP_REPAIR_QUEUE"},
    {kTcp, 21, "TCP_QUEUE_SEQ"},
    {kTcp, 22, "TCP_REPAIR_OPTIONS", Use::kSet},
    {kTcp, 23, "TCP_FASTOPEN"},
    {kTcp, 24, "TCP_TIMESTAMP"},
    {kTcp, 25, "TCP_NOTSENT_LOWAT"},
    {kTcp, 26, "TCP_CC_INFO", Use::kGet},
    {kTcp, 27, "TCP_SAVE_SYN"},
    {kTcp, 28, "TCP_SAVED_SYN", Use::kGet},
    {kTcp, 29, "TCP_REPAIR_WINDOW"},
    {kTcp, 30, "TCP_FASTOPEN_CONNECT"},
    {kTcp, 31, "TCP_ULP"},
    {kTcp, 32, "TCP_MD5SIG_EXT", Use::kSet},
    {kTcp, 33, "TCP_FASTOPEN_KEY"},
    {kTcp, 34, "TCP_FASTOPEN_NO_COOKIE"},
    {kTcp, 35, "TCP_ZEROCOPY_RECEIVE", Use::kRefused},  // maps received pages into the guest
    {kTcp, 36, "TCP_INQ"},
    {kTcp, 37, "TCP_TX_DELAY"},
    {kTcp, 38, "TCP_AO_ADD_KEY", Use::kSet},
    {kTcp, 39, "TCP_AO_DEL_KEY", Use::kSet},
    {kTcp, 40, "TCP_AO_INFO", Use::kGetInOut},
    {kTcp, 41, "TCP_AO_GET_KEYS", Use::kGetInOut},
    {kTcp, 42, "TCP_AO_REPAIR"},
    {kTcp, 43, "TCP_IS_MPTCP", Use::kGet},
    {kTcp, 44, "TCP_RTO_MAX_MS"},
    {kTcp, 45, "TCP_RTO_MIN_US"},
    {kTcp, 46, "TCP_DELACK_MAX_US"},
    // udp(7), include/uapi/linux/udp.h
    {kUdp, 1, "UDP_CORK"},
    {kUdp, 100, "UDP_ENCAP"},
    {kUdp, 101, "UDP_NO_CHECK6_TX"},
    {kUdp, 102, "UDP_NO_CHECK6_RX"},
    {kUdp, 103, "UDP_SEGMENT"},
    {kUdp, 104, "UDP_GRO"},
    // vsock(7), include/uapi/linux/vm_sockets.h
    {kVsock, 0, "SO_VM_SOCKETS_BUFFER_SIZE"},
    {kVsock, 1, "SO_VM_SOCKETS_BUFFER_MIN_SIZE"},
    {kVsock, 2, "SO_VM_SOCKETS_BUFFER_MAX_SIZE"},
    {kVsock, 3, "SO_VM_SOCKETS_PEER_HOST_VM_ID", Use::kGet},
    {kVsock, 5, "SO_VM_SOCKETS_TRUSTED", Use::kGet},
    {kVsock, 6, "SO_VM_SOCKETS_CONNECT_TIMEOUT_OLD"},
    {kVsock, 7, "SO_VM_SOCKETS_NONBLOCK_TXRX"},
    {kVsock, 8, "SO_VM_SOCKETS_CONNECT_TIMEOUT_NEW"},
    // ipv6(7), include/uapi/linux/in6.h
    {kIpv6, 1, "IPV6_ADDRFORM"},
    {kIpv6, 2, "IPV6_2292PKTINFO"},
    {kIpv6, 3, "IPV6_2292HOPOPTS"},
    {kIpv6, 4, "IPV6_2292DSTOPTS"},
    {kIpv6, 5, "IPV6_2292RTHDR"},
    {kIpv6, 6, "IPV6_2292PKTOPTIONS"},
    {kIpv6, 7, "IPV6_CHECKSUM"},
    {kIpv6, 8, "IPV6_2292HOPLIMIT"},
    {kIpv6, 9, "IPV6_NEXTHOP", Use::kSet},
    {kIpv6, 11, "IPV6_FLOWINFO"},
    {kIpv6, 16, "IPV6_UNICAST_HOPS"},
    {kIpv6, 17, "IPV6_MULTICAST_IF"},
    {kIpv6, 18, "IPV6_MULTICAST_HOPS"},
    {kIpv6, 19, "IPV6_MULTICAST_LOOP"},
    {kIpv6, 20, "IPV6_ADD_MEMBERSHIP", Use::kSet},
    {kIpv6, 21, "IPV6_DROP_MEMBERSHIP", Use::kSet},
    {kIpv6, 22, "IPV6_ROUTER_ALERT"},
    {kIpv6, 23, "IPV6_MTU_DISCOVER"},
    {kIpv6, 24, "IPV6_MTU"},
    {kIpv6, 25, "IPV6_RECVERR"},
    {kIpv6, 26, "IPV6_V6ONLY"},
    {kIpv6, 27, "IPV6_JOIN_ANYCAST", Use::kSet},
    {kIpv6, 28, "IPV6_LEAVE_ANYCAST", Use::kSet},
    {kIpv6, 29, "IPV6_MULTICAST_ALL"},
    {kIpv6, 30, "IPV6_ROUTER_ALERT_ISOLATE"},
    {kIpv6, 31, "IPV6_RECVERR_RFC4884"},
    {kIpv6, 32, "IPV6_FLOWLABEL_MGR", Use::kGetInOut},
    {kIpv6, 33, "IPV6_FLOWINFO_SEND"},
    {kIpv6, 34, "IPV6_IPSEC_POLICY"},
    {kIpv6, 35, "IPV6_XFRM_POLICY"},
    {kIpv6, 36, "IPV6_HDRINCL"},
    {kIpv6, 42, "MCAST_JOIN_GROUP", Use::kSet},
    {kIpv6, 43, "MCAST_BLOCK_SOURCE", Use::kSet},
    {kIpv6, 44, "MCAST_UNBLOCK_SOURCE", Use::kSet},
    {kIpv6, 45, "MCAST_LEAVE_GROUP", Use::kSet},
    {kIpv6, 46, "MCAST_JOIN_SOURCE_GROUP", Use::kSet},
    {kIpv6, 47, "MCAST_LEAVE_SOURCE_GROUP", Use::kSet},
    {kIpv6, 48, "MCAST_MSFILTER", Use::kGetInOut},
    {kIpv6, 49, "IPV6_RECVPKTINFO"},
    {kIpv6, 50, "IPV6_PKTINFO"},
    {kIpv6, 51, "IPV6_RECVHOPLIMIT"},
    {kIpv6, 52, "IPV6_HOPLIMIT"},
    {kIpv6, 53, "IPV6_RECVHOPOPTS"},
    {kIpv6, 54, "IPV6_HOPOPTS"},
    {kIpv6, 55, "IPV6_RTHDRDSTOPTS"},
    {kIpv6, 56, "IPV6_RECVRTHDR"},
    {kIpv6, 57, "IPV6_RTHDR"},
    {kIpv6, 58, "IPV6_RECVDSTOPTS"},
    {kIpv6, 59, "IPV6_DSTOPTS"},
    {kIpv6, 60, "IPV6_RECVPATHMTU"},
    {kIpv6, 61, "IPV6_PATHMTU", Use::kGet},
    {kIpv6, 62, "IPV6_DONTFRAG"},
    {kIpv6, 64, "IP6T_SO_SET_REPLACE", Use::kRefused},
    {kIpv6, 65, "IP6T_SO_SET_ADD_COUNTERS", Use::kRefused},
    {kIpv6, 66, "IPV6_RECVTCLASS"},
    {kIpv6, 67, "IPV6_TCLASS"},
    {kIpv6, 68, "IP6T_SO_GET_REVISION_MATCH", Use::kRefused},
    {kIpv6, 69, "IP6T_SO_GET_REVISION_TARGET", Use::kRefused},
    {kIpv6, 70, "IPV6_AUTOFLOWLABEL"},
    {kIpv6, 72, "IPV6_ADDR_PREFERENCES"},
    {kIpv6, 73, "IPV6_MINHOPCOUNT"},
    {kIpv6, 74, "IPV6_RECVORIGDSTADDR"},
    {kIpv6, 75, "IPV6_TRANSPARENT"},
    {kIpv6, 76, "IPV6_UNICAST_IF"},
    {kIpv6, 77, "IPV6_RECVFRAGSIZE"},
    {kIpv6, 78, "IPV6_FREEBIND"},
    {kIpv6, 80, "IP6T_SO_ORIGINAL_DST", Use::kGet},
    // raw(7), include/uapi/linux/icmp.h, icmpv6.h
    {kRaw, 1, "ICMP_FILTER"},
    {kIcmpv6, 1, "ICMPV6_FILTER"},
    // packet(7), include/uapi/linux/if_packet.h. The rings are memory shared with the kernel.
    {kPacket, 1, "PACKET_ADD_MEMBERSHIP", Use::kSet},
    {kPacket, 2, "PACKET_DROP_MEMBERSHIP", Use::kSet},
    {kPacket, 5, "PACKET_RX_RING", Use::kRefused},
    {kPacket, 6, "PACKET_STATISTICS", Use::kGet},
    {kPacket, 7, "PACKET_COPY_THRESH", Use::kSet},
    {kPacket, 8, "PACKET_AUXDATA"},
    {kPacket, 9, "PACKET_ORIGDEV"},
    {kPacket, 10, "PACKET_VERSION"},
    {kPacket, 11, "PACKET_HDRLEN", Use::kGetInOut},
    {kPacket, 12, "PACKET_RESERVE"},
    {kPacket, 13, "PACKET_TX_RING", Use::kRefused},
    {kPacket, 14, "PACKET_LOSS"},
    {kPacket, 15, "PACKET_VNET_HDR"},
    {kPacket, 17, "PACKET_TIMESTAMP"},
    {kPacket, 18, "PACKET_FANOUT"},
    {kPacket, 19, "PACKET_TX_HAS_OFF"},
    {kPacket, 20, "PACKET_QDISC_BYPASS"},
    {kPacket, 21, "PACKET_ROLLOVER_STATS", Use::kGet},
    {kPacket, 22, "PACKET_FANOUT_DATA", Use::kSet},
    {kPacket, 23, "PACKET_IGNORE_OUTGOING"},
    {kPacket, 24, "PACKET_VNET_HDR_SZ"},
    // netlink(7), include/uapi/linux/netlink.h
    {kNetlink, 1, "NETLINK_ADD_MEMBERSHIP", Use::kSet},
    {kNetlink, 2, "NETLINK_DROP_MEMBERSHIP", Use::kSet},
    {kNetlink, 3, "NETLINK_PKTINFO"},
    {kNetlink, 4, "NETLINK_BROADCAST_ERROR"},
    {kNetlink, 5, "NETLINK_NO_ENOBUFS"},
    {kNetlink, 6, "NETLINK_RX_RING", Use::kRefused},
    {kNetlink, 7, "NETLINK_TX_RING", Use::kRefused},
    {kNetlink, 8, "NETLINK_LISTEN_ALL_NSID", Use::kSet},
    {kNetlink, 9, "NETLINK_LIST_MEMBERSHIPS", Use::kGet},
    {kNetlink, 10, "NETLINK_CAP_ACK"},
    {kNetlink, 11, "NETLINK_EXT_ACK"},
    {kNetlink, 12, "NETLINK_GET_STRICT_CHK"},
    // include/uapi/linux/if_alg.h
    {kAlg, 1, "ALG_SET_KEY", Use::kSet},
    {kAlg, 5, "ALG_SET_AEAD_AUTHSIZE", Use::kSet},
    {kAlg, 6, "ALG_SET_DRBG_ENTROPY", Use::kSet},
    {kAlg, 7, "ALG_SET_KEY_BY_KEY_SERIAL", Use::kSet},
    // include/uapi/linux/tls.h
    {kTls, 1, "TLS_TX"},
    {kTls, 2, "TLS_RX"},
    {kTls, 3, "TLS_TX_ZEROCOPY_RO"},
    {kTls, 4, "TLS_RX_EXPECT_NO_PAD"},
    {kTls, 5, "TLS_TX_MAX_PAYLOAD_LEN"},
    // include/uapi/linux/if_xdp.h: rings of memory shared with the kernel.
    {kXdp, 2, "XDP_RX_RING", Use::kRefused},
    {kXdp, 3, "XDP_TX_RING", Use::kRefused},
    {kXdp, 4, "XDP_UMEM_REG", Use::kRefused},
    // include/uapi/linux/mptcp.h
    {kMptcp, 1, "MPTCP_INFO", Use::kGet},
    {kMptcp, 2, "MPTCP_TCPINFO", Use::kGetInOut},
    {kMptcp, 3, "MPTCP_SUBFLOW_ADDRS", Use::kGetInOut},
    {kMptcp, 4, "MPTCP_FULL_INFO", Use::kRefused},  // has pointers inside
};
constexpr std::size_t kOptionCount = sizeof(kOptions) / sizeof(kOptions[0]);

constexpr std::uint8_t kValueArg = 3;
constexpr std::uint8_t kLengthArg = 4;

constexpr CommandRow row_of(const Option& option, bool set) {
  CommandRow row;
  row.key = std::uint64_t{option.level} << 32 | option.number;
  for (std::size_t i = 0; i < sizeof(option.name); ++i) row.name[i] = option.name[i];
  if (option.use == Use::kRefused) {
    row.error = static_cast<std::int16_t>(option.error);
    return row;
  }
  if (set) {
    if (option.use == Use::kGet || option.use == Use::kGetFd) {
      row.error = ENOPROTOOPT;
      return row;
    }
    row.klass = Class::kDirect;
    row.args[0] = in_by(kLengthArg);
    return row;
  }
  if (option.use == Use::kSet) {
    row.error = ENOPROTOOPT;
    return row;
  }
  row.klass = Class::kDirect;
  row.args[0] = option.use == Use::kGetInOut ? inout_as(Length::kPointee, kLengthArg)
                                             : out_as(Length::kPointee, kLengthArg);
  if (option.use == Use::kGetFilter) row.args[0].size = 8;
  if (option.use == Use::kGetFd) {
    row.creates = Creates::kPointee;
    row.creates_arg = kValueArg;
  }
  return row;
}

constexpr Sorted<kOptionCount> sorted_rows(bool set) {
  CommandRow rows[kOptionCount] = {};
  for (std::size_t i = 0; i < kOptionCount; ++i) rows[i] = row_of(kOptions[i], set);
  return sorted(rows);
}

constexpr Sorted<kOptionCount> kSetsockopt = sorted_rows(true);
constexpr Sorted<kOptionCount> kGetsockopt = sorted_rows(false);
static_assert(!kSetsockopt.has_duplicates());

}  // namespace

CommandTable setsockopt_commands() { return kSetsockopt.table(); }
CommandTable getsockopt_commands() { return kGetsockopt.table(); }

}  // namespace detrec::syscalls
