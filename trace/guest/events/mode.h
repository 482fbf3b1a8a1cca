// Whether what enters the guest is recorded, comes from a recording, or neither.
#pragma once

#include "trace/guest/base/types.h"
#include "trace/wire/channel.h"

namespace detrec::guest::events {

/// Set once, by start_ring().
inline constinit wire::ChannelMode current_mode = wire::ChannelMode::kNone;

/// A replay under a debugger that has left the recording (divert/diversion.h). It counts as replaying still:
/// one kernel thread plays all guest threads, and no signal comes from outside.
inline constinit bool diverted = false;

inline bool recording() { return current_mode == wire::ChannelMode::kRecord; }
inline bool replaying() { return current_mode == wire::ChannelMode::kReplay; }

}  // namespace detrec::guest::events
