// The doors through which everything passes that enters the guest from outside. When recording each appends
// an event of what happened; when replaying each takes that event from the recording, checks that the guest
// has come to the same point, and hands out what was recorded. Otherwise they do nothing.
//
// All need the turn. System calls have their own door (calls.h), memory too (mappings.h).
#pragma once

#include "trace/guest/events/mode.h"
#include "trace/guest/run/turn.h"
#include "trace/wire/event.h"

namespace detrec::guest::events {

/// The instruction at regs().pc was, or is to be, answered with `values`.
void exchange_instruction(Turn& turn, wire::InstructionKind what, u64 (&values)[4]);

/// `info` is about to be delivered. For a fault of the guest's own the recorded one must be the same; one
/// that came from outside is filled in.
void exchange_signal(Turn& turn, SignalInfo& info, bool asynchronous);

/// The running thread, or its process, ends. A replayed process does not come back from the end of its
/// process.
void exchange_exit(Turn& turn, wire::ExitCause cause, i32 status);

/// The process is about to execute another image: recorded, or told to a vfork child's parent. Replay takes
/// the event in replay_call().
void record_exec(Turn& turn);

/// A thread has been created: its number, and its ids, which replay fills in.
void exchange_thread(Turn& turn, u32 number, i32& tid, i32& pid);

/// A number for a thread: they count up over the run. 0 when there are no events.
u32 new_thread_number();
/// The thread that got the latest number could not be started; a replay does not try.
void take_back_thread_number(u32 number);

/// Of the general registers and the pc; never 0. What the events of turns and signals say of the thread that
/// computed.
u64 general_hash(const Registers& regs);

/// Recording: `to` has got the turn that `from` had given away. Called by `to`, which holds it.
void record_turn(const Thread& from, const Thread& to, wire::TurnReason reason);

}  // namespace detrec::guest::events
