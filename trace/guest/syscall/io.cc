// read and write, and their relatives, beside other threads.

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/fs.h>
#include <linux/poll.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/fd_notes.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {
namespace {

/// A pipe or socket that says it can be written takes as much as this without waiting (PIPE_BUF).
constexpr u64 kWritable = 4096;

u64 fd_of(const Args& args) { return static_cast<u32>(args[0]); }

/// The answers of RWF_NOWAIT that leave open what a waiting call would say: not without waiting, not such a
/// file, not such a kernel.
bool cannot_tell(SysResult r) {
  return r == error(EAGAIN) || r == error(EOPNOTSUPP) || r == error(ENOSYS) || r == error(ESPIPE);
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

/// readv and preadv: a stand-in for every entry.
SysResult bounced_readv(Turn& turn, const SyscallRow& row, const Args& args) {
  Bounce bounce(turn);
  u64 count = args[2];
  if (count > kMaxIovecs) return execute(row.number, args);  // the kernel refuses it
  auto* vector = static_cast<Iovec*>(bounce.take(count * sizeof(Iovec)));
  if (!read_guest(vector, args[1], count * sizeof(Iovec))) return error(EFAULT);
  for (u64 i = 0; i < count; ++i) {
    if (vector[i].length == 0) continue;
    if (vector[i].length > kMaxTransfer) return kernel_wait(turn, row.number, args);
    void* buffer = bounce.stand_in(vector[i].base, vector[i].length);
    if (buffer == nullptr)
      return kernel_wait(turn, row.number, args);  // unreadable (the kernel will say so), or too many
    vector[i].base = arg(buffer);
  }
  Args engine_args = args;
  engine_args[1] = arg(vector);
  return bounce.wait(turn, row, engine_args);
}

/// Bytes an array of buffers holds.
u64 iovec_bytes(GuestAddr array, u64 count) {
  u64 total = 0;
  for_each_iovec(array, count, [&total](const Iovec& entry) {
    total += entry.length;
    return true;
  });
  return total;
}

bool can_write_now(u64 fd) {
  pollfd ready{static_cast<i32>(fd), POLLOUT, 0};
  Timespec none{0, 0};
  return raw_syscall(__NR_ppoll, arg(&ready), 1, arg(&none), 0, 8) == 1;
}

/// write: what goes without waiting, then the rest.
SysResult write_now_then_wait(Turn& turn, const SyscallRow& row, const Args& args) {
  constexpr u64 kCurrentPosition = ~u64{0};
  Iovec whole{args[1], args[2] < kMaxTransfer ? args[2] : kMaxTransfer};
  SysResult sent =
      raw_syscall(__NR_pwritev2, args[0], arg(&whole), 1, kCurrentPosition, kCurrentPosition, RWF_NOWAIT);
  if (cannot_tell(sent)) {
    if (whole.length <= kWritable && can_write_now(args[0])) return execute(row.number, args);
    return kernel_wait(turn, row.number, args);
  }
  if (failed(sent) || static_cast<u64>(sent) == whole.length) return sent;
  Args rest = args;
  rest[1] += static_cast<u64>(sent);
  rest[2] = whole.length - static_cast<u64>(sent);
  SysResult more = kernel_wait(turn, row.number, rest);
  return failed(more) ? sent : sent + more;
}

}  // namespace

SysResult read_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  if (never_waits(turn, fd_of(args))) return execute(row.number, args);
  SysResult r = read_now(row, args);
  if (!cannot_tell(r)) return r;
  bool vectored = row.number != __NR_read && row.number != __NR_pread64;
  return vectored ? bounced_readv(turn, row, args) : bounced_wait(turn, row, args);
}

SysResult write_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  if (never_waits(turn, fd_of(args))) return execute(row.number, args);
  if (row.number == __NR_write) return write_now_then_wait(turn, row, args);
  bool vectored = row.number != __NR_pwrite64;
  u64 bytes = vectored ? iovec_bytes(args[1], args[2]) : args[2];
  if (bytes <= kWritable && can_write_now(args[0])) return execute(row.number, args);
  return kernel_wait(turn, row.number, args);  // the kernel only reads
}

}  // namespace detrec::guest::syscall
