// The clocks of a diversion: those of the position that it left the recording at, going on with the ticks of
// the diverted thread and with the time that it sleeps.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/wire/event.h"

namespace detrec::guest::divert {

// While replaying: what the program was told last.
void note_clock(u64 clock, const syscall::Timespec& time);
void note_clock_call(i32 nr, const syscall::Args& args);
void note_instruction(wire::InstructionKind what, u64 value);

/// The diversion begins, at a position that was recorded at `wall_ns` (since 1970).
void start_clocks(Turn& turn, u64 wall_ns);
/// What clock_gettime answers. False: there is no such clock.
bool read_clock(Turn& turn, u64 clock, syscall::Timespec& time);
/// The time-stamp counter.
u64 read_tsc(Turn& turn);
/// The thread sleeps for so long, which takes no time.
void sleep(const syscall::Timespec& time);

}  // namespace detrec::guest::divert
