// poll, select and epoll_wait: the engine's descriptors are not open, masks are the engine's, the sets are
// the guest's.
//
// The kernel is asked with arrays of the engine's when other threads may run meanwhile, or when a descriptor
// of the engine is among them. Timeouts are passed as a timespec that the kernel brings up to date.

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/poll.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/descriptors.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {
namespace {

constexpr u64 kMaskBytes = 8;
/// Sets with more entries are beyond any limit of descriptors (fs.nr_open); the kernel refuses them.
constexpr u64 kMaxDescriptors = 1 << 20;

/// A signal mask for the time of a call, passed on to the kernel; signal/ sees to the guest's side of it.
struct Mask {
  GuestAddr address = 0;
  u64 bytes = kMaskBytes;
};

/// A timeout in the engine's memory; the kernel counts it down.
struct Timeout {
  Timespec left{0, 0};
  bool given = false;
  u64 address() { return given ? arg(&left) : 0; }
};

SysResult read_timespec(Timeout& timeout, GuestAddr from) {
  if (from == 0) return 0;
  if (!read_guest(timeout.left, from)) return error(EFAULT);
  timeout.given = true;
  return 0;
}

Timeout from_milliseconds(i32 ms) {
  Timeout timeout;
  timeout.given = ms >= 0;
  if (timeout.given) timeout.left = {ms / 1000, ms % 1000 * i64{1'000'000}};
  return timeout;
}

/// A set of pollfd; `engine` is nullptr when the kernel can use the guest's.
struct PollSet {
  pollfd* engine = nullptr;
  u64 count = 0;
  u64 hidden = 0;  ///< how many are the engine's: POLLNVAL
};

/// ppoll with the set in engine memory; entries of the engine's descriptors are taken out and put back.
SysResult poll_copy(Turn& turn, PollSet& set, GuestAddr guest, Timeout& timeout, Mask mask) {
  for (u64 i = 0; i < set.count; ++i) {
    set.engine[i].revents = 0;
    if (!is_engine_fd(set.engine[i].fd)) continue;
    set.engine[i].fd = -1 - set.engine[i].fd;  // negative: the kernel skips it
    set.engine[i].revents = POLLNVAL;
    ++set.hidden;
  }
  if (set.hidden != 0) timeout = from_milliseconds(0);
  // The kernel zeroes revents of what it skips, so those are answered afterwards.
  SysResult r = kernel_wait(turn, __NR_ppoll,
                            {{arg(set.engine), set.count, timeout.address(), mask.address, mask.bytes, 0}});
  if (failed(r)) return r;
  for (u64 i = 0; i < set.count; ++i) {
    pollfd& entry = set.engine[i];
    if (entry.fd < 0 && is_engine_fd(-1 - entry.fd)) entry.revents = POLLNVAL;
    GuestAddr revents = guest + i * sizeof(pollfd) + offsetof(pollfd, revents);
    if (!memory::write_guest(turn, revents, entry.revents)) return error(EFAULT);
  }
  return r + static_cast<SysResult>(set.hidden);
}

bool names_engine_fd(GuestAddr set, u64 count) {
  for (u64 i = 0; i < count; ++i) {
    pollfd entry;
    if (!read_guest(entry, set + i * sizeof(pollfd))) return false;
    if (is_engine_fd(entry.fd)) return true;
  }
  return false;
}

SysResult poll_with(Turn& turn, GuestAddr guest, u64 count, Timeout& timeout, Mask mask) {
  const Args plain{{guest, count, timeout.address(), mask.address, mask.bytes, 0}};
  if (count > kMaxDescriptors) return raw_syscall(__NR_ppoll, guest, count, timeout.address(), 0, kMaskBytes);
  if (alone() && !names_engine_fd(guest, count)) return kernel_wait(turn, __NR_ppoll, plain);
  Bounce bounce(turn);
  PollSet set;
  set.count = count;
  set.engine = static_cast<pollfd*>(bounce.stand_in(guest, count * sizeof(pollfd)));
  if (set.engine == nullptr) return error(EFAULT);
  return poll_copy(turn, set, guest, timeout, mask);
}

/// Up to three descriptor sets as select takes them.
struct FdSets {
  GuestAddr guest[3];
  u64* engine[3] = {};
  u64 bytes = 0;
};

SysResult copy_sets(Bounce& bounce, FdSets& sets) {
  for (int i = 0; i < 3; ++i) {
    if (sets.guest[i] == 0 || sets.bytes == 0) continue;
    sets.engine[i] = static_cast<u64*>(bounce.stand_in(sets.guest[i], sets.bytes));
    if (sets.engine[i] == nullptr) return error(EFAULT);
  }
  return 0;
}

/// EBADF for a descriptor that is not open, as the engine's are to the guest.
bool has_engine_fd(const FdSets& sets) {
  const auto& fds = process().own_fds;
  for (i32 fd : fds) {
    if (fd < 0 || static_cast<u64>(fd) / 8 >= sets.bytes) continue;
    for (const u64* set : sets.engine) {
      if (set != nullptr && (set[fd / 64] >> (fd % 64) & 1) != 0) return true;
    }
  }
  return false;
}

SysResult select_with(Turn& turn, i32 count, FdSets& sets, Timeout& timeout, GuestAddr mask_argument) {
  Bounce bounce(turn);
  if (count > 0) sets.bytes = (static_cast<u64>(count) + 63) / 64 * 8;
  if (static_cast<u64>(count) > kMaxDescriptors && count > 0) sets.bytes = kMaxDescriptors / 8;
  if (SysResult r = copy_sets(bounce, sets); failed(r)) return r;
  if (has_engine_fd(sets)) return error(EBADF);
  u64 n = static_cast<u64>(static_cast<i64>(count));
  if (count > static_cast<i32>(kMaxDescriptors))
    n = kMaxDescriptors;  // the kernel cuts it to the table's size too
  Args args{
      {n, arg(sets.engine[0]), arg(sets.engine[1]), arg(sets.engine[2]), timeout.address(), mask_argument}};
  SysResult r = kernel_wait(turn, __NR_pselect6, args);
  if (failed(r)) return r;
  for (int i = 0; i < 3; ++i) {
    if (sets.engine[i] == nullptr) continue;
    if (!memory::write_guest(turn, sets.guest[i], sets.engine[i], sets.bytes)) return error(EFAULT);
  }
  return r;
}

}  // namespace

SysResult poll_family(Turn& turn, const SyscallRow& row, const Args& args) {
  u64 count = static_cast<u32>(args[1]);
  if (row.number == __NR_poll) {
    Timeout timeout = from_milliseconds(static_cast<i32>(args[2]));
    return poll_with(turn, args[0], count, timeout, {});
  }
  Timeout timeout;
  if (SysResult r = read_timespec(timeout, args[2]); failed(r)) return r;
  SysResult r = poll_with(turn, args[0], count, timeout, {args[3], args[4]});
  if (timeout.given) memory::write_guest(turn, args[2], timeout.left);  // a read-only one is not an error
  return r;
}

SysResult select_family(Turn& turn, const SyscallRow& row, const Args& args) {
  auto count = static_cast<i32>(args[0]);
  FdSets sets{{args[1], args[2], args[3]}};
  Timeout timeout;
  if (row.number == __NR_select) {
    Timeval given;
    if (args[4] != 0) {
      if (!read_guest(given, args[4])) return error(EFAULT);
      if (given.seconds < 0 || given.microseconds < 0) return error(EINVAL);
      timeout.left = {given.seconds + given.microseconds / 1'000'000, given.microseconds % 1'000'000 * 1000};
      timeout.given = true;
    }
    SysResult r = select_with(turn, count, sets, timeout, 0);
    if (timeout.given) {
      memory::write_guest(turn, args[4], Timeval{timeout.left.seconds, timeout.left.nanoseconds / 1000});
    }
    return r;
  }
  if (SysResult r = read_timespec(timeout, args[4]); failed(r)) return r;
  SysResult r = select_with(turn, count, sets, timeout, args[5]);
  if (timeout.given) memory::write_guest(turn, args[4], timeout.left);
  return r;
}

SysResult epoll_family(Turn& turn, const SyscallRow& row, const Args& args) {
  if (!alone() && row.number != __NR_epoll_pwait2) {
    // What is there already is taken without giving the turn away.
    SysResult r = raw_syscall(__NR_epoll_pwait, args[0], args[1], args[2], 0, 0, kMaskBytes);
    if (r != 0 || args[3] == 0) return r;
  }
  return bounced_wait(turn, row, args);
}

}  // namespace detrec::guest::syscall
