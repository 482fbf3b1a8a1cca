// Whether what enters the guest is recorded, comes from a recording, or neither.
#pragma once

#include "trace/guest/base/types.h"
#include "trace/wire/channel.h"

namespace detrec::guest::events {

/// Set once, by start_ring().
inline constinit wire::ChannelMode current_mode = wire::ChannelMode::kNone;

inline bool recording() { return current_mode == wire::ChannelMode::kRecord; }
inline bool replaying() { return current_mode == wire::ChannelMode::kReplay; }

}  // namespace detrec::guest::events
