// Which guest memory the kernel may write during a call: by the table's row and the arguments, before the
// call.
#pragma once

#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {

/// A range of guest memory. `exact` is false when only the start is known (structures of ioctls).
struct Range {
  GuestAddr begin;
  u64 length;
  bool exact;
};

/// Up to so many ranges of one call are looked at one by one; an iovec with more entries is refused by the
/// kernel.
inline constexpr u64 kMaxIovecs = 1024;

/// The kernel never transfers more in one call (MAX_RW_COUNT).
inline constexpr u64 kMaxTransfer = 0x7fff'f000;

/// struct iovec.
struct Iovec {
  GuestAddr base;
  u64 length;
};

/// struct user_msghdr (man 2 recvmsg).
struct Msghdr {
  GuestAddr name;
  u32 name_length;
  u32 pad;
  GuestAddr iov;
  u64 iov_count;
  GuestAddr control;
  u64 control_length;
  u32 flags;
  u32 pad2;
};
static_assert(sizeof(Msghdr) == 56);

/// struct mmsghdr.
struct Mmsghdr {
  Msghdr header;
  u32 length;
  u32 pad;
};
static_assert(sizeof(Mmsghdr) == 64);

/// The range that argument `index` itself covers (not what an iovec or msghdr points to); length 0 when it is
/// no memory.
Range range_of(const SyscallRow& row, const Args& args, int index);

/// Calls visit(range) -> SysResult for every range the kernel may write; stops at the first failure and
/// returns it.
template <class Visit>
SysResult for_each_written(const SyscallRow& row, const Args& args, Visit&& visit);

}  // namespace detrec::guest::syscall

#include "trace/guest/syscall/ranges_inl.h"
