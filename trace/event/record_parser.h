// parse_record() for loops over many records.
#pragma once

#include "trace/event/event_view.h"

namespace detrec::event {

/// As parse_record(), into a view that the caller keeps for all of its records. Returns nullptr, or what is
/// wrong; then the view is good for nothing.
const char* parse_record_into(EventView& view, std::span<const std::byte> bytes);

}  // namespace detrec::event
