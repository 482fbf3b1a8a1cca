// Files, directories, attributes, pipes.
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "tests/unit/syscalls/canary.h"
#include "tests/unit/syscalls/fixtures.h"

namespace detrec::syscalls::test {
namespace {

constexpr long kStatmount = 457;
constexpr long kListmount = 458;
constexpr long kCachestat = 451;
constexpr long kGetxattrat = 464;
constexpr long kListxattrat = 465;
constexpr long kFileGetattr = 468;

Call on_data(std::function<Call(Arena&, int)> prepare, Arena& arena) {
  const int fd = open_data();
  Call one = prepare(arena, fd);
  one.clean_up = [fd] { close(fd); };
  return one;
}

Case with_data(std::string name, std::function<Call(Arena&, int)> prepare, std::vector<int> lacking = {}) {
  return {std::move(name), [prepare](Arena& arena) { return on_data(prepare, arena); }, "",
          std::move(lacking)};
}

iovec* three_buffers(Arena& arena) {
  iovec vector[3] = {{arena.out(100), 100}, {arena.out(0), 0}, {arena.out(2000), 2000}};
  struct Three {
    iovec each[3];
  };
  return arena.in(Three{{vector[0], vector[1], vector[2]}})->each;
}

Call failing(Call one, int error) {
  one.expect = -error;
  return one;
}

}  // namespace

std::vector<Case> file_cases() {
  std::vector<Case> cases{
      with_data("read", [](Arena& a, int fd) { return call(SYS_read, fd, a.out(300), 300); }),
      with_data("read_short",
                [](Arena& a, int fd) {
                  lseek(fd, static_cast<off_t>(kDataSize - 77), SEEK_SET);
                  return call(SYS_read, fd, a.out(300), 300);
                }),
      with_data("read_at_end",
                [](Arena& a, int fd) {
                  lseek(fd, 0, SEEK_END);
                  return call(SYS_read, fd, a.out(300), 300);
                }),
      {"read_bad_descriptor",
       [](Arena& a) { return failing(call(SYS_read, -1, a.out(300), 300), EBADF); },
       "",
       {}},
      with_data("pread64", [](Arena& a, int fd) { return call(SYS_pread64, fd, a.out(300), 300, 9900); }),
      with_data("readv", [](Arena& a, int fd) { return call(SYS_readv, fd, three_buffers(a), 3); }),
      with_data(
          "preadv_short",
          [](Arena& a, int fd) { return call(SYS_preadv, fd, three_buffers(a), 3, kDataSize - 150, 0); }),
      with_data("preadv2",
                [](Arena& a, int fd) { return call(SYS_preadv2, fd, three_buffers(a), 3, 8000, 0, 0); }),
      with_data("fstat", [](Arena& a, int fd) { return call(SYS_fstat, fd, a.out(200)); }),
      with_data("fstatfs", [](Arena& a, int fd) { return call(SYS_fstatfs, fd, a.out(200)); }),
      {"stat", [](Arena& a) { return call(SYS_stat, a.text(data_path()), a.out(200)); }, "", {}},
      {"stat_missing",
       [](Arena& a) { return failing(call(SYS_stat, a.text("/no/such"), a.out(200)), ENOENT); },
       "",
       {}},
      {"lstat", [](Arena& a) { return call(SYS_lstat, a.text(scratch() + "/link"), a.out(200)); }, "", {}},
      {"newfstatat",
       [](Arena& a) {
         return call(SYS_newfstatat, AT_FDCWD, a.text(data_path()), a.out(200), AT_SYMLINK_NOFOLLOW);
       },
       "",
       {}},
      {"statx",
       [](Arena& a) { return call(SYS_statx, AT_FDCWD, a.text(data_path()), 0, STATX_ALL, a.out(400)); },
       "",
       {}},
      {"statfs", [](Arena& a) { return call(SYS_statfs, a.text("/proc"), a.out(200)); }, "", {}},
      {"ustat",
       [](Arena& a) {
         struct stat status;
         stat("/proc", &status);
         return call(SYS_ustat, status.st_dev, a.out(64));
       },
       "",
       {ENOSYS, EINVAL}},
      {"getcwd", [](Arena& a) { return call(SYS_getcwd, a.out(4096), 4096); }, "", {}},
      {"getcwd_too_small", [](Arena& a) { return failing(call(SYS_getcwd, a.out(16), 1), ERANGE); }, "", {}},
      {"readlink",
       [](Arena& a) { return call(SYS_readlink, a.text(scratch() + "/link"), a.out(100), 100); },
       "",
       {}},
      {"readlink_cut",
       [](Arena& a) { return call(SYS_readlink, a.text("/proc/self/exe"), a.out(100), 3); },
       "",
       {}},
      {"readlinkat",
       [](Arena& a) { return call(SYS_readlinkat, AT_FDCWD, a.text("/proc/self/cwd"), a.out(4096), 4096); },
       "",
       {}},
      {"getdents",
       [](Arena& a) {
         const int fd = open("/proc/self", O_RDONLY | O_DIRECTORY);
         Call one = call(SYS_getdents, fd, a.out(4096), 4096);
         one.clean_up = [fd] { close(fd); };
         return one;
       },
       "gaps between entries",
       {}},
      {"getdents64",
       [](Arena& a) {
         const int fd = open("/proc/self", O_RDONLY | O_DIRECTORY);
         Call one = call(SYS_getdents64, fd, a.out(4096), 4096);
         one.clean_up = [fd] { close(fd); };
         return one;
       },
       "gaps between entries",
       {}},
      {"getxattr",
       [](Arena& a) { return call(SYS_getxattr, a.text(data_path()), a.text("user.one"), a.out(100), 100); },
       "",
       {EOPNOTSUPP, ENODATA}},
      {"getxattr_size_only",
       [](Arena& a) { return call(SYS_getxattr, a.text(data_path()), a.text("user.one"), a.out(100), 0); },
       "",
       {EOPNOTSUPP, ENODATA}},
      {"lgetxattr",
       [](Arena& a) { return call(SYS_lgetxattr, a.text(data_path()), a.text("user.one"), a.out(100), 100); },
       "",
       {EOPNOTSUPP, ENODATA}},
      with_data("fgetxattr",
                [](Arena& a, int fd) { return call(SYS_fgetxattr, fd, a.text("user.one"), a.out(100), 5); },
                {EOPNOTSUPP, ENODATA}),
      {"listxattr",
       [](Arena& a) { return call(SYS_listxattr, a.text(data_path()), a.out(500), 500); },
       "",
       {EOPNOTSUPP}},
      {"llistxattr",
       [](Arena& a) { return call(SYS_llistxattr, a.text(data_path()), a.out(500), 500); },
       "",
       {EOPNOTSUPP}},
      with_data("flistxattr", [](Arena& a, int fd) { return call(SYS_flistxattr, fd, a.out(500), 500); },
                {EOPNOTSUPP}),
      {"getxattrat",
       [](Arena& a) {
         struct Value {
           std::uint64_t value;
           std::uint32_t size;
           std::uint32_t flags;
         };
         const Value value{word(a.out(100)), 100, 0};
         return call(kGetxattrat, AT_FDCWD, a.text(data_path()), 0, a.text("user.one"), a.in(value),
                     sizeof(value));
       },
       "",
       {ENOSYS, EOPNOTSUPP, ENODATA}},
      {"listxattrat",
       [](Arena& a) { return call(kListxattrat, AT_FDCWD, a.text(data_path()), 0, a.out(500), 500); },
       "",
       {ENOSYS, EOPNOTSUPP}},
      {"file_getattr",
       [](Arena& a) { return call(kFileGetattr, AT_FDCWD, a.text(data_path()), a.out(64), 64, 0); },
       "",
       {ENOSYS, EOPNOTSUPP, ENOTTY}},
      {"file_getattr_first_version",
       [](Arena& a) { return call(kFileGetattr, AT_FDCWD, a.text(data_path()), a.out(64), 24, 0); },
       "",
       {ENOSYS, EOPNOTSUPP, ENOTTY}},
      {"name_to_handle_at",
       [](Arena& a) {
         std::uint8_t* handle = a.out(8 + 128);
         a.set(handle, std::uint32_t{128});
         return call(SYS_name_to_handle_at, AT_FDCWD, a.text(data_path()), handle, a.out(16), 0);
       },
       "",
       {EOPNOTSUPP}},
      {"name_to_handle_at_overflow",
       [](Arena& a) {
         std::uint8_t* handle = a.out(64);
         a.set(handle, std::uint32_t{0});
         return failing(call(SYS_name_to_handle_at, AT_FDCWD, a.text(data_path()), handle, a.out(16), 0),
                        EOVERFLOW);
       },
       "",
       {EOPNOTSUPP}},
      {"name_to_handle_at_unique",
       [](Arena& a) {
         std::uint8_t* handle = a.out(8 + 128);
         a.set(handle, std::uint32_t{128});
         return call(SYS_name_to_handle_at, AT_FDCWD, a.text(data_path()), handle, a.out(16), 1);
       },
       "",
       {EOPNOTSUPP, EINVAL}},
      {"sendfile",
       [](Arena& a) {
         const int fd = open_data();
         const Pipe pipe;
         Call one = call(SYS_sendfile, pipe.write_end, fd, a.in(std::uint64_t{1234}), 100);
         one.clean_up = [=] {
           close(fd);
           pipe.close();
         };
         return one;
       },
       "",
       {}},
      {"splice",
       [](Arena& a) {
         const int fd = open_data();
         const Pipe pipe;
         Call one = call(SYS_splice, fd, a.in(std::uint64_t{1234}), pipe.write_end, 0, 100, 0);
         one.clean_up = [=] {
           close(fd);
           pipe.close();
         };
         return one;
       },
       "",
       {}},
      {"copy_file_range",
       [](Arena& a) {
         const int fd = open_data();
         const int to = open((scratch() + "/copy").c_str(), O_RDWR | O_CREAT, 0600);
         Call one =
             call(SYS_copy_file_range, fd, a.in(std::uint64_t{1000}), to, a.in(std::uint64_t{10}), 500, 0);
         one.clean_up = [=] {
           close(fd);
           close(to);
         };
         return one;
       },
       "",
       {EXDEV, EOPNOTSUPP}},
      with_data("fcntl_getlk",
                [](Arena& a, int fd) {
                  struct flock lock = {};
                  lock.l_type = F_WRLCK;
                  return call(SYS_fcntl, fd, F_GETLK, a.in(lock));
                }),
      with_data("fcntl_ofd_getlk",
                [](Arena& a, int fd) {
                  struct flock lock = {};
                  lock.l_type = F_WRLCK;
                  return call(SYS_fcntl, fd, 36, a.in(lock));
                }),
      with_data("fcntl_getown_ex", [](Arena& a, int fd) { return call(SYS_fcntl, fd, 16, a.out(64)); }),
      with_data("fcntl_getowner_uids", [](Arena& a, int fd) { return call(SYS_fcntl, fd, 17, a.out(64)); },
                {EINVAL}),
      with_data("fcntl_get_rw_hint", [](Arena& a, int fd) { return call(SYS_fcntl, fd, 1035, a.out(64)); }),
      with_data("fcntl_getfl", [](Arena& a, int fd) { return call(SYS_fcntl, fd, F_GETFL, a.out(64)); }),
      {"pipe",
       [](Arena& a) {
         std::uint8_t* fds = a.out(32);
         Call one = call(SYS_pipe, fds);
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
      {"pipe2",
       [](Arena& a) {
         std::uint8_t* fds = a.out(32);
         Call one = call(SYS_pipe2, fds, O_CLOEXEC);
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
      {"read_inotify",
       [](Arena& a) {
         const int watch = inotify_init1(IN_NONBLOCK);
         inotify_add_watch(watch, scratch().c_str(), IN_CREATE | IN_DELETE);
         const std::string name = scratch() + "/watched";
         close(open(name.c_str(), O_RDWR | O_CREAT, 0600));
         unlink(name.c_str());
         Call one = call(SYS_read, watch, a.out(1000), 1000);
         one.clean_up = [watch] { close(watch); };
         return one;
       },
       "",
       {}},
      {"read_proc",
       [](Arena& a) {
         const int fd = open("/proc/self/status", O_RDONLY);
         Call one = call(SYS_read, fd, a.out(8192), 8192);
         one.clean_up = [fd] { close(fd); };
         return one;
       },
       "",
       {}},
      {"vmsplice_from_pipe",
       [](Arena& a) {
         const Pipe pipe("what is in the pipe");
         const iovec buffer{a.out(100), 100};
         Call one = call(SYS_vmsplice, pipe.read_end, a.in(buffer), 1, 0);
         one.clean_up = [pipe] { pipe.close(); };
         return one;
       },
       "",
       {}},
      with_data("cachestat",
                [](Arena& a, int fd) {
                  struct Part {
                    std::uint64_t offset, length;
                  };
                  return call(kCachestat, fd, a.in(Part{0, kDataSize}), a.out(100), 0);
                },
                {ENOSYS}),
      {"listmount",
       [](Arena& a) {
         struct Request {
           std::uint32_t size, spare;
           std::uint64_t mount_id, parameter;
         };
         return call(kListmount, a.in(Request{24, 0, ~std::uint64_t{0}, 0}), a.out(800), 100, 0);
       },
       "",
       {ENOSYS, EPERM, ENOENT}},
      {"statmount",
       [](Arena& a) {
         struct statx status = {};
         statx(AT_FDCWD, "/", 0, 0x4000U /* STATX_MNT_ID_UNIQUE */, &status);
         struct Request {
           std::uint32_t size, spare;
           std::uint64_t mount_id, parameter;
         };
         // STATMOUNT_SB_BASIC, STATMOUNT_MNT_BASIC, STATMOUNT_MNT_POINT, STATMOUNT_FS_TYPE
         return call(kStatmount, a.in(Request{24, 0, status.stx_mnt_id, 0x33}), a.out(4096), 4096, 0);
       },
       "",
       {ENOSYS, EPERM, ENOENT}},
  };
  return cases;
}

}  // namespace detrec::syscalls::test
