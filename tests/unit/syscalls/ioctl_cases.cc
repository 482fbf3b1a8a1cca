// Requests of ioctl.
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <linux/if.h>
#include <linux/random.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

using Argument = std::function<std::uint64_t(Arena&)>;

Argument room(std::size_t size) {
  return [size](Arena& arena) { return word(arena.out(size)); };
}

Case on_terminal(std::string name, unsigned long request, Argument argument, std::vector<int> lacking = {}) {
  return {std::move(name),
          [=](Arena& arena) {
            const Terminal terminal;
            if (write(terminal.master, "typed\n", 6) != 6) std::abort();
            Call one = call(SYS_ioctl, terminal.slave, request, argument(arena));
            one.clean_up = [terminal] { terminal.close(); };
            return one;
          },
          "", std::move(lacking)};
}

Case on_master(std::string name, unsigned long request, Argument argument, std::vector<int> lacking = {}) {
  return {std::move(name),
          [=](Arena& arena) {
            const Terminal terminal;
            Call one = call(SYS_ioctl, terminal.master, request, argument(arena));
            one.clean_up = [terminal] { terminal.close(); };
            return one;
          },
          "", std::move(lacking)};
}

Case on_path(std::string name, std::function<std::string()> path, int flags, unsigned long request,
             Argument argument, std::vector<int> lacking = {}) {
  lacking.push_back(EBADF);  // the file does not exist here, or is not ours
  return {std::move(name),
          [=](Arena& arena) {
            const int fd = open(path().c_str(), flags);
            Call one = call(SYS_ioctl, fd, request, argument(arena));
            one.clean_up = [fd] { close(fd); };
            return one;
          },
          "", std::move(lacking)};
}

Case on_data_file(std::string name, unsigned long request, Argument argument) {
  return on_path(std::move(name), [] { return data_path(); }, O_RDONLY, request, std::move(argument),
                 {ENOTTY, EOPNOTSUPP, EPERM});
}

template <std::size_t N>
struct Zeros {
  std::uint8_t bytes[N] = {};
};

// struct fiemap with room for so many extents, without the extents themselves.
void put_fiemap(Arena& arena, std::uint8_t* place, std::uint32_t room_for) {
  arena.set(place, Zeros<32>{});
  arena.set(place + 8, ~std::uint64_t{0});  // fm_length
  arena.set(place + 24, room_for);          // fm_extent_count
}

Case with_slack(Case one, std::string why) {
  one.slack = std::move(why);
  return one;
}

Case on_socket(std::string name, int family, unsigned long request, Argument argument,
               std::vector<int> lacking = {}) {
  return {std::move(name),
          [=](Arena& arena) {
            const Connection connection(family);
            if (write(connection.client, "sent", 4) != 4) std::abort();
            Call one = call(SYS_ioctl, connection.server, request, argument(arena));
            one.clean_up = [connection] { connection.close(); };
            return one;
          },
          "", std::move(lacking)};
}

// A request about the loopback interface: the name is given, the rest keeps the filling.
Case on_interface(std::string name, unsigned long request) {
  return on_socket(std::move(name), AF_INET, request,
                   [](Arena& arena) {
                     std::uint8_t* place = arena.out(64);
                     struct Name {
                       char text[16];
                     };
                     arena.hold(place, 40);  // the kernel copies all of it
                     arena.set(place, Name{"lo"});
                     return word(place);
                   },
                   {EOPNOTSUPP, ENOTTY, EINVAL, EADDRNOTAVAIL, EPERM});
}

// A block device that may be opened: a disk, or else an unbound loop device.
std::string disk() {
  for (const char* path : {"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0"}) {
    if (access(path, R_OK) == 0) return path;
  }
  return "/no disk";
}

std::string console() { return "/dev/tty0"; }

}  // namespace

std::vector<Case> ioctl_cases() {
  std::vector<Case> cases{
      on_terminal("tcgets", TCGETS, room(100)),
      on_terminal("tcgets2", 0x802c542a, room(100)),
      on_terminal("tcgeta", TCGETA, room(100)),
      on_terminal("tiocgwinsz", TIOCGWINSZ, room(100)),
      on_terminal("tiocoutq", TIOCOUTQ, room(100)),
      on_terminal("fionread_terminal", FIONREAD, room(100)),
      on_terminal("tiocgetd", TIOCGETD, room(100)),
      on_terminal("tiocgsoftcar", TIOCGSOFTCAR, room(100)),
      on_terminal("tiocgexcl", TIOCGEXCL, room(100)),
      on_terminal("tiocgdev", TIOCGDEV, room(100)),
      on_terminal("tiocglcktrmios", TIOCGLCKTRMIOS, room(100)),
      on_terminal("tiocgicount", TIOCGICOUNT, room(100), {EINVAL, ENOTTY}),
      on_terminal("tiocgserial", TIOCGSERIAL, room(100), {EINVAL, ENOTTY}),
      on_terminal("tcsets", TCSETS,
                  [](Arena& arena) {
                    struct Settings {
                      std::uint8_t bytes[36];
                    };
                    return word(arena.in(Settings{}));
                  }),
      on_master("tiocgptn", TIOCGPTN, room(100)),
      on_master("tiocgptlck", TIOCGPTLCK, room(100)),
      on_master("tiocgpkt", TIOCGPKT, room(100)),
      on_master("tiocgpgrp_master", TIOCGPGRP, room(100)),
      on_data_file("figetbsz", FIGETBSZ, room(100)),
      on_data_file("fioqsize", FIOQSIZE, room(100)),
      on_data_file("fionread_file", FIONREAD, room(100)),
      on_data_file("fs_getflags", FS_IOC_GETFLAGS, room(100)),
      on_data_file("fs_getversion", FS_IOC_GETVERSION, room(100)),
      on_data_file("fs_fsgetxattr", FS_IOC_FSGETXATTR, room(100)),
      with_slack(on_data_file("fs_getfslabel", FS_IOC_GETFSLABEL, room(400)),
                 "file systems with shorter labels write less"),
      on_data_file("fs_getfsuuid", 0x80111500, room(100)),
      on_data_file("fs_getfsmap", FS_IOC_GETFSMAP,
                   [](Arena& arena) {
                     std::uint8_t* place = arena.out(192 + 5 * 64);
                     arena.set(place, Zeros<192>{});
                     arena.set(place + 8, std::uint32_t{5});             // fmh_count
                     arena.set(place + 128, std::uint32_t{0xffffffff});  // fmh_keys[1].fmr_device
                     arena.set(place + 132, std::uint32_t{0xffffffff});  // fmr_flags
                     arena.set(place + 136, ~std::uint64_t{0});          // fmr_physical
                     arena.set(place + 144, ~std::uint64_t{0});          // fmr_owner
                     arena.set(place + 152, ~std::uint64_t{0});          // fmr_offset
                     return word(place);
                   }),
      on_data_file("fideduperange", FIDEDUPERANGE,
                   [](Arena& arena) {
                     std::uint8_t* place = arena.out(24 + 2 * 32);
                     arena.hold(place, 24 + 2 * 32);  // copied back as a whole
                     arena.set(place, std::uint64_t{0});
                     arena.set(place + 8, std::uint64_t{4096});
                     arena.set(place + 16, std::uint64_t{2});
                     for (int i = 0; i < 2; ++i) {
                       arena.set(place + 24 + 32 * i, std::int64_t{-1});
                       arena.set(place + 48 + 32 * i, std::uint64_t{0});
                     }
                     return word(place);
                   }),
      on_data_file("fibmap", FIBMAP, [](Arena& arena) { return word(arena.in(0)); }),
      on_data_file("fiemap", FS_IOC_FIEMAP,
                   [](Arena& arena) {
                     std::uint8_t* place = arena.out(32 + 10 * 56);
                     put_fiemap(arena, place, 10);
                     return word(place);
                   }),
      on_data_file("fiemap_count_only", FS_IOC_FIEMAP,
                   [](Arena& arena) {
                     std::uint8_t* place = arena.out(32 + 10 * 56);
                     put_fiemap(arena, place, 0);
                     return word(place);
                   }),
      on_socket("fionread_socket", AF_INET, FIONREAD, room(100)),
      on_socket("siocoutq", AF_INET, SIOCOUTQ, room(100)),
      on_socket("siocoutqnsd", AF_INET, SIOCOUTQNSD, room(100)),
      on_socket("siocatmark", AF_INET, SIOCATMARK, room(100)),
      on_socket("siocgpgrp", AF_INET, SIOCGPGRP, room(100)),
      on_socket("fiogetown", AF_UNIX, FIOGETOWN, room(100)),
      on_interface("siocgifflags", SIOCGIFFLAGS),
      on_interface("siocgifaddr", SIOCGIFADDR),
      on_interface("siocgifnetmask", SIOCGIFNETMASK),
      on_interface("siocgifbrdaddr", SIOCGIFBRDADDR),
      on_interface("siocgifmtu", SIOCGIFMTU),
      on_interface("siocgifindex", SIOCGIFINDEX),
      on_interface("siocgifhwaddr", SIOCGIFHWADDR),
      on_interface("siocgiftxqlen", SIOCGIFTXQLEN),
      on_interface("siocgifmap", SIOCGIFMAP),
      on_interface("siocgifmetric", SIOCGIFMETRIC),
      on_interface("siocgmiiphy", SIOCGMIIPHY),
      on_socket("siocgifname", AF_INET, SIOCGIFNAME,
                [](Arena& arena) {
                  std::uint8_t* place = arena.out(64);
                  arena.hold(place, 40);
                  arena.set(place + 16, 1);
                  return word(place);
                }),
      on_socket("siocgifconf", AF_INET, SIOCGIFCONF,
                [](Arena& arena) {
                  std::uint8_t* place = arena.out(16);
                  arena.set(place, 1000);
                  arena.set(place + 8, arena.out(1000));
                  return word(place);
                }),
      on_socket("siocgifconf_length_only", AF_INET, SIOCGIFCONF,
                [](Arena& arena) {
                  std::uint8_t* place = arena.out(16);
                  arena.set(place, 1000);
                  arena.set(place + 8, std::uint64_t{0});
                  return word(place);
                }),
      {"siocgstamp",
       [](Arena& arena) {
         const Datagrams datagrams(1);
         char received[100];
         ioctl(datagrams.receiver, SIOCGSTAMP_OLD, received);  // turns time stamps on
         if (recv(datagrams.receiver, received, sizeof(received), 0) < 0) std::abort();
         Call one = call(SYS_ioctl, datagrams.receiver, SIOCGSTAMPNS_OLD, arena.out(100));
         one.clean_up = [datagrams] { datagrams.close(); };
         return one;
       },
       "",
       {ENOENT}},
      on_path(
          "ns_get_nstype", [] { return std::string("/proc/self/ns/net"); }, O_RDONLY, 0xb703, room(100)),
      on_path(
          "ns_get_owner_uid", [] { return std::string("/proc/self/ns/user"); }, O_RDONLY, 0xb704, room(100)),
      on_path("ns_get_mntns_id", [] { return std::string("/proc/self/ns/mnt"); }, O_RDONLY, 0x8008b705,
              room(100), {ENOTTY}),
      on_path(
          "rndgetentcnt", [] { return std::string("/dev/urandom"); }, O_RDONLY, RNDGETENTCNT, room(100)),
      on_path("blkgetsize64", disk, O_RDONLY, BLKGETSIZE64, room(100)),
      on_path("blkgetsize", disk, O_RDONLY, BLKGETSIZE, room(100)),
      on_path("blkroget", disk, O_RDONLY, BLKROGET, room(100)),
      on_path("blksszget", disk, O_RDONLY, BLKSSZGET, room(100)),
      on_path("blkbszget", disk, O_RDONLY, BLKBSZGET, room(100)),
      on_path("blkpbszget", disk, O_RDONLY, BLKPBSZGET, room(100)),
      on_path("blkiomin", disk, O_RDONLY, BLKIOMIN, room(100)),
      on_path("blkioopt", disk, O_RDONLY, BLKIOOPT, room(100)),
      on_path("blkalignoff", disk, O_RDONLY, BLKALIGNOFF, room(100)),
      on_path("blkdiscardzeroes", disk, O_RDONLY, BLKDISCARDZEROES, room(100)),
      on_path("blkrotational", disk, O_RDONLY, BLKROTATIONAL, room(100)),
      on_path("blksectget", disk, O_RDONLY, BLKSECTGET, room(100)),
      on_path("blkraget", disk, O_RDONLY, BLKRAGET, room(100)),
      on_path("blkfraget", disk, O_RDONLY, BLKFRAGET, room(100)),
      on_path("blkgetdiskseq", disk, O_RDONLY, 0x80081280, room(100), {ENOTTY}),
      on_path("kdgkbtype", console, O_RDONLY, 0x4b33, room(100), {ENOTTY, EINVAL}),
      on_path("kdgetmode", console, O_RDONLY, 0x4b3b, room(100), {ENOTTY, EINVAL}),
      on_path("kdgkbmode", console, O_RDONLY, 0x4b44, room(100), {ENOTTY, EINVAL}),
      on_path("kdgkbmeta", console, O_RDONLY, 0x4b62, room(100), {ENOTTY, EINVAL}),
      on_path("kdgkbled", console, O_RDONLY, 0x4b64, room(100), {ENOTTY, EINVAL}),
      on_path("kdgetled", console, O_RDONLY, 0x4b31, room(100), {ENOTTY, EINVAL}),
      on_path("vt_openqry", console, O_RDONLY, 0x5600, room(100), {ENOTTY, EINVAL}),
      on_path("vt_getmode", console, O_RDONLY, 0x5601, room(100), {ENOTTY, EINVAL}),
      with_slack(on_path("vt_getstate", console, O_RDONLY, 0x5603, room(100), {ENOTTY, EINVAL}),
                 "the second of three fields is never written"),
      on_path("hdio_getgeo", disk, O_RDONLY, 0x0301, room(100), {ENOTTY}),
      on_path("loop_get_status64", [] { return std::string("/dev/loop0"); }, O_RDONLY, 0x4c05, room(400),
              {ENXIO}),
      on_path("rtc_rd_time", [] { return std::string("/dev/rtc0"); }, O_RDONLY, 0x80247009, room(100),
              {EINVAL}),
      on_path(
          "tungetfeatures", [] { return std::string("/dev/net/tun"); }, O_RDWR, 0x800454cf, room(100)),
      {"epiocgparams",
       [](Arena& arena) {
         const int epoll = epoll_create1(0);
         Call one = call(SYS_ioctl, epoll, 0x80088a02, arena.out(64));
         one.clean_up = [epoll] { close(epoll); };
         return one;
       },
       "",
       {ENOTTY, EINVAL}},
      {"pidfd_get_info",
       [](Arena& arena) {
         const auto pidfd = static_cast<int>(syscall(434, getpid(), 0));
         std::uint8_t* info = arena.out(128);
         arena.set(info, std::uint64_t{3});  // PIDFD_INFO_PID, PIDFD_INFO_CREDS
         Call one = call(SYS_ioctl, pidfd, 0xc040ff0b, info);
         one.clean_up = [pidfd] { close(pidfd); };
         return one;
       },
       "",
       {ENOTTY, EINVAL}},
      {"ioctl_unknown_request",
       [](Arena& arena) {
         const int fd = open_data();
         Call one = call(SYS_ioctl, fd, _IOWR('q', 99, char[40]), arena.out(64));
         one.expect = -ENOTTY;
         one.clean_up = [fd] { close(fd); };
         return one;
       },
       "",
       {}},
      {"fionread_pipe",
       [](Arena& arena) {
         const Pipe pipe("content");
         Call one = call(SYS_ioctl, pipe.read_end, FIONREAD, arena.out(64));
         one.clean_up = [pipe] { pipe.close(); };
         return one;
       },
       "",
       {}},
  };
  return cases;
}

}  // namespace detrec::syscalls::test
