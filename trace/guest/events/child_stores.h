// Recording: what a vfork child stores into the memory that it natively shares with its parent.
//
// A child is not recorded, so it gets memory of its own. The parent waits for it as natively, and then takes
// over what the child has changed until it executed or ended: posix_spawn() learns in this way that a program
// does not exist. Those changes go along with the event of the call.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::events {

/// Parent, before it makes the child. It keeps the turn until take_child_stores().
void expect_child_stores();

/// Any forked child: notes whether it is such a child of a recorded process.
void begin_child_stores();

/// Child, about to execute or to end: leaves its changes to the parent. Does nothing in other processes.
void leave_child_stores();

/// Parent, after the child has executed or ended: the changes become the guest's, and are noted.
void take_child_stores(Turn& turn);

}  // namespace detrec::guest::events
