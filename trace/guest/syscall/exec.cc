// execve: checks first, while the old image is whole; then the kernel starts a fresh engine, which loads the
// program.

#include <asm/errno.h>
#include <asm/stat.h>
#include <asm/unistd_64.h>
#include <linux/fcntl.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/load/loader.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/descriptors.h"
#include "trace/guest/syscall/files.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/syscall/warnings.h"

namespace detrec::guest::syscall {
namespace {

/// An execve as the guest asked for it.
struct Request {
  i32 dirfd;
  GuestAddr path;
  GuestAddr argv;
  GuestAddr envp;
  u32 flags;
};

constexpr u64 kEngineArguments = 3;      ///< "detrec-guest", launch descriptor, path
constexpr u64 kMaxArguments = 0x7fffff;  ///< the kernel runs out of room for the strings long before

/// Number of argument strings, or -EFAULT, -E2BIG.
SysResult count_arguments(GuestAddr argv) {
  if (argv == 0) return 0;
  for (u64 n = 0; n < kMaxArguments; ++n) {
    GuestAddr string;
    if (!read_guest(string, argv + n * sizeof(string))) return error(EFAULT);
    if (string == 0) return static_cast<SysResult>(n);
  }
  return error(E2BIG);
}

/// True when the file begins with "#!".
bool is_script(i32 dirfd, const char* path) {
  u64 fd = static_cast<u64>(dirfd);
  bool own = path[0] != 0;
  if (own) {
    SysResult opened = raw_syscall(__NR_openat, static_cast<u64>(dirfd), arg(path), O_RDONLY | O_CLOEXEC);
    if (failed(opened)) return false;
    fd = static_cast<u64>(opened);
  }
  char start[2] = {};
  raw_syscall(__NR_pread64, fd, arg(start), sizeof(start), 0);
  if (own) raw_syscall(__NR_close, fd);
  return start[0] == '#' && start[1] == '!';
}

/// Puts the name of descriptor `fd` in the file system into `to` (kPathMax bytes); false when it has none.
bool name_of_fd(i32 fd, char* to) {
  constexpr char kGone[] = " (deleted)";
  constexpr SysResult kGoneLength = sizeof(kGone) - 1;
  char link[48];
  format(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
  SysResult n = raw_syscall(__NR_readlink, arg(link), arg(to), kPathMax - 1);
  if (failed(n)) return false;
  to[n] = 0;
  return to[0] == '/' && (n < kGoneLength || strcmp(to + n - kGoneLength, kGone) != 0);
}

/// Appends "/" and `relative`; false when the result would be too long.
bool append(char* path, const char* relative) {
  if (relative[0] == 0) return true;
  u64 length = strlen(path);
  if (length + strlen(relative) + 2 > kPathMax) return false;
  path[length] = '/';
  copy_string(path + length + 1, relative, kPathMax - length - 1);
  return true;
}

/// Turns a path relative to a descriptor, or the descriptor itself, into one that the new image can open.
SysResult resolve_directory(i32 dirfd, char* path) {
  if (path[0] == '/' || (dirfd == AT_FDCWD && path[0] != 0)) return 0;
  char relative[kPathMax];
  copy_string(relative, path, sizeof(relative));
  bool closes = (raw_syscall(__NR_fcntl, static_cast<u64>(dirfd), F_GETFD) & FD_CLOEXEC) != 0;
  if (is_script(dirfd, relative)) {
    // The interpreter gets this name, as from the kernel; it cannot open it when the descriptor is closed.
    if (closes) return error(ENOENT);
    format(path, kPathMax, "/dev/fd/%d", dirfd);
  } else if (!name_of_fd(dirfd, path)) {
    // No name in the file system: the descriptor has to survive until the new image has opened it.
    raw_syscall(__NR_fcntl, static_cast<u64>(dirfd), F_SETFD, 0);
    format(path, kPathMax, "/proc/self/fd/%d", dirfd);
  }
  return append(path, relative) ? 0 : error(ENAMETOOLONG);
}

/// What the kernel itself says to executing the file, apart from its format. Kernels before 6.14 cannot be
/// asked: 0.
SysResult ask_kernel(i32 dirfd, const char* path, u32 flags) {
  constexpr u32 kExecveCheck = 0x10000;  // AT_EXECVE_CHECK
  const u64 argv[] = {arg("detrec-guest"), 0}, envp[] = {0};
  SysResult r = raw_syscall(__NR_execveat, static_cast<u64>(dirfd), arg(path), arg(argv), arg(envp),
                            flags | kExecveCheck);
  return r == error(EINVAL) ? 0 : r;
}

/// A program that would get other rights runs without them: the engine has none to give.
void warn_about_set_uid(const char* path) {
  constexpr u32 kSetUid = 04000, kSetGid = 02000, kGroupExecute = 010;
  struct stat status;
  if (failed(raw_syscall(__NR_stat, arg(path), arg(&status)))) return;
  bool sets = (status.st_mode & kSetUid) || ((status.st_mode & kSetGid) && (status.st_mode & kGroupExecute));
  if (sets && raw_syscall(__NR_geteuid) != 0 && first_time(Notice::kSetUid)) {
    warn("%s is set-user-ID or set-group-ID; it runs without those rights", path);
  }
}

/// Reads and checks everything that can fail; `path` (kPathMax bytes) becomes what the new image is told.
SysResult check(Turn& turn, const Request& request, char* path) {
  if (is_engine_fd(request.dirfd)) return error(EBADF);
  if ((request.flags & ~u32{AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW}) != 0) return error(EINVAL);
  char given[kPathMax];
  i64 length = read_guest_string(given, request.path, sizeof(given));
  if (length < 0) return length;
  if (length == 0 && (request.flags & AT_EMPTY_PATH) == 0) return error(ENOENT);
  GuestAddr instead = path_for_kernel(turn, request.dirfd, request.path, path, false);
  const char* checked = instead == request.path ? given : reinterpret_cast<const char*>(instead);
  if (SysResult r = load::check_executable(request.dirfd, checked, request.flags); failed(r)) return r;
  if (SysResult r = ask_kernel(request.dirfd, checked, request.flags); failed(r)) return r;
  if (checked != given) copy_string(given, checked, sizeof(given));
  copy_string(path, given, kPathMax);
  return resolve_directory(request.dirfd, path);
}

/// The kernel's execve of the engine. Returns only when it failed.
SysResult replace_image(Turn& turn, const Request& request, const char* path, u64 argc) {
  run::KernelThread& self = run::kernel_thread(turn.thread());
  // A vfork child shares the heap with its parent, which gives the array back when the child is gone.
  self.exec_bytes = (kEngineArguments + argc + 2) * sizeof(u64);
  self.exec_buffer = engine_reserve(self.exec_bytes);
  auto* argv = static_cast<u64*>(self.exec_buffer);
  char own_fds[32];  // the image's comes with the call
  format(own_fds, sizeof own_fds, "%d:%d", process().own_fds[kLaunchFd], process().own_fds[kControlFd]);
  argv[0] = arg("detrec-guest");
  argv[1] = arg(own_fds);
  argv[2] = arg(path);
  bool read = argc == 0 || read_guest(argv + kEngineArguments, request.argv, argc * sizeof(u64));
  if (argc == 0) argv[kEngineArguments] = arg("");  // as the kernel does since 5.18
  SysResult r = error(EFAULT);
  if (read) {
    memory::prepare_exec(turn);
    signal::prepare_exec(turn);
    events::record_exec(turn);
    events::await_captures();  // the next image does not know what has been captured
    r = signal::raw_syscall_interruptible(self, __NR_execveat, static_cast<u64>(process().own_fds[kImageFd]),
                                          arg(""), arg(argv), request.envp, AT_EMPTY_PATH, 0);
    signal::cancel_exec(turn);
    memory::cancel_exec(turn);
  }
  engine_release(self.exec_buffer, self.exec_bytes);
  self.exec_buffer = nullptr;
  return r;
}

SysResult execute(Turn& turn, const Request& request) {
  char path[kPathMax];
  if (SysResult r = check(turn, request, path); failed(r)) return r;
  SysResult argc = count_arguments(request.argv);
  if (failed(argc)) return argc;
  warn_about_set_uid(path);
  run::ExecAccount account = run::account_exec(turn);
  SysResult r = replace_image(turn, request, path, static_cast<u64>(argc));
  run::cancel_exec_account(turn, account);
  return r;
}

}  // namespace

SysResult execve(Turn& turn) { return execute(turn, {AT_FDCWD, turn.arg(0), turn.arg(1), turn.arg(2), 0}); }

SysResult execveat(Turn& turn) {
  return execute(turn, {static_cast<i32>(turn.arg(0)), turn.arg(1), turn.arg(2), turn.arg(3),
                        static_cast<u32>(turn.arg(4))});
}

}  // namespace detrec::guest::syscall
