// Structures through which calls reach buffers in guest memory, and the table's rules about them applied to
// the guest.
#pragma once

#include "trace/guest/base/probe.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/syscalls/memory.h"

namespace detrec::guest::syscall {

/// The kernel takes no more entries (UIO_MAXIOV) and never transfers more bytes in one call (MAX_RW_COUNT).
inline constexpr u64 kMaxIovecs = 1024;
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

/// How the table's functions read guest memory (and the engine's own, for calls with engine pointers).
inline syscalls::Reader guest_reader() {
  return {[](void*, u64 address, void* to, std::size_t size) { return read_guest(to, address, size); },
          nullptr};
}

/// Calls visit(entry) -> bool for the entries of an iovec array until it returns false or the array cannot be
/// read.
template <class Visit>
void for_each_iovec(GuestAddr array, u64 count, Visit&& visit) {
  for (u64 i = 0; i < count && i < kMaxIovecs; ++i) {
    Iovec entry;
    if (!read_guest(entry, array + i * sizeof(Iovec)) || !visit(entry)) return;
  }
}

}  // namespace detrec::guest::syscall
