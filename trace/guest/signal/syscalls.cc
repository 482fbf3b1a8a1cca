// sigaction, sigprocmask, sigpending, sigaltstack: man 2 pages.
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/signal/actions.h"
#include "trace/guest/signal/frame.h"
#include "trace/guest/signal/host_handler.h"
#include "trace/guest/signal/queue.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::signal {
namespace {

/// An ignored signal is forgotten by all threads; the kernel does so with those it still has.
void forget_pending(const Actions& actions, int signo) {
  for (Thread* thread = process().threads; thread != nullptr; thread = thread->next) {
    if (thread->signals.actions == &actions) discard(thread->signals, bit(signo));
  }
}

void set_blocked(Turn& turn, SignalSet blocked) {
  SignalState& state = turn.thread().signals;
  state.blocked = blocked & ~kUnblockable;
  update_host_mask(turn);
  return_blocked(state);
}

}  // namespace

SysResult rt_sigaction(Turn& turn, int signo, GuestAddr act, GuestAddr old, u64 setsize) {
  Action wanted;
  if (setsize != sizeof(SignalSet)) return kEInval;
  if (act != 0 && !read_guest(wanted, act)) return kEFault;
  if (!valid(signo) || (act != 0 && (kUnblockable & bit(signo)))) return kEInval;
  Actions& actions = *turn.thread().signals.actions;
  Action before = actions[signo];
  if (act != 0) {
    wanted.flags &= kSaKnown;
    wanted.mask &= ~kUnblockable;
    actions[signo] = wanted;
    install(signo, wanted);
    if (is_ignored(wanted, signo)) forget_pending(actions, signo);
  }
  if (old != 0 && !memory::write_guest(turn, old, before)) return kEFault;
  return 0;
}

SysResult rt_sigprocmask(Turn& turn, int how, GuestAddr set, GuestAddr old, u64 setsize) {
  SignalSet before = turn.thread().signals.blocked, given;
  if (setsize != sizeof(SignalSet)) return kEInval;
  if (set != 0) {
    if (!read_guest(given, set)) return kEFault;
    switch (how) {
      case kBlock:
        set_blocked(turn, before | given);
        break;
      case kUnblock:
        set_blocked(turn, before & ~given);
        break;
      case kSetMask:
        set_blocked(turn, given);
        break;
      default:
        return kEInval;
    }
  }
  if (old != 0 && !memory::write_guest(turn, old, before)) return kEFault;
  return 0;
}

SysResult rt_sigpending(Turn& turn, GuestAddr set, u64 setsize) {
  const SignalState& state = turn.thread().signals;
  SignalSet pending = 0;
  if (setsize > sizeof pending) return kEInval;
  raw_syscall(__NR_rt_sigpending, arg(&pending), sizeof pending);
  pending = (pending | state.pending) & state.blocked;
  return memory::write_guest(turn, set, &pending, setsize) ? 0 : kEFault;
}

SysResult sigaltstack(Turn& turn, GuestAddr ss, GuestAddr old) {
  SignalState& state = turn.thread().signals;
  u64 sp = turn.gpr(kRsp);
  AltStack wanted, before = reported_altstack(state, sp);
  if (ss != 0) {
    if (!read_guest(wanted, ss)) return kEFault;
    if (SysResult r = set_altstack(state, wanted, sp); failed(r)) return r;
  }
  if (old != 0 && !memory::write_guest(turn, old, before)) return kEFault;
  return 0;
}

}  // namespace detrec::guest::signal
