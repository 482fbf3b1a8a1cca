// read and write, and their relatives, beside other threads.

#include <asm/errno.h>
#include <asm/stat.h>
#include <asm/unistd_64.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/stat.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {
namespace {

/// A pipe or socket that says it can be written takes as much as this without waiting (PIPE_BUF).
constexpr u64 kWritable = 4096;

SysResult now(long nr, const Args& a) { return raw_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]); }

/// Files that have their data, or wait for a device only.
bool never_waits_for_others(u64 fd) {
  struct stat status;
  if (failed(raw_syscall(__NR_fstat, fd, arg(&status)))) return true;  // a bad descriptor: the call says so
  u32 type = status.st_mode & S_IFMT;
  return type == S_IFREG || type == S_IFDIR || type == S_IFBLK;
}

/// What is there, without waiting; -EAGAIN or -EOPNOTSUPP when only a waiting call can tell.
SysResult read_now(const SyscallRow& row, const Args& args) {
  constexpr u64 kCurrentPosition = ~u64{0};
  if (row.number == __NR_read) {
    Iovec whole{args[1], args[2] < kMaxTransfer ? args[2] : kMaxTransfer};
    return raw_syscall(__NR_preadv2, args[0], arg(&whole), 1, kCurrentPosition, kCurrentPosition, RWF_NOWAIT);
  }
  if (row.number == __NR_readv) {
    return raw_syscall(__NR_preadv2, args[0], args[1], args[2], kCurrentPosition, kCurrentPosition,
                       RWF_NOWAIT);
  }
  return error(EOPNOTSUPP);
}

/// readv and preadv: one bounce buffer per entry.
SysResult bounced_readv(Turn& turn, const SyscallRow& row, const Args& args) {
  u64 count = args[2];
  if (count == 0 || count > kMaxIovecs) return now(row.number, args);  // nothing to wait for
  Bounce bounce(turn);
  auto* guest = static_cast<Iovec*>(bounce.copy_in(args[1], count * sizeof(Iovec)));
  if (guest == nullptr) return error(EFAULT);
  u64 total = 0;
  for (u64 i = 0; i < count; ++i) total += guest[i].length;
  if (total > kMaxTransfer) return kernel_wait(turn, row.number, args);
  auto* buffer = static_cast<u8*>(bounce.take(total));
  auto* engine = static_cast<Iovec*>(bounce.take(count * sizeof(Iovec)));
  for (u64 i = 0, at = 0; i < count; at += guest[i++].length) engine[i] = {arg(buffer) + at, guest[i].length};
  Args engine_args = args;
  engine_args[1] = arg(engine);
  SysResult r = kernel_wait(turn, row.number, engine_args);
  u64 left = r > 0 ? static_cast<u64>(r) : 0;
  for (u64 i = 0; i < count && left != 0; ++i) {
    u64 part = guest[i].length < left ? guest[i].length : left;
    if (!memory::write_guest(turn, guest[i].base, reinterpret_cast<void*>(engine[i].base), part)) {
      return error(EFAULT);
    }
    left -= part;
  }
  return r;
}

/// Bytes an array of buffers holds.
u64 iovec_bytes(GuestAddr array, u64 count) {
  u64 total = 0;
  auto add = [&total](const Range& range) -> SysResult {
    total += range.length;
    return 0;
  };
  for_each_iovec(array, count, add);
  return total;
}

bool can_write_now(u64 fd) {
  pollfd ready{static_cast<i32>(fd), POLLOUT, 0};
  Timespec none{0, 0};
  return raw_syscall(__NR_ppoll, arg(&ready), 1, arg(&none), 0, 8) == 1;
}

}  // namespace

SysResult read_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  if (never_waits_for_others(args[0])) return now(row.number, args);
  SysResult r = read_now(row, args);
  if (r != error(EAGAIN) && r != error(EOPNOTSUPP) && r != error(ENOSYS) && r != error(ESPIPE)) return r;
  bool vectored = row.number != __NR_read && row.number != __NR_pread64;
  return vectored ? bounced_readv(turn, row, args) : bounced_wait(turn, row, args);
}

SysResult write_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  bool vectored = row.number != __NR_write && row.number != __NR_pwrite64;
  u64 bytes = vectored ? iovec_bytes(args[1], args[2]) : args[2];
  if ((bytes <= kWritable && can_write_now(args[0])) || never_waits_for_others(args[0]))
    return now(row.number, args);
  return kernel_wait(turn, row.number, args);  // the kernel only reads
}

}  // namespace detrec::guest::syscall
