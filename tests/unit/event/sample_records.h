// A few records with known content, one of every kind at least.
#pragma once

#include "trace/event/record_builder.h"

namespace detrec::event::testing {

/// Appends a start, mappings, calls with and without ranges, and so on; the same every time.
void add_samples(RecordBuffer& to);

/// A call like those of a loop that reads `size` bytes: only ticks, data and duration change.
void add_read(RecordBuffer& to, std::uint64_t index, std::size_t size);

}  // namespace detrec::event::testing
