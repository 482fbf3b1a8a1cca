// Requests of ioctl.
//
// Requests of the encoded form (_IO, _IOR, _IOW, _IOWR of asm-generic/ioctl.h) are written with the helpers
// below, from the letter, the number and the size of the structure. Some headers have directions or sizes
// that are not what the kernel does; the argument in the row is what it does.
#include "trace/syscalls/build_commands.h"

namespace detrec::syscalls {
namespace {

using namespace build;

constexpr std::uint64_t io(std::uint32_t type, std::uint32_t number) { return type << 8 | number; }
constexpr std::uint64_t iow(std::uint32_t type, std::uint32_t number, std::uint32_t size) {
  return std::uint32_t{1} << 30 | size << 16 | type << 8 | number;
}
constexpr std::uint64_t ior(std::uint32_t type, std::uint32_t number, std::uint32_t size) {
  return std::uint32_t{2} << 30 | size << 16 | type << 8 | number;
}
constexpr std::uint64_t iowr(std::uint32_t type, std::uint32_t number, std::uint32_t size) {
  return std::uint32_t{3} << 30 | size << 16 | type << 8 | number;
}

constexpr Arg kByRequest{ArgKind::kByRequest, Length::kRequest};
constexpr Arg kNestedIn = in_as(Length::kNested);
constexpr Arg kNestedInOut = inout_as(Length::kNested);

constexpr Subject kOnDescriptors = Subject::kDescriptors;

// Sizes of structures that many requests share.
constexpr std::size_t kTermios = 36;
constexpr std::size_t kTermios2 = 44;
constexpr std::size_t kTermio = 18;
constexpr std::size_t kIfreq = 40;
constexpr std::size_t kArpreq = 68;

constexpr CommandRow kIoctlRows[] = {
    // Terminals: ioctl_tty(2), asm-generic/ioctls.h, asm-generic/termbits.h, linux/serial.h.
    pass(0x5401, "TCGETS", {out(kTermios)}),
    pass(0x5402, "TCSETS", {in(kTermios)}),
    wait(0x5403, "TCSETSW", {in(kTermios)}),
    wait(0x5404, "TCSETSF", {in(kTermios)}),
    pass(0x5405, "TCGETA", {out(kTermio)}),
    pass(0x5406, "TCSETA", {in(kTermio)}),
    wait(0x5407, "TCSETAW", {in(kTermio)}),
    wait(0x5408, "TCSETAF", {in(kTermio)}),
    wait(0x5409, "TCSBRK", {kInt}),
    pass(0x540a, "TCXONC", {kInt}),
    pass(0x540b, "TCFLSH", {kInt}),
    pass(0x540c, "TIOCEXCL"),
    pass(0x540d, "TIOCNXCL"),
    pass(0x540e, "TIOCSCTTY", {kInt}),
    pass(0x540f, "TIOCGPGRP", {out(4)}),
    pass(0x5410, "TIOCSPGRP", {in(4)}),
    pass(0x5411, "TIOCOUTQ", {out(4)}),
    pass(0x5412, "TIOCSTI", {in(1)}),
    pass(0x5413, "TIOCGWINSZ", {out(8)}),
    pass(0x5414, "TIOCSWINSZ", {in(8)}),
    pass(0x5415, "TIOCMGET", {out(4)}),
    pass(0x5416, "TIOCMBIS", {in(4)}),
    pass(0x5417, "TIOCMBIC", {in(4)}),
    pass(0x5418, "TIOCMSET", {in(4)}),
    pass(0x5419, "TIOCGSOFTCAR", {out(4)}),
    pass(0x541a, "TIOCSSOFTCAR", {in(4)}),
    pass(0x541b, "FIONREAD", {out(4)}),
    refuse(EINVAL, 0x541c, "TIOCLINUX", {kAddress}),
    pass(0x541d, "TIOCCONS"),
    pass(0x541e, "TIOCGSERIAL", {out(72)}),
    pass(0x541f, "TIOCSSERIAL", {in(72)}),
    pass(0x5420, "TIOCPKT", {in(4)}),
    pass(0x5421, "FIONBIO", {in(4)}),
    pass(0x5422, "TIOCNOTTY"),
    pass(0x5423, "TIOCSETD", {in(4)}),
    pass(0x5424, "TIOCGETD", {out(4)}),
    wait(0x5425, "TCSBRKP", {kInt}),
    pass(0x5427, "TIOCSBRK"),
    pass(0x5428, "TIOCCBRK"),
    pass(0x5429, "TIOCGSID", {out(4)}),
    pass(ior('T', 0x2a, 44), "TCGETS2", {out(kTermios2)}),
    pass(iow('T', 0x2b, 44), "TCSETS2", {in(kTermios2)}),
    wait(iow('T', 0x2c, 44), "TCSETSW2", {in(kTermios2)}),
    wait(iow('T', 0x2d, 44), "TCSETSF2", {in(kTermios2)}),
    pass(0x542e, "TIOCGRS485", {out(32)}),
    pass(0x542f, "TIOCSRS485", {inout(32)}),
    pass(ior('T', 0x30, 4), "TIOCGPTN", {out(4)}),
    pass(iow('T', 0x31, 4), "TIOCSPTLCK", {in(4)}),
    pass(ior('T', 0x32, 4), "TIOCGDEV", {out(4)}),
    pass(iow('T', 0x36, 4), "TIOCSIG", {kSignal}),
    pass(0x5437, "TIOCVHANGUP"),
    pass(ior('T', 0x38, 4), "TIOCGPKT", {out(4)}),
    pass(ior('T', 0x39, 4), "TIOCGPTLCK", {out(4)}),
    pass(ior('T', 0x40, 4), "TIOCGEXCL", {out(4)}),
    pass(io('T', 0x41), "TIOCGPTPEER", {kFlags}).creates_fd(),
    handle(kOnDescriptors, 0x5450, "FIONCLEX"),
    handle(kOnDescriptors, 0x5451, "FIOCLEX"),
    pass(0x5452, "FIOASYNC", {in(4)}),
    pass(0x5456, "TIOCGLCKTRMIOS", {out(kTermios)}),
    pass(0x5457, "TIOCSLCKTRMIOS", {in(kTermios)}),
    pass(0x5459, "TIOCSERGETLSR", {out(4)}),
    wait(0x545c, "TIOCMIWAIT", {kFlags}),
    pass(0x545d, "TIOCGICOUNT", {out(80)}),
    pass(0x5460, "FIOQSIZE", {out(8)}),

    // Virtual consoles: ioctl_console(2), linux/kd.h, linux/vt.h.
    pass(0x4b2f, "KIOCSOUND", {kInt}),
    pass(0x4b30, "KDMKTONE", {kInt}),
    pass(0x4b31, "KDGETLED", {out(1)}),
    pass(0x4b32, "KDSETLED", {kInt}),
    pass(0x4b33, "KDGKBTYPE", {out(1)}),
    pass(0x4b3a, "KDSETMODE", {kInt}),
    pass(0x4b3b, "KDGETMODE", {out(4)}),
    pass(0x4b44, "KDGKBMODE", {out(4)}),
    pass(0x4b45, "KDSKBMODE", {kInt}),
    pass(0x4b62, "KDGKBMETA", {out(4)}),
    pass(0x4b63, "KDSKBMETA", {kInt}),
    pass(0x4b64, "KDGKBLED", {out(1)}),
    pass(0x4b65, "KDSKBLED", {kInt}),
    pass(0x5600, "VT_OPENQRY", {out(4)}),
    pass(0x5601, "VT_GETMODE", {out(8)}),
    pass(0x5602, "VT_SETMODE", {in(8)}),
    pass(0x5603, "VT_GETSTATE", {out(6)}),
    pass(0x5605, "VT_RELDISP", {kInt}),
    pass(0x5606, "VT_ACTIVATE", {kInt}),
    wait(0x5607, "VT_WAITACTIVE", {kInt}),
    pass(0x5608, "VT_DISALLOCATE", {kInt}),

    // Files and file systems: linux/fs.h, linux/fiemap.h, linux/fsmap.h, linux/fscrypt.h, linux/fsverity.h,
    // ioctl_ficlone(2), ioctl_fideduperange(2), ioctl_getfsmap(2), ioctl_fslabel(2), FS_IOC_SETFLAGS(2const).
    pass(io(0, 1), "FIBMAP", {inout(4)}),
    pass(io(0, 2), "FIGETBSZ", {out(4)}),
    pass(iowr('f', 11, 32), "FS_IOC_FIEMAP", {inout_as(Length::kNested, kNoArg, When::kAnyResult)}),
    pass(iow(0x94, 9, 4), "FICLONE", {kFd}),
    pass(iow(0x94, 13, 32), "FICLONERANGE", {in(32)}),
    pass(iowr(0x94, 54, 24), "FIDEDUPERANGE", {kNestedInOut}),
    pass(iowr('X', 119, 4), "FIFREEZE"),
    pass(iowr('X', 120, 4), "FITHAW"),
    pass(iowr('X', 121, 24), "FITRIM", {inout(24)}),
    pass(ior('f', 1, 8), "FS_IOC_GETFLAGS", {out(4)}),  // the header says long; the kernel writes an int
    pass(iow('f', 2, 8), "FS_IOC_SETFLAGS", {in(4)}),
    pass(ior('v', 1, 8), "FS_IOC_GETVERSION", {out(4)}),
    pass(iow('v', 2, 8), "FS_IOC_SETVERSION", {in(4)}),
    pass(ior('X', 31, 28), "FS_IOC_FSGETXATTR", {out(28)}),
    pass(iow('X', 32, 28), "FS_IOC_FSSETXATTR", {in(28)}),
    pass(iow('X', 40, 48), "FS_IOC_RESVSP", {in(48)}),
    pass(iow('X', 41, 48), "FS_IOC_UNRESVSP", {in(48)}),
    pass(iow('X', 42, 48), "FS_IOC_RESVSP64", {in(48)}),
    pass(iow('X', 43, 48), "FS_IOC_UNRESVSP64", {in(48)}),
    pass(iow('X', 57, 48), "FS_IOC_ZERO_RANGE", {in(48)}),
    pass(iowr('X', 59, 192), "FS_IOC_GETFSMAP", {kNestedInOut}),
    pass(ior(0x94, 49, 256), "FS_IOC_GETFSLABEL", {out(256)}),
    pass(iow(0x94, 50, 256), "FS_IOC_SETFSLABEL", {in(256)}),
    pass(ior(0x15, 0, 17), "FS_IOC_GETFSUUID", {out(17)}),
    pass(ior(0x15, 1, 129), "FS_IOC_GETFSSYSFSPATH", {out(129)}),
    // The guest's maps are not the kernel's.
    refuse(ENOTTY, iowr('f', 16, 96), "PAGEMAP_SCAN", {kAddress}),
    refuse(ENOTTY, iowr('f', 17, 104), "PROCMAP_QUERY", {kAddress}),
    // What file systems without encryption and verity answer.
    refuse(EOPNOTSUPP, ior('f', 19, 12), "FS_IOC_SET_ENCRYPTION_POLICY", {in(12)}),
    refuse(EOPNOTSUPP, iow('f', 20, 16), "FS_IOC_GET_ENCRYPTION_PWSALT", {out(16)}),
    refuse(EOPNOTSUPP, iow('f', 21, 12), "FS_IOC_GET_ENCRYPTION_POLICY", {out(12)}),
    refuse(EOPNOTSUPP, iowr('f', 22, 9), "FS_IOC_GET_ENCRYPTION_POLICY_EX", {kAddress}),
    refuse(EOPNOTSUPP, iowr('f', 23, 80), "FS_IOC_ADD_ENCRYPTION_KEY", {kAddress}),
    refuse(EOPNOTSUPP, iowr('f', 24, 64), "FS_IOC_REMOVE_ENCRYPTION_KEY", {inout(64)}),
    refuse(EOPNOTSUPP, iowr('f', 26, 128), "FS_IOC_GET_ENCRYPTION_KEY_STATUS", {inout(128)}),
    refuse(EOPNOTSUPP, ior('f', 27, 16), "FS_IOC_GET_ENCRYPTION_NONCE", {out(16)}),
    refuse(EOPNOTSUPP, iow('f', 133, 128), "FS_IOC_ENABLE_VERITY", {in(128)}),
    refuse(EOPNOTSUPP, iowr('f', 134, 4), "FS_IOC_MEASURE_VERITY", {kAddress}),
    refuse(EOPNOTSUPP, iowr('f', 135, 40), "FS_IOC_READ_VERITY_METADATA", {kAddress}),
    // linux/msdos_fs.h
    pass(ior('r', 1, 560), "VFAT_IOCTL_READDIR_BOTH", {out(560)}),
    pass(ior('r', 2, 560), "VFAT_IOCTL_READDIR_SHORT", {out(560)}),
    pass(ior('r', 0x10, 4), "FAT_IOCTL_GET_ATTRIBUTES", {out(4)}),
    pass(iow('r', 0x11, 4), "FAT_IOCTL_SET_ATTRIBUTES", {in(4)}),
    pass(ior('r', 0x13, 4), "FAT_IOCTL_GET_VOLUME_ID", {out(4)}),
    // linux/inotify... : inotify(7), epoll(7), timerfd_create(2)
    pass(iow('I', 0, 4), "INOTIFY_IOC_SETNEXTWD", {kInt}),
    pass(iow(0x8a, 1, 8), "EPIOCSPARAMS", {in(8)}),
    pass(ior(0x8a, 2, 8), "EPIOCGPARAMS", {out(8)}),
    pass(iow('T', 0, 8), "TFD_IOC_SET_TICKS", {in(8)}),

    // Namespaces and process descriptors: ioctl_nsfs(2), linux/nsfs.h, linux/pidfd.h.
    pass(io(0xb7, 1), "NS_GET_USERNS").creates_fd(),
    pass(io(0xb7, 2), "NS_GET_PARENT").creates_fd(),
    pass(io(0xb7, 3), "NS_GET_NSTYPE"),
    pass(io(0xb7, 4), "NS_GET_OWNER_UID", {out(4)}),
    pass(ior(0xb7, 5, 8), "NS_GET_MNTNS_ID", {out(8)}),
    pass(ior(0xb7, 6, 4), "NS_GET_PID_FROM_PIDNS", {kPid}),
    pass(ior(0xb7, 7, 4), "NS_GET_TGID_FROM_PIDNS", {kPid}),
    pass(ior(0xb7, 8, 4), "NS_GET_PID_IN_PIDNS", {kPid}),
    pass(ior(0xb7, 9, 4), "NS_GET_TGID_IN_PIDNS", {kPid}),
    pass(ior(0xb7, 10, 16), "NS_MNT_GET_INFO", {out(16)}),
    pass(ior(0xb7, 11, 16), "NS_MNT_GET_NEXT", {out(16)}).creates_fd(),
    pass(ior(0xb7, 12, 16), "NS_MNT_GET_PREV", {out(16)}).creates_fd(),
    pass(io(0xff, 1), "PIDFD_GET_CGROUP_NAMESPACE").creates_fd(),
    pass(io(0xff, 2), "PIDFD_GET_IPC_NAMESPACE").creates_fd(),
    pass(io(0xff, 3), "PIDFD_GET_MNT_NAMESPACE").creates_fd(),
    pass(io(0xff, 4), "PIDFD_GET_NET_NAMESPACE").creates_fd(),
    pass(io(0xff, 5), "PIDFD_GET_PID_NAMESPACE").creates_fd(),
    pass(io(0xff, 6), "PIDFD_GET_PID_FOR_CHILDREN_NS").creates_fd(),
    pass(io(0xff, 7), "PIDFD_GET_TIME_NAMESPACE").creates_fd(),
    pass(io(0xff, 8), "PIDFD_GET_TIME_FOR_CHILDREN_NS").creates_fd(),
    pass(io(0xff, 9), "PIDFD_GET_USER_NAMESPACE").creates_fd(),
    pass(io(0xff, 10), "PIDFD_GET_UTS_NAMESPACE").creates_fd(),
    pass(iowr(0xff, 11, 0), "PIDFD_GET_INFO", {kByRequest}).any_size(),

    // Sockets: linux/sockios.h, asm-generic/sockios.h, netdevice(7), arp(7), socket(7).
    pass(0x8901, "FIOSETOWN", {in(4)}),
    pass(0x8902, "SIOCSPGRP", {in(4)}),
    pass(0x8903, "FIOGETOWN", {out(4)}),
    pass(0x8904, "SIOCGPGRP", {out(4)}),
    pass(0x8905, "SIOCATMARK", {out(4)}),
    pass(0x8906, "SIOCGSTAMP_OLD", {out(16)}),
    pass(0x8907, "SIOCGSTAMPNS_OLD", {out(16)}),
    pass(ior(0x89, 6, 16), "SIOCGSTAMP_NEW", {out(16)}),
    pass(ior(0x89, 7, 16), "SIOCGSTAMPNS_NEW", {out(16)}),
    pass(0x890b, "SIOCADDRT", {in(120)}),
    pass(0x890c, "SIOCDELRT", {in(120)}),
    pass(0x8910, "SIOCGIFNAME", {inout(kIfreq)}),
    pass(0x8911, "SIOCSIFLINK", {in(kIfreq)}),
    pass(0x8912, "SIOCGIFCONF", {kNestedInOut}),
    pass(0x8913, "SIOCGIFFLAGS", {inout(kIfreq)}),
    pass(0x8914, "SIOCSIFFLAGS", {in(kIfreq)}),
    pass(0x8915, "SIOCGIFADDR", {inout(kIfreq)}),
    pass(0x8916, "SIOCSIFADDR", {in(kIfreq)}),
    pass(0x8917, "SIOCGIFDSTADDR", {inout(kIfreq)}),
    pass(0x8918, "SIOCSIFDSTADDR", {in(kIfreq)}),
    pass(0x8919, "SIOCGIFBRDADDR", {inout(kIfreq)}),
    pass(0x891a, "SIOCSIFBRDADDR", {in(kIfreq)}),
    pass(0x891b, "SIOCGIFNETMASK", {inout(kIfreq)}),
    pass(0x891c, "SIOCSIFNETMASK", {in(kIfreq)}),
    pass(0x891d, "SIOCGIFMETRIC", {inout(kIfreq)}),
    pass(0x891e, "SIOCSIFMETRIC", {in(kIfreq)}),
    pass(0x891f, "SIOCGIFMEM", {inout(kIfreq)}),
    pass(0x8920, "SIOCSIFMEM", {in(kIfreq)}),
    pass(0x8921, "SIOCGIFMTU", {inout(kIfreq)}),
    pass(0x8922, "SIOCSIFMTU", {in(kIfreq)}),
    pass(0x8923, "SIOCSIFNAME", {in(kIfreq)}),
    pass(0x8924, "SIOCSIFHWADDR", {in(kIfreq)}),
    pass(0x8925, "SIOCGIFENCAP", {inout(kIfreq)}),
    pass(0x8926, "SIOCSIFENCAP", {in(kIfreq)}),
    pass(0x8927, "SIOCGIFHWADDR", {inout(kIfreq)}),
    pass(0x8929, "SIOCGIFSLAVE", {inout(kIfreq)}),
    pass(0x8930, "SIOCSIFSLAVE", {in(kIfreq)}),
    pass(0x8931, "SIOCADDMULTI", {in(kIfreq)}),
    pass(0x8932, "SIOCDELMULTI", {in(kIfreq)}),
    pass(0x8933, "SIOCGIFINDEX", {inout(kIfreq)}),
    pass(0x8934, "SIOCSIFPFLAGS", {in(kIfreq)}),
    pass(0x8935, "SIOCGIFPFLAGS", {inout(kIfreq)}),
    pass(0x8936, "SIOCDIFADDR", {in(kIfreq)}),
    pass(0x8937, "SIOCSIFHWBROADCAST", {in(kIfreq)}),
    pass(0x8938, "SIOCGIFCOUNT", {inout(kIfreq)}),
    // Pointers inside; the answers are those of a device without the facility.
    refuse(EOPNOTSUPP, 0x8940, "SIOCGIFBR", {kAddress}),
    refuse(EOPNOTSUPP, 0x8941, "SIOCSIFBR", {kAddress}),
    pass(0x8942, "SIOCGIFTXQLEN", {inout(kIfreq)}),
    pass(0x8943, "SIOCSIFTXQLEN", {in(kIfreq)}),
    refuse(EOPNOTSUPP, 0x8946, "SIOCETHTOOL", {kAddress}),
    pass(0x8947, "SIOCGMIIPHY", {inout(kIfreq)}),
    pass(0x8948, "SIOCGMIIREG", {inout(kIfreq)}),
    pass(0x8949, "SIOCSMIIREG", {in(kIfreq)}),
    pass(0x894a, "SIOCWANDEV", {inout(kIfreq)}),
    pass(0x894b, "SIOCOUTQNSD", {out(4)}),
    pass(0x894c, "SIOCGSKNS").creates_fd(),
    pass(0x8953, "SIOCDARP", {in(kArpreq)}),
    pass(0x8954, "SIOCGARP", {inout(kArpreq)}),
    pass(0x8955, "SIOCSARP", {in(kArpreq)}),
    pass(0x8970, "SIOCGIFMAP", {inout(kIfreq)}),
    pass(0x8971, "SIOCSIFMAP", {in(kIfreq)}),
    refuse(EOPNOTSUPP, 0x8982, "SIOCGIFVLAN", {kAddress}),
    refuse(EOPNOTSUPP, 0x8983, "SIOCSIFVLAN", {kAddress}),
    refuse(EOPNOTSUPP, 0x8990, "SIOCBONDENSLAVE", {kAddress}),
    refuse(EOPNOTSUPP, 0x8991, "SIOCBONDRELEASE", {kAddress}),
    refuse(EOPNOTSUPP, 0x8993, "SIOCBONDSLAVEINFOQUERY", {kAddress}),
    refuse(EOPNOTSUPP, 0x8994, "SIOCBONDINFOQUERY", {kAddress}),
    refuse(EOPNOTSUPP, 0x89a0, "SIOCBRADDBR", {kAddress}),
    refuse(EOPNOTSUPP, 0x89a1, "SIOCBRDELBR", {kAddress}),
    refuse(EOPNOTSUPP, 0x89a2, "SIOCBRADDIF", {kAddress}),
    refuse(EOPNOTSUPP, 0x89a3, "SIOCBRDELIF", {kAddress}),
    refuse(EOPNOTSUPP, 0x89b0, "SIOCSHWTSTAMP", {kAddress}),
    refuse(EOPNOTSUPP, 0x89b1, "SIOCGHWTSTAMP", {kAddress}),
    refuse(EOPNOTSUPP, 0x89e0, "SIOCUNIXFILE"),
    // linux/wireless.h, of which programs ask each interface for its name to see whether it is wireless.
    refuse(EOPNOTSUPP, 0x8b01, "SIOCGIWNAME", {kAddress}),
    refuse(EOPNOTSUPP, 0x8b1b, "SIOCGIWESSID", {kAddress}),
    // linux/if_tun.h
    pass(iow('T', 202, 4), "TUNSETIFF", {inout(kIfreq)}),
    pass(iow('T', 203, 4), "TUNSETPERSIST", {kInt}),
    pass(iow('T', 204, 4), "TUNSETOWNER", {kUserId}),
    pass(iow('T', 206, 4), "TUNSETGROUP", {kUserId}),
    pass(ior('T', 207, 4), "TUNGETFEATURES", {out(4)}),
    pass(iow('T', 208, 4), "TUNSETOFFLOAD", {kFlags}),
    pass(ior('T', 210, 4), "TUNGETIFF", {out(kIfreq)}),
    pass(ior('T', 211, 4), "TUNGETSNDBUF", {out(4)}),
    pass(iow('T', 212, 4), "TUNSETSNDBUF", {in(4)}),
    pass(ior('T', 215, 4), "TUNGETVNETHDRSZ", {out(4)}),
    pass(iow('T', 216, 4), "TUNSETVNETHDRSZ", {in(4)}),
    pass(iow('T', 217, 4), "TUNSETQUEUE", {in(kIfreq)}),

    // Block devices: linux/fs.h, linux/blkpg.h, linux/hdreg.h, linux/cdrom.h, scsi/sg.h.
    pass(0x125d, "BLKROSET", {in(4)}),
    pass(0x125e, "BLKROGET", {out(4)}),
    pass(0x125f, "BLKRRPART"),
    pass(0x1260, "BLKGETSIZE", {out(8)}),
    pass(0x1261, "BLKFLSBUF"),
    pass(0x1262, "BLKRASET", {kWord}),
    pass(0x1263, "BLKRAGET", {out(8)}),
    pass(0x1264, "BLKFRASET", {kWord}),
    pass(0x1265, "BLKFRAGET", {out(8)}),
    pass(0x1267, "BLKSECTGET", {out(2)}),
    pass(0x1268, "BLKSSZGET", {out(4)}),
    refuse(EINVAL, 0x1269, "BLKPG", {kAddress}),
    pass(ior(0x12, 112, 8), "BLKBSZGET", {out(4)}),  // the header says size_t; the kernel writes an int
    pass(iow(0x12, 113, 8), "BLKBSZSET", {in(4)}),
    pass(ior(0x12, 114, 8), "BLKGETSIZE64", {out(8)}),
    pass(0x1277, "BLKDISCARD", {in(16)}),
    pass(0x1278, "BLKIOMIN", {out(4)}),
    pass(0x1279, "BLKIOOPT", {out(4)}),
    pass(0x127a, "BLKALIGNOFF", {out(4)}),
    pass(0x127b, "BLKPBSZGET", {out(4)}),
    pass(0x127c, "BLKDISCARDZEROES", {out(4)}),
    pass(0x127d, "BLKSECDISCARD", {in(16)}),
    pass(0x127e, "BLKROTATIONAL", {out(2)}),
    pass(0x127f, "BLKZEROOUT", {in(16)}),
    pass(ior(0x12, 128, 8), "BLKGETDISKSEQ", {out(8)}),
    pass(ior(0x12, 132, 4), "BLKGETZONESZ", {out(4)}),
    pass(ior(0x12, 133, 4), "BLKGETNRZONES", {out(4)}),
    pass(0x0301, "HDIO_GETGEO", {out(16)}),
    pass(0x030d, "HDIO_GET_IDENTITY", {out(512)}),
    pass(0x5309, "CDROMEJECT"),
    pass(0x5326, "CDROM_DRIVE_STATUS", {kInt}),
    pass(0x5327, "CDROM_DISC_STATUS"),
    pass(0x5329, "CDROM_LOCKDOOR", {kInt}),
    pass(0x5331, "CDROM_GET_CAPABILITY"),
    pass(0x2282, "SG_GET_VERSION_NUM", {out(4)}),
    refuse(ENOTTY, 0x2285, "SG_IO", {kAddress}),  // pointers inside
    pass(0x5382, "SCSI_IOCTL_GET_IDLUN", {out(8)}),
    pass(0x5386, "SCSI_IOCTL_GET_BUS_NUMBER", {out(4)}),
    // loop(4), linux/loop.h
    pass(0x4c00, "LOOP_SET_FD", {kFd}),
    pass(0x4c01, "LOOP_CLR_FD"),
    pass(0x4c02, "LOOP_SET_STATUS", {in(168)}),
    pass(0x4c03, "LOOP_GET_STATUS", {out(168)}),
    pass(0x4c04, "LOOP_SET_STATUS64", {in(232)}),
    pass(0x4c05, "LOOP_GET_STATUS64", {out(232)}),
    pass(0x4c06, "LOOP_CHANGE_FD", {kFd}),
    pass(0x4c07, "LOOP_SET_CAPACITY"),
    pass(0x4c08, "LOOP_SET_DIRECT_IO", {kInt}),
    pass(0x4c09, "LOOP_SET_BLOCK_SIZE", {kWord}),
    pass(0x4c0a, "LOOP_CONFIGURE", {in(304)}),
    pass(0x4c80, "LOOP_CTL_ADD", {kInt}),
    pass(0x4c81, "LOOP_CTL_REMOVE", {kInt}),
    pass(0x4c82, "LOOP_CTL_GET_FREE"),

    // rtc(4), linux/rtc.h
    pass(io('p', 1), "RTC_AIE_ON"),
    pass(io('p', 2), "RTC_AIE_OFF"),
    pass(io('p', 3), "RTC_UIE_ON"),
    pass(io('p', 4), "RTC_UIE_OFF"),
    pass(io('p', 5), "RTC_PIE_ON"),
    pass(io('p', 6), "RTC_PIE_OFF"),
    pass(io('p', 15), "RTC_WIE_ON"),
    pass(io('p', 16), "RTC_WIE_OFF"),
    pass(iow('p', 7, 36), "RTC_ALM_SET", {in(36)}),
    pass(ior('p', 8, 36), "RTC_ALM_READ", {out(36)}),
    pass(ior('p', 9, 36), "RTC_RD_TIME", {out(36)}),
    pass(iow('p', 10, 36), "RTC_SET_TIME", {in(36)}),
    pass(ior('p', 11, 8), "RTC_IRQP_READ", {out(8)}),
    pass(iow('p', 12, 8), "RTC_IRQP_SET", {kWord}),
    pass(ior('p', 13, 8), "RTC_EPOCH_READ", {out(8)}),
    pass(iow('p', 14, 8), "RTC_EPOCH_SET", {kWord}),
    pass(iow('p', 15, 40), "RTC_WKALM_SET", {in(40)}),
    pass(ior('p', 16, 40), "RTC_WKALM_RD", {out(40)}),
    pass(ior('p', 19, 4), "RTC_VL_READ", {out(4)}),
    pass(io('p', 20), "RTC_VL_CLR"),
    pass(iow('p', 19, 24), "RTC_PARAM_GET", {inout(24)}),
    pass(iow('p', 20, 24), "RTC_PARAM_SET", {in(24)}),
    // random(4), linux/random.h
    pass(ior('R', 0, 4), "RNDGETENTCNT", {out(4)}),
    pass(iow('R', 1, 4), "RNDADDTOENTCNT", {in(4)}),
    refuse(EINVAL, ior('R', 2, 8), "RNDGETPOOL", {kAddress}),  // gone since 2.6.9
    pass(iow('R', 3, 8), "RNDADDENTROPY", {kNestedIn}),
    pass(io('R', 4), "RNDZAPENTCNT"),
    pass(io('R', 6), "RNDCLEARPOOL"),
    pass(io('R', 7), "RNDRESEEDCRNG"),
    // linux/watchdog.h
    pass(ior('W', 0, 40), "WDIOC_GETSUPPORT", {out(40)}),
    pass(ior('W', 1, 4), "WDIOC_GETSTATUS", {out(4)}),
    pass(ior('W', 2, 4), "WDIOC_GETBOOTSTATUS", {out(4)}),
    pass(ior('W', 3, 4), "WDIOC_GETTEMP", {out(4)}),
    pass(ior('W', 4, 4), "WDIOC_SETOPTIONS", {in(4)}),
    pass(ior('W', 5, 4), "WDIOC_KEEPALIVE"),
    pass(iowr('W', 6, 4), "WDIOC_SETTIMEOUT", {inout(4)}),
    pass(ior('W', 7, 4), "WDIOC_GETTIMEOUT", {out(4)}),
    // linux/input.h, where the header's directions are wrong
    pass(ior('E', 4, 8), "EVIOCGKEYCODE", {inout(8)}),
    pass(ior('E', 4, 40), "EVIOCGKEYCODE_V2", {inout(40)}),
    pass(ior('E', 10, 0), "EVIOCGMTSLOTS", {memory(ArgKind::kInOut, Length::kRequest, 0)}).any_size(),
    pass(iow('E', 128, 48), "EVIOCSFF", {inout(48)}),
    pass(iow('E', 129, 4), "EVIOCRMFF", {kInt}),
    pass(iow('E', 144, 4), "EVIOCGRAB", {kInt}),
    pass(iow('E', 145, 4), "EVIOCREVOKE", {kInt}),
    refuse(EINVAL, ior('E', 146, 16), "EVIOCGMASK", {kAddress}),  // pointers inside
    refuse(EINVAL, iow('E', 147, 16), "EVIOCSMASK", {kAddress}),

    // What makes memory change by itself, or has no known end.
    refuse(ENOTTY, iowr(0xaa, 0x3f, 24), "UFFDIO_API", {kAddress}),
    refuse(ENOTTY, iowr(0xaa, 0x00, 32), "UFFDIO_REGISTER", {kAddress}),
    refuse(ENOTTY, io(0xaa, 0x00), "USERFAULTFD_IOC_NEW", {kFlags}),
    refuse(ENOTTY, io(0xae, 0x00), "KVM_GET_API_VERSION"),
    refuse(ENOTTY, io(0xae, 0x01), "KVM_CREATE_VM", {kWord}),
    refuse(ENOTTY, io(0xae, 0x03), "KVM_CHECK_EXTENSION", {kWord}),
    refuse(ENOTTY, io(0xae, 0x04), "KVM_GET_VCPU_MMAP_SIZE"),
    refuse(ENOTTY, io(0xae, 0x41), "KVM_CREATE_VCPU", {kWord}),
    refuse(ENOTTY, io(0xae, 0x80), "KVM_RUN"),
    refuse(ENOTTY, iowr('d', 0, 64), "DRM_IOCTL_VERSION", {kAddress}),
};
constexpr Sorted kIoctl = sorted(kIoctlRows);
static_assert(!kIoctl.has_duplicates());

// Letters whose other requests are what their direction and size fields say, and letters that are refused as
// a whole because their structures have pointers inside or their memory is shared with a device.
constexpr CommandRow kFamilyRows[] = {
    pass('E', "evdev", {kByRequest}).with(kFamily),     // linux/input.h
    pass('j', "joystick", {kByRequest}).with(kFamily),  // linux/joystick.h
    pass('U', "uinput", {kByRequest}).with(kFamily),    // linux/uinput.h
    pass('H', "hidraw", {kByRequest}).with(kFamily),    // linux/hidraw.h
    refuse(ENOTTY, 'A', "sound pcm", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 'V', "video", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 'F', "frame buffer", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 'b', "binder, dma-buf", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 'd', "direct rendering", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 'u', "udmabuf, usb", {kByRequest}).with(kFamily),
    refuse(ENOTTY, '!', "seccomp notification", {kByRequest}).with(kFamily),
    refuse(ENOTTY, '$', "perf event", {kByRequest}).with(kFamily),
    refuse(ENOTTY, ';', "vfio, iommufd", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 0xaa, "userfaultfd", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 0xae, "kvm", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 0xaf, "vhost", {kByRequest}).with(kFamily),
    refuse(ENOTTY, 0xfd, "device mapper", {kByRequest}).with(kFamily),
};
constexpr Sorted kFamilies = sorted(kFamilyRows);
static_assert(!kFamilies.has_duplicates());

}  // namespace

CommandTable ioctl_commands() { return kIoctl.table(); }
CommandTable ioctl_families() { return kFamilies.table(); }

}  // namespace detrec::syscalls
