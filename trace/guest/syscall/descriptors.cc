#include "trace/guest/syscall/descriptors.h"

#include <asm/errno.h>
#include <linux/close_range.h>
#include <linux/fcntl.h>
#include <linux/resource.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/syscall/fd_notes.h"
#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {
namespace {

/// A descriptor table grows to its highest number, and fork copies it: no need to go higher than this.
constexpr u64 kHighestPlace = 4096;
constexpr u64 kLowestPlace = 1024;

/// struct rlimit.
struct Limit {
  u64 soft;
  u64 hard;
};

SysResult set_limit(Limit limit) { return raw_syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, arg(&limit), 0); }

/// Duplicates onto the lowest free number from `from` on; the limit is lifted meanwhile as far as it goes.
i32 duplicate_above(i32 fd, u64 from) {
  Limit limit{};
  raw_syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, arg(&limit));
  u64 wanted = from + 8 > limit.hard ? from + 8 : limit.hard;
  if (failed(set_limit({wanted, wanted}))) {
    // Without the right to raise the hard limit: the guest has that much fewer descriptors.
    set_limit({limit.hard, limit.hard});
    if (from + kOwnFds > limit.hard) from = limit.hard > kOwnFds ? limit.hard - kOwnFds : 0;
  }
  SysResult r = raw_syscall(__NR_fcntl, static_cast<u64>(fd), F_DUPFD, from);
  set_limit(limit);
  return static_cast<i32>(r);
}

/// Where the engine's descriptors go: above the guest's limit, but not so high that the table becomes big.
u64 place() {
  Limit limit{};
  raw_syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, arg(&limit));
  if (limit.soft < kLowestPlace) return kLowestPlace;
  return limit.soft < kHighestPlace ? limit.soft : kHighestPlace;
}

i32 move_up(i32 fd, u64 from) {
  if (fd < 0 || static_cast<u64>(fd) >= from) return fd;
  i32 moved = duplicate_above(fd, from);
  if (moved < 0) return fd;
  raw_syscall(__NR_close, static_cast<u64>(fd));
  return moved;
}

/// Where the guest meets it last. 3 when there is none, which will fail.
u64 highest_free_below(i32 fd) {
  for (i32 n = fd - 1; n > 3; --n) {
    if (raw_syscall(__NR_fcntl, static_cast<u64>(n), F_GETFD) == error(EBADF)) return static_cast<u64>(n);
  }
  return 3;
}

/// The lowest of the engine's descriptors from `from` on; ~0: none.
u32 lowest_own_fd(u32 from) {
  u32 lowest = ~0u;
  for (i32 own : process().own_fds) {
    auto number = static_cast<u32>(own);  // -1 becomes ~0
    if (number >= from && number < lowest) lowest = number;
  }
  return lowest;
}

SysResult close_one_range(u32 first, u32 last, u64 flags) {
  return first > last ? 0 : raw_syscall(__NR_close_range, first, last, flags);
}

}  // namespace

bool make_way(i32 fd) {
  i32 moved = duplicate_above(fd, static_cast<u64>(fd) + 1);
  if (moved < 0) moved = duplicate_above(fd, highest_free_below(fd));
  if (moved < 0) return false;
  raw_syscall(__NR_close, static_cast<u64>(fd));
  for (i32& own : process().own_fds) {
    if (own == fd) own = moved;
  }
  return true;
}

void place_engine_fds() {
  u64 from = place();
  for (i32& own : process().own_fds) own = move_up(own, from);
}

SysResult close(Turn& turn, const SyscallRow&) {
  auto fd = static_cast<i32>(turn.arg(0));
  if (is_engine_fd(fd)) return error(EBADF);
  forget_fd(static_cast<u32>(fd));
  // Interrupted or not, the descriptor is closed: never restarted.
  return raw_syscall(__NR_close, static_cast<u64>(fd));
}

SysResult dup(Turn& turn, const SyscallRow& row) { return direct(turn, row); }

/// dup2 and dup3.
SysResult dup2(Turn& turn, const SyscallRow& row) {
  auto from = static_cast<i32>(turn.arg(0));
  auto to = static_cast<i32>(turn.arg(1));
  if (is_engine_fd(from)) return error(EBADF);
  if (is_engine_fd(to)) {
    // As the kernel would: bad descriptors and numbers above the limit are errors, then the number is free.
    Limit limit{};
    raw_syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, arg(&limit));
    if (static_cast<u64>(to) >= limit.soft) return error(EBADF);
    if (failed(raw_syscall(__NR_fcntl, static_cast<u64>(from), F_GETFD))) return error(EBADF);
    if (!make_way(to)) return error(EBADF);
  }
  forget_fd(static_cast<u32>(to));
  return direct(turn, row);
}

SysResult close_range(Turn& turn) {
  auto first = static_cast<u32>(turn.arg(0));
  auto last = static_cast<u32>(turn.arg(1));
  u64 flags = turn.arg(2);
  if (first > last || (flags & ~u64{CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC}) != 0) {
    return raw_syscall(__NR_close_range, first, last, flags);
  }
  forget_fds(first, last);
  // The ranges below, between and above the engine's own.
  for (u32 edge = first;;) {
    u32 mine = lowest_own_fd(edge);
    if (mine > last || mine == ~0u) return close_one_range(edge, last, flags);
    if (SysResult r = mine == 0 ? 0 : close_one_range(edge, mine - 1, flags); failed(r)) return r;
    edge = mine + 1;
  }
}

SysResult fcntl(Turn& turn, const SyscallRow& row) {
  auto command = static_cast<u32>(turn.arg(1));
  if (command == F_SETLKW || command == F_OFD_SETLKW) return may_block(turn, row);
  return direct(turn, row);
}

}  // namespace detrec::guest::syscall
