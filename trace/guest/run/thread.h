// One guest thread, as the engine keeps it.
#pragma once

#include "trace/guest/signal/signal_state.h"
#include "trace/guest/translate/context.h"

namespace detrec::guest {

/// A guest thread is one kernel thread. Owned by run/threads.cc; lives in the engine's heap, at the top of
/// the thread's engine stack, so that a blocked thread finds it without thread-local storage.
struct Thread {
  i32 tid = 0;     ///< as the guest sees it; the kernel's id but in a replay
  i32 pid = 0;     ///< what getpid() answers to it (a vfork child differs from the rest of its address space)
  u32 number = 0;  ///< in the run, from 1; events name it
  bool vfork_child = false;

  // Valid while the thread does not hold the turn (else context() has them).
  Registers saved_regs{};
  u64 saved_tick_base = 0;
  u64 saved_tick_deadline = 0;

  bool in_call = false;  ///< serving a system call: what it gives the turn away for, it waits for
  bool ended = false;    ///< runs no guest code any more

  u64 ticks_total = 0;  ///< as of the last time it left the cache

  // Kernel duties the engine does itself at thread exit.
  GuestAddr clear_child_tid = 0;
  GuestAddr robust_list = 0;
  u64 robust_list_len = 0;

  u8* engine_stack = nullptr;  ///< lowest address
  u64 engine_stack_size = 0;
  u8* host_signal_stack =
      nullptr;  ///< sigaltstack of the kernel thread: the guest's stack is never touched by host frames

  SignalState signals;

  Thread* next = nullptr;  ///< all threads of this address space
};

inline constexpr u64 kEngineStackSize = 256 * 1024;
inline constexpr u64 kHostSignalStackSize = 32 * 1024;

}  // namespace detrec::guest
