#include "trace/guest/signal/deliver.h"

#include "trace/guest/events/divergence.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/process.h"
#include "trace/guest/signal/frame.h"
#include "trace/guest/signal/host_handler.h"
#include "trace/guest/signal/queue.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::signal {
namespace {

constexpr u64 kDebug = 1, kBreakpoint = 3, kPageFault = 14;
constexpr u64 kSyscallLength = 2;

SignalState& state_of(Turn& turn) { return turn.thread().signals; }

/// signal(7), "Interruption of system calls". `handler`: the action that is about to run, nullptr for none.
bool restarts(SysResult code, const Action* handler) {
  if (handler == nullptr || code == kERestartNoIntr) return true;
  return code == kERestartSys && (handler->flags & kSaRestart);
}

/// Turns an interrupted call's internal result into what the guest sees. Only the first handler matters, as
/// in the kernel: after it the registers are no longer the call's.
void finish_syscall(Turn& turn, const Action* handler) {
  SignalState& state = state_of(turn);
  i64 nr = state.syscall_nr;
  state.syscall_nr = -1;
  auto result = static_cast<SysResult>(turn.gpr(kRax));
  if (nr < 0 || !is_restart_code(result)) return;
  if (restarts(result, handler)) {
    turn.set_result(nr);
    turn.regs().pc -= kSyscallLength;
  } else {
    turn.set_result(kEIntr);
  }
}

/// Replay: the next event is a signal from outside that comes here.
bool recorded_signal_waits(Turn& turn) {
  const wire::EventHeader& event = events::next_event(turn);
  return event.kind == wire::EventKind::kSignal && event.thread == turn.thread().number &&
         event.pc == turn.regs().pc && event.ticks == turn.ticks() &&
         events::body_of<wire::SignalBody>(event).asynchronous != 0;
}

bool signal_waits(Turn& turn) {
  if (events::replaying() && !events::diverted) return recorded_signal_waits(turn);
  const SignalState& state = state_of(turn);
  return (state.pending & ~state.blocked) != 0;
}

/// Takes the next signal to deliver out of the queue; exchange_signal fills it in when replaying.
bool next_signal(Turn& turn, SignalInfo& info) {
  if (events::replaying() && !events::diverted) return recorded_signal_waits(turn);
  SignalState& state = state_of(turn);
  return dequeue(state, ~state.blocked, info);
}

void act_by_default(Turn& turn, const SignalInfo& info) {
  // The disposition was a handler when the kernel sent the signal here. It is the default now, in the kernel
  // too.
  if (default_action(info.signo) == DefaultAction::kStop) {
    if (!events::replaying()) send_to_self(info);
  } else {
    die(turn, info.signo);
  }
}

void deliver(Turn& turn, const SignalInfo& info) {
  int signo = info.signo;
  Action& current = (*state_of(turn).actions)[signo];
  if (is_ignored(current, signo)) return;
  if (current.handler == kDefault) return act_by_default(turn, info);
  Action action = current;
  if (action.flags & kSaResetHand) {
    current.handler = kDefault;
    install(signo, current);
  }
  finish_syscall(turn, &action);
  ++statistics().signals_delivered;
  if (enter_handler(turn, action, info)) return;
  if (signo == kSigSegv) die(turn, kSigSegv);
  force_signal(turn, kSigSegv);
}

/// A signal that cannot wait: when it is not handled now, the process ends.
void deliver_forced(Turn& turn, const SignalInfo& info) {
  SignalState& state = state_of(turn);
  u64 handler = (*state.actions)[info.signo].handler;
  SignalInfo shown = info;
  events::exchange_signal(turn, shown, false);
  if ((state.blocked & bit(info.signo)) || handler == kIgnored || handler == kDefault) die(turn, info.signo);
  deliver(turn, info);
}

void deliver_fault(Turn& turn) {
  SignalState& state = state_of(turn);
  PendingFault fault = state.fault;
  state.fault.raised = false;
  state.syscall_nr = -1;
  state.trapno = fault.trapno;
  state.error = fault.error;
  if (fault.trapno == kPageFault) __builtin_memcpy(&state.cr2, fault.info.rest, sizeof state.cr2);
  // The CPU sets RF in what it saves of a faulting instruction, not of one that trapped.
  if (fault.trapno != kDebug && fault.trapno != kBreakpoint) turn.regs().rflags |= kFlagResume;
  deliver_forced(turn, fault.info);
  turn.regs().rflags &= ~kFlagResume;
}

}  // namespace

void force_signal(Turn& turn, int signo) {
  SignalInfo info{};
  info.signo = signo;
  info.code = kSiKernel;
  deliver_forced(turn, info);
}

void deliver_chosen(Turn& turn, const SignalInfo& info) {
  deliver(turn, info);
  update_host_mask(turn);
}

void raise_fault(Turn& turn, const Fault& fault) {
  PendingFault& pending = state_of(turn).fault;
  pending = {true, {}, fault.trapno, fault.error};
  pending.info.signo = fault.signo;
  pending.info.code = fault.code;
  __builtin_memcpy(pending.info.rest, &fault.address, sizeof fault.address);
  deliver_fault(turn);
  update_host_mask(turn);
}

bool deliverable(Turn& turn) {
  SignalState& state = state_of(turn);
  // A call that is done must not be taken for an interrupted one by a register that looks like it later.
  bool interrupted = is_restart_code(static_cast<SysResult>(turn.gpr(kRax)));
  if (state.syscall_nr >= 0 && !interrupted) state.syscall_nr = -1;
  return signal_waits(turn) || state.syscall_nr >= 0 || state.fault.raised || state.restore_saved ||
         state.host_blocked != host_mask(state.blocked);
}

void deliver_pending(Turn& turn) {
  SignalState& state = state_of(turn);
  if (state.fault.raised) deliver_fault(turn);
  do {
    SignalInfo info;
    while (next_signal(turn, info)) {
      events::exchange_signal(turn, info, true);
      deliver(turn, info);
    }
    if (state.restore_saved) {
      state.blocked = state.saved_blocked;
      state.restore_saved = false;
    }
    update_host_mask(turn);  // lets in what the kernel kept back
  } while (signal_waits(turn));
  return_blocked(state);
  finish_syscall(turn, nullptr);
}

}  // namespace detrec::guest::signal
