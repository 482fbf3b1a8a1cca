// The signals that the kernel has handed over to a thread and its guest has not seen yet. Lock-free against
// the host handler: a handler may interrupt any of these functions on the same kernel thread and add an
// entry.
#pragma once

#include "trace/guest/signal/signal_state.h"

namespace detrec::guest::signal {

/// Adds a signal. A standard signal that is queued already is merged, as the kernel does. False when there is
/// no room.
bool enqueue(SignalState& state, const SignalInfo& info);

/// Takes the next signal of `allowed`: the kernel's order is faults and SIGSYS first, then the lowest number,
/// and within a number the oldest.
bool dequeue(SignalState& state, u64 allowed, SignalInfo& info);

/// Drops every entry of `signals`. May be called for another thread by the holder of the turn.
void discard(SignalState& state, u64 signals);

}  // namespace detrec::guest::signal
