#include "trace/guest/syscall/files.h"

#include <asm/errno.h>
#include <asm/stat.h>
#include <asm/unistd_64.h>
#include <linux/fcntl.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/procfs/procfs.h"
#include "trace/guest/syscall/blocking.h"

namespace detrec::guest::syscall {
namespace {

/// struct open_how, first version.
struct OpenHow {
  u64 flags;
  u64 mode;
  u64 resolve;
};

/// Only paths like these can need an answer of the engine's: absolute ones below /proc, and relative ones,
/// whose folder may be one of them.
bool may_be_procfs(const char* path) {
  return path[0] != '/' || starts_with(path, "/proc") || starts_with(path, "/dev/fd") ||
         starts_with(path, "//");
}

i32 dirfd_of(const SyscallRow& row, const Args& args) {
  u8 index = row.paths[0].dirfd;
  return index == syscalls::kNoArg ? AT_FDCWD : static_cast<i32>(args[index]);
}

bool nofollow(const SyscallRow& row, const Args& args) {
  const syscalls::PathUse& use = row.paths[0];
  switch (use.follow) {
    case syscalls::Follow::kNever:
      return true;
    case syscalls::Follow::kUnlessFlag:
      return (args[use.flags] & AT_SYMLINK_NOFOLLOW) != 0;
    case syscalls::Follow::kIfFlag:
      return (args[use.flags] & AT_SYMLINK_FOLLOW) == 0;
    default:
      return false;
  }
}

u64 open_flags(const SyscallRow& row, const Args& args) {
  switch (row.number) {
    case __NR_creat:
      return O_CREAT | O_WRONLY | O_TRUNC;
    case __NR_openat2: {
      OpenHow how{};
      read_guest(how, args[2]);
      return how.flags;
    }
    default:
      return args[row.paths[0].flags];
  }
}

bool is_open(i32 nr) {
  return nr == __NR_open || nr == __NR_openat || nr == __NR_openat2 || nr == __NR_creat;
}

SysResult readlink(Turn& turn, i32 dirfd, const char* path, GuestAddr buffer, u64 size, bool& handled) {
  if (static_cast<i32>(size) <= 0) return 0;  // the kernel's error
  char target[kPathMax];
  SysResult r = procfs::readlink(turn, dirfd, path, target, size < kPathMax ? size : kPathMax, handled);
  if (!handled || failed(r)) return r;
  return memory::write_guest(turn, buffer, target, static_cast<u64>(r)) ? r : error(EFAULT);
}

/// True when opening the file may wait for somebody at its other end, or for a device.
bool may_wait_to_open(const SyscallRow& row, const Args& args) {
  if (!row.takes_path()) return true;
  struct stat status;
  SysResult r = raw_syscall(__NR_newfstatat, static_cast<u64>(dirfd_of(row, args)), args[row.paths[0].arg],
                            arg(&status), 0);
  if (failed(r)) return false;
  u32 type = status.st_mode & kTypeMask;
  return type != kRegularFile && type != kDirectory;
}

/// Apart, so that the buffer is off the stack while the call waits.
[[gnu::noinline]] SysResult ask_procfs(Turn& turn, const SyscallRow& row, Args& args, char* path,
                                       bool& handled) {
  i32 dirfd = dirfd_of(row, args);
  if (is_open(row.number)) return procfs::open(turn, dirfd, path, open_flags(row, args), handled);
  if (row.number == __NR_readlink || row.number == __NR_readlinkat) {
    int buffer = row.paths[0].arg + 1;
    return readlink(turn, dirfd, path, args[buffer], args[buffer + 1], handled);
  }
  const char* instead = procfs::redirect_path(turn, dirfd, path, nofollow(row, args));
  if (instead != path) args[row.paths[0].arg] = arg(instead);
  return 0;
}

}  // namespace

SysResult on_path(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  if (row.takes_path()) {
    char path[kPathMax];
    if (read_guest_string(path, args[row.paths[0].arg], sizeof(path)) >= 0 && may_be_procfs(path)) {
      bool handled = false;
      SysResult r = ask_procfs(turn, row, args, path, handled);
      if (handled) return r;
    }
  }
  bool waits = row.has(syscalls::kBlocks) && (alone() || may_wait_to_open(row, args));
  return waits ? kernel_wait(turn, row.number, args) : execute(row.number, args);
}

SysResult getdents(Turn& turn, const SyscallRow& row) {
  auto fd = static_cast<i32>(turn.arg(0));
  if (!procfs::is_fd_directory(turn, fd)) return direct(turn, row);
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  Bounce bounce(turn);
  constexpr u64 kAtOnce = 32 * 1024;
  u64 size = static_cast<u32>(args[2]) < kAtOnce ? static_cast<u32>(args[2]) : kAtOnce;
  void* entries = bounce.take(size);
  u64 left = 0;
  while (left == 0) {
    SysResult r = raw_syscall(row.number, args[0], arg(entries), size);
    if (r <= 0) return r;
    left = row.number == __NR_getdents ? procfs::drop_hidden_entries_old(entries, static_cast<u64>(r))
                                       : procfs::drop_hidden_entries(entries, static_cast<u64>(r));
  }
  return memory::write_guest(turn, args[1], entries, left) ? static_cast<SysResult>(left) : error(EFAULT);
}

GuestAddr path_for_kernel(Turn& turn, i32 dirfd, GuestAddr path, char* copied, bool no_follow) {
  if (read_guest_string(copied, path, kPathMax) < 0 || !may_be_procfs(copied)) return path;
  const char* instead = procfs::redirect_path(turn, dirfd, copied, no_follow);
  return instead == copied ? path : arg(instead);
}

}  // namespace detrec::guest::syscall
