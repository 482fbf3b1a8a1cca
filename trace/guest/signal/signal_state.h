// A thread's signal state as the guest sees it, and what its host handler leaves for it. docs/signals.md
// explains the division of labour between the kernel and the engine.
//
// Everything is changed by the thread's own kernel thread only: by the holder of the turn, and by host
// handlers that interrupt it. Fields that a handler touches say so.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest {

namespace signal {
struct Actions;
}

/// siginfo_t as the kernel lays it out: 128 bytes.
struct SignalInfo {
  i32 signo;
  i32 errno_;
  i32 code;
  i32 pad;
  u8 rest[112];
};
static_assert(sizeof(SignalInfo) == 128);

/// A place in the queue of signals that the kernel has handed over and the guest has not seen.
struct QueuedSignal {
  u32 order = 0;  ///< 0: free; else counts up with arrival
  SignalInfo info;
};

/// A fault that the guest has committed and is to be told of before it goes on.
struct PendingFault {
  bool raised = false;
  SignalInfo info;
  u64 trapno;
  u64 error;
};

struct SignalState {
  u64 blocked = 0;        ///< the guest's mask, bit signo-1; a temporary one while `restore_saved`
  u64 pending = 0;        ///< bit signo-1: which signals are in `queue`; set by the host handler
  u64 saved_blocked = 0;  ///< mask to restore after sigsuspend, ppoll, pselect, epoll_pwait
  bool restore_saved = false;
  GuestAddr altstack_sp = 0;
  u64 altstack_size = 0;
  u32 altstack_flags = 2;  ///< SS_DISABLE

  /// The number of the system call being served, for its restart; -1: none (any more). syscall::handle sets
  /// it.
  i64 syscall_nr = -1;

  signal::Actions* actions = nullptr;  ///< dispositions, shared by the threads of a process

  PendingFault fault;                  ///< filled in by the host handler
  u64 trapno = 0, error = 0, cr2 = 0;  ///< of the last fault: every frame shows them

  u64 host_blocked = 0;  ///< mask of the kernel thread, as last set; the host handler changes it

  static constexpr int kQueue = 16;
  QueuedSignal queue[kQueue];  ///< filled by the host handler
  u32 next_order = 1;
};
// interruptible.S reads these two.
static_assert(offsetof(SignalState, blocked) == 0 && offsetof(SignalState, pending) == 8);

}  // namespace detrec::guest
