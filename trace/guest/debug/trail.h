// The last instructions before a process stood still, with what each has overwritten: from it the debugger
// steps back without another run.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/wire/debug.h"

namespace detrec::guest::debug {

/// Forgets everything.
void clear_trail();
/// The instruction at `here` is about to be stepped.
void extend_trail(Turn& turn, const wire::DebugPosition& here, u64 total_ticks);
/// How many instructions lead up to `here`, one after the other.
u64 trail_length(Turn& turn, const wire::DebugPosition& here);

SysResult read_trail(u64 from, wire::DebugTrailEntry* to);
SysResult read_trail_vectors(u64 number, u8* to);

}  // namespace detrec::guest::debug
