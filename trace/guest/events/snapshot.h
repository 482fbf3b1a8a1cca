// The start of an image: recorded as a snapshot of memory and registers, replayed by putting both in place.
// Nothing of the loader runs in a replay.
#pragma once

#include "trace/guest/load/loader.h"

namespace detrec::guest::events {

/// Recording: appends the snapshot of a program that is loaded and about to run. Else nothing.
void record_start(Turn& turn, const load::Program& program);

/// Replay: puts the next image of the recording in place, instead of loading one.
void replay_start(Turn& turn);

}  // namespace detrec::guest::events
