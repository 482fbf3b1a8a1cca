// Signals over the life of processes and threads: start, clone, fork, exec, exit.
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/process.h"
#include "trace/guest/signal/actions.h"
#include "trace/guest/signal/altstack.h"
#include "trace/guest/signal/host_handler.h"
#include "trace/guest/signal/queue.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::signal {
namespace {

void set_kernel_mask(SignalState& state, SignalSet mask) {
  state.host_blocked = mask;
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&mask), 0, sizeof mask);
}

}  // namespace

void start(Turn& turn) {
  Thread& thread = turn.thread();
  SignalState& state = thread.signals;
  raw_syscall(__NR_rt_sigprocmask, kSetMask, 0, arg(&state.blocked), sizeof state.blocked);
  install_host_stack(thread);
  state.actions = &inherit_actions();
  set_kernel_mask(state, host_mask(state.blocked));
  self_test();
}

InheritedSignals inherited(Turn& turn) {
  SignalState& state = turn.thread().signals;
  InheritedSignals signals{state.blocked, 0};
  for (int signo = 1; signo <= kSignals; ++signo) {
    if ((*state.actions)[signo].handler == kIgnored) signals.ignored |= bit(signo);
  }
  return signals;
}

void set_inherited(Turn& turn, const InheritedSignals& signals) {
  SignalState& state = turn.thread().signals;
  state.blocked = signals.blocked & ~kUnblockable;
  for (int signo = 1; signo <= kSignals; ++signo) {
    (*state.actions)[signo] = Action{};
    if (signals.ignored & bit(signo)) (*state.actions)[signo].handler = kIgnored;
  }
  update_host_mask(turn);
}

void init_child_thread(const Thread& parent, Thread& child, bool shares_actions) {
  const SignalState& from = parent.signals;
  SignalState& to = child.signals;
  to = SignalState{};
  to.blocked = from.blocked;
  to.actions = shares_actions ? from.actions : &copy_actions(*from.actions);
  // The kernel drops the alternate stack for threads, and keeps it for a vfork child.
  if (!child.vfork_child) return;
  to.altstack_sp = from.altstack_sp;
  to.altstack_size = from.altstack_size;
  to.altstack_flags = from.altstack_flags;
}

void start_thread(Thread& thread) {
  if (events::replaying()) return;  // one kernel thread plays all
  install_host_stack(thread);
  thread.signals.host_blocked = ~SignalSet{0};  // as the cloner left it; never what the guest's mask asks for
}

void end_thread(Thread& thread) {
  SignalState& state = thread.signals;
  if (events::replaying()) return;
  set_kernel_mask(state, ~SignalSet{0});
  SignalInfo info;
  while (dequeue(state, ~SignalSet{0}, info)) {
    if (info.code == kSiTkill) continue;  // was meant for this thread alone
    raw_syscall(__NR_rt_sigqueueinfo, static_cast<u64>(raw_syscall(__NR_getpid)),
                static_cast<u64>(info.signo), arg(&info));
  }
}

void after_fork(Turn& turn) {
  SignalState& state = turn.thread().signals;
  discard(state, ~SignalSet{0});
  state.fault.raised = false;
}

void prepare_exec(Turn& turn) {
  SignalState& state = turn.thread().signals;
  for (int signo = 1; signo <= kSignals; ++signo) {
    if ((kFaults & bit(signo)) && (*state.actions)[signo].handler == kIgnored) install_plain(signo, kIgnored);
  }
  set_kernel_mask(state, state.blocked);
  SignalInfo info;
  while (dequeue(state, state.blocked, info)) send_to_self(info);
}

void cancel_exec(Turn& turn) {
  SignalState& state = turn.thread().signals;
  for (int signo = 1; signo <= kSignals; ++signo) {
    if (kFaults & bit(signo)) install(signo, (*state.actions)[signo]);
  }
  update_host_mask(turn);
}

}  // namespace detrec::guest::signal
