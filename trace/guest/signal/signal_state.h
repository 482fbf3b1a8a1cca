// A thread's signal state as the guest sees it. The kernel's own mask of the thread is the engine's business (signal/).
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest {

/// siginfo_t as the kernel lays it out: 128 bytes.
struct SignalInfo {
  i32 signo;
  i32 errno_;
  i32 code;
  i32 pad;
  u8 rest[112];
};
static_assert(sizeof(SignalInfo) == 128);

struct SignalState {
  u64 blocked = 0;          ///< bit signo-1
  u64 saved_blocked = 0;    ///< mask to restore after sigsuspend, ppoll, pselect, epoll_pwait
  bool restore_saved = false;
  GuestAddr altstack_sp = 0;
  u64 altstack_size = 0;
  u32 altstack_flags = 2;   ///< SS_DISABLE

  // Filled by the host handler, drained by the turn holder.
  u64 pending = 0;                  ///< bit signo-1
  static constexpr int kQueue = 64;
  SignalInfo queue[kQueue];
  u32 queue_used = 0;
};

}  // namespace detrec::guest
