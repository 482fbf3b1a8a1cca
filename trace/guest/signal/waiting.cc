// Masks for the time of a call, and calls that wait for signals.
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/signal/host_handler.h"
#include "trace/guest/signal/queue.h"
#include "trace/guest/signal/signals.h"

extern "C" detrec::guest::SysResult detrec_interruptible(const detrec::guest::SignalState* state, long nr,
                                                         detrec::guest::u64 a0, detrec::guest::u64 a1,
                                                         detrec::guest::u64 a2, detrec::guest::u64 a3,
                                                         detrec::guest::u64 a4, detrec::guest::u64 a5);

namespace detrec::guest::signal {

SysResult raw_syscall_interruptible(Thread& thread, long nr, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5) {
  SysResult r = detrec_interruptible(&thread.signals, nr, a0, a1, a2, a3, a4, a5);
  // Under a temporary mask the signal is one the call waits for: run again, it would wait for another.
  if (r == kERestartNoIntr && thread.signals.restore_saved) return kERestartNoHand;
  return r;
}

void push_mask(Turn& turn, u64 mask) {
  SignalState& state = turn.thread().signals;
  state.saved_blocked = state.blocked;
  state.restore_saved = true;
  state.blocked = mask & ~kUnblockable;
  update_host_mask(state);
}

void pop_mask(Turn& turn) {
  SignalState& state = turn.thread().signals;
  state.blocked = state.saved_blocked;
  state.restore_saved = false;
  update_host_mask(state);
  return_blocked(state);
}

SysResult rt_sigsuspend(Turn& turn, GuestAddr set, u64 setsize) {
  SignalSet mask;
  if (setsize != sizeof mask) return kEInval;
  if (!read_guest(mask, set)) return kEFault;
  push_mask(turn, mask);
  Thread& thread = turn.thread();
  SignalSet in_kernel = host_mask(mask);
  TurnLent lent(turn);
  raw_syscall_interruptible(thread, __NR_rt_sigsuspend, arg(&in_kernel), sizeof in_kernel, 0, 0, 0, 0);
  return kERestartNoHand;
}

SysResult rt_sigtimedwait(Turn& turn, GuestAddr set, GuestAddr info, GuestAddr timeout, u64 setsize) {
  SignalSet wanted;
  struct {
    i64 seconds, nanoseconds;
  } limit;
  if (setsize != sizeof wanted) return kEInval;
  if (!read_guest(wanted, set)) return kEFault;
  if (timeout != 0 && !read_guest(limit, timeout)) return kEFault;
  Thread& thread = turn.thread();
  SignalInfo found;
  SysResult result;
  wanted &= ~kUnblockable;
  if (dequeue(thread.signals, wanted, found)) {
    result = found.signo;
  } else {
    TurnLent lent(turn);
    result = raw_syscall_interruptible(thread, __NR_rt_sigtimedwait, arg(&wanted), arg(&found),
                                       timeout != 0 ? arg(&limit) : 0, sizeof wanted, 0, 0);
  }
  if (result > 0 && info != 0 && !memory::write_guest(turn, info, found)) return kEFault;
  return result;
}

}  // namespace detrec::guest::signal
