// A diversion: the debugger has changed something, or calls a function, so the program lives on its own from
// a position of the recording on. The process is a copy that is thrown away; nothing of it enters a trace.
//
// One thread runs, the others stand still. There is no outside: calls that would need one are refused
// (docs/debugging.md). All need the turn.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/wire/event.h"

namespace detrec::guest::divert {

/// The process leaves the recording, if it has not yet, and thread `number` gets the turn, if there is one.
/// `wall_ns`: when the position was recorded.
void take_over(Turn& turn, u32 number, u64 wall_ns);

/// Goes on in the guest, whatever the engine was doing, with `info` delivered first (nullptr: none).
[[noreturn]] void enter(Turn& turn, const SignalInfo* info);

/// A system call of a diverted thread. `serve` serves it as if nothing was recorded.
SysResult serve_call(Turn& turn, i32 nr, SysResult (*serve)(Turn& turn, i32 nr));

/// What rdtsc and the like are answered; `values` has the answer of this machine.
void answer_instruction(Turn& turn, wire::InstructionKind what, u64 (&values)[4]);

/// The diverted program ends, by a signal or (0) with a status: stands still for ever.
[[noreturn]] void end(Turn& turn, i32 signal, i32 status);

/// The next number of a sequence that is the same in every diversion: what the program asks for at random.
u64 next_random();

}  // namespace detrec::guest::divert
