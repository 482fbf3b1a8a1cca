// Turns without a server: first come, first served. For runs that nobody records, and for the children of a
// recorded process. Recorded threads get their turns from the server: granted_turns.h.
#pragma once

#include "trace/guest/run/thread.h"

namespace detrec::guest::run {

/// Blocks until `thread` has the turn.
void wait_in_line(Thread& thread);
/// Hands the turn on to the first in the line.
void leave_to_line();
/// True when somebody waits in the line.
bool line_waits();
/// The turn is `thread`'s, and nobody waits.
void reset_line(Thread* thread);
/// The turn becomes `to`'s; nobody is woken.
void set_line_holder(Thread& to);
/// `self` gets the turn if `gone` has it; else `gone` leaves the line.
void take_line_place(Thread& self, Thread& gone);

}  // namespace detrec::guest::run
