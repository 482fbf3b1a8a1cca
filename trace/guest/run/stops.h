// Where a run is to leave generated code: requested stops, slices, and single steps up to a pc.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/wire/event.h"

namespace detrec::guest::run {

/// Reads the options of the launch page and sets the first deadline of the calling thread.
void start_stops(Turn& turn);

/// Sets a new thread's first deadline.
void start_thread_stops(Thread& thread);

/// In a forked child: the requested stop is the first process's alone.
void stops_after_fork();

/// A thread ends: a stop that was requested for it will not come.
void end_thread_stops(const Thread& thread);

/// Called before generated code is entered: when the thread has reached a position where something is to be
/// done, does it (ends the process at the requested stop, begins or ends stepping, gives other threads the
/// turn, sets the next deadline) and returns true when registers or the way on may have changed.
bool at_stop(Turn& turn);

/// Replay: true when the running thread, which has used so many ticks, goes on until it comes to the next
/// event by itself, and that event is `next`.
bool goes_on_to(const wire::EventHeader& next, u64 used);

/// Flags that a tick may have clobbered, because nothing reads them any more, are shown as zero: wherever the
/// registers become visible to the guest or the user.
void settle_flags(Registers& regs);

/// True while instructions are executed one by one.
bool stepping();
/// The pc of the instruction that is being stepped.
GuestAddr step_pc();
/// One instruction was executed.
void note_step();

}  // namespace detrec::guest::run
