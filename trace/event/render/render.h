// Events as people read them: one line each, or one JSON object each.
#pragma once

#include <string>

#include "trace/event/chunk_codec.h"

namespace detrec::event {

/// "event:ticks:pc thread kind details", without the newline. System calls are shown as strace shows them,
/// with the beginning of what they read or wrote; names and data are escaped, so that a trace cannot reach
/// the terminal.
std::string render_line(const DecodedRecord& record);

/// The same as a JSON object on one line, data in full (hexadecimal). Addresses and arguments are strings
/// ("0x..."), since JSON's numbers have 53 bits.
std::string render_json(const DecodedRecord& record);

/// Text between double quotes with escapes like C's; at most `limit` bytes of `data` are shown, then "...".
std::string quoted(std::span<const std::byte> data, std::size_t limit);

}  // namespace detrec::event
