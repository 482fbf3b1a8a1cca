// Turns in a replay: one kernel thread plays all guest threads. Each has an engine stack of its own, as when
// recording; the turn goes from one to another by a switch of stacks, at the recorded position.
#pragma once

#include "trace/guest/run/threads.h"

namespace detrec::guest::run {

/// True when the recording says that the running thread, which is in a system call, gave the turn away here.
bool turn_passes_in_call(Turn& turn);

/// Gives the turn to the thread that the next event names; returns when the running thread has it again.
void pass_turn(Turn& turn);

/// The same for a thread that has ended and is in no list any more.
[[noreturn]] void leave_replayed_thread(Turn& turn);

/// Stands in for start_kernel_thread: `child` runs when it first gets the turn. Returns its recorded id.
SysResult start_replayed_thread(Turn& turn, KernelThread& child, const KernelClone& clone);

/// A diversion: gives the turn to `to`, without an event and without leaving the stack.
void take_turn_for(Turn& turn, KernelThread& to);

/// First thing on the stack of a thread that has got its first turn.
void begin_replayed_thread(KernelThread& self);

}  // namespace detrec::guest::run
