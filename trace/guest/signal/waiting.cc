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

namespace {

/// Where a call has the mask that the kernel is to use while it waits.
struct MaskArgument {
  u64 address;
  u64 size;
};

MaskArgument mask_argument(long nr, u64 a0, u64 a1, u64 a3, u64 a4, u64 a5) {
  MaskArgument in_memory;
  switch (nr) {
    case __NR_rt_sigsuspend:
      return {a0, a1};
    case __NR_ppoll:
      return {a3, a4};
    case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
      return {a4, a5};
    case __NR_pselect6:
      if (a5 != 0 && read_guest(in_memory, a5)) return in_memory;
      break;
    default:
      break;
  }
  return {0, 0};
}

/// The guest's mask for the time of a call, as the kernel sets its own. When the call was interrupted it
/// stays, and deliver_pending, which shows the old one to the handler's frame, ends it.
bool begin_temporary_mask(SignalState& state, const MaskArgument& mask) {
  SignalSet during;
  // What is wrong with it the kernel will say.
  if (mask.address == 0 || mask.size != sizeof during || !read_guest(during, mask.address)) return false;
  state.saved_blocked = state.blocked;
  state.restore_saved = true;
  state.blocked = during & ~kUnblockable;
  return true;
}

void end_temporary_mask(SignalState& state) {
  state.blocked = state.saved_blocked;
  state.restore_saved = false;
}

}  // namespace

SysResult raw_syscall_interruptible(Thread& thread, long nr, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5) {
  SignalState& state = thread.signals;
  bool masked = begin_temporary_mask(state, mask_argument(nr, a0, a1, a3, a4, a5));
  SysResult r = detrec_interruptible(&state, nr, a0, a1, a2, a3, a4, a5);
  if (!masked) return r;
  // The signal is one that the call waits for: run again, it would wait for another.
  if (r == kERestartNoIntr) return kERestartNoHand;
  if (r != kEIntr) end_temporary_mask(state);
  return r;
}

void keep_mask_of_call(Turn& turn, long nr) {
  begin_temporary_mask(turn.thread().signals,
                       mask_argument(nr, turn.arg(0), turn.arg(1), turn.arg(3), turn.arg(4), turn.arg(5)));
}

SysResult rt_sigsuspend(Turn& turn, GuestAddr set, u64 setsize) {
  SignalSet mask;
  if (setsize != sizeof mask) return kEInval;
  if (!read_guest(mask, set)) return kEFault;
  Thread& thread = turn.thread();
  TurnLent lent(turn);
  raw_syscall_interruptible(thread, __NR_rt_sigsuspend, arg(&mask), sizeof mask, 0, 0, 0, 0);
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
