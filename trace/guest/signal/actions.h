// Dispositions: what the guest wants done with each signal, and what the kernel is told.
//
// The kernel acts by itself on ignored signals and on defaults; handlers of the guest, and faults always,
// lead to the engine's host handler (docs/signals.md).
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/guest/signal/numbers.h"

namespace detrec::guest::signal {

/// struct sigaction as rt_sigaction(2) passes it.
struct Action {
  u64 handler = kDefault;
  u64 flags = 0;
  GuestAddr restorer = 0;
  SignalSet mask = 0;
};
static_assert(sizeof(Action) == 32);

/// The dispositions of a process (of all that share CLONE_SIGHAND).
struct Actions {
  Action action[kSignals];
  bool used = false;
  Action& operator[](int signo) { return action[signo - 1]; }
};

/// True when a signal with this action vanishes instead of being delivered.
constexpr bool is_ignored(const Action& action, int signo) {
  return action.handler == kIgnored ||
         (action.handler == kDefault && default_action(signo) == DefaultAction::kIgnore);
}

/// What the kernel is told for an action of the guest.
Action host_action(const Action& action, int signo);

/// Reads the dispositions the process has inherited, and installs the engine's handler for faults.
Actions& inherit_actions();

/// A table of its own for a thread that does not share its parent's. Tables that no thread of
/// process().threads uses are used again.
Actions& copy_actions(const Actions& from);

/// Tells the kernel; `signo` is valid and not SIGKILL or SIGSTOP.
void install(int signo, const Action& action);

/// The kernel's own handling: SIG_DFL or SIG_IGN, for faults too.
void install_plain(int signo, u64 handler);

}  // namespace detrec::guest::signal
