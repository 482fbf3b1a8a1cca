// Where the kernel's signals enter the engine.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/guest/signal/frame.h"

namespace detrec::guest::signal {

extern "C" {
/// The one handler of all signals; on the kernel thread's alternate stack, everything but faults blocked
/// (interruptible.S).
void detrec_host_handler(int signo, const SignalInfo* info, UserContext* context);
/// sa_restorer of the host's handlers (interruptible.S).
void detrec_signal_return();
}

/// Gives the calling kernel thread an alternate stack for host handlers, made for `thread` when it has none
/// yet.
void install_host_stack(Thread& thread);

/// Sends the calling thread a signal and learns from its frame how the kernel lays out vector state. Also
/// shows that handlers run. Faults are unblocked and handled by detrec_host_handler.
void self_test();

/// Sets the calling kernel thread's mask to what the guest's mask asks for, if it is not. Signals let in by
/// that are queued when this returns.
void update_host_mask(Turn& turn);

/// The kernel's mask for a mask of the guest's: faults stay unblocked.
constexpr SignalSet host_mask(SignalSet guest) { return guest & ~kFaults & ~kUnblockable; }

/// Hands queued signals that the guest blocks back to the kernel, where sigpending, sigtimedwait, signalfd
/// and exec find them. The host mask must be up to date. Faults stay: the kernel must not have them blocked.
void return_blocked(SignalState& state);

/// Sends `info` to the calling thread as if it came from its sender.
void send_to_self(const SignalInfo& info);

/// Ends the process by this signal, as the kernel's default action.
[[noreturn]] void die(Turn& turn, int signo);

}  // namespace detrec::guest::signal
