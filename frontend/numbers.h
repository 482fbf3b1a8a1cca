// Numbers as the command line spells them.
#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/result.h"

namespace detrec::frontend {

/// A count of ticks (counted transfers, not time).
struct Ticks {
  std::uint64_t value = 0;
  friend bool operator==(const Ticks&, const Ticks&) = default;
};

/// A guest address.
struct GuestAddress {
  std::uint64_t value = 0;
  friend bool operator==(const GuestAddress&, const GuestAddress&) = default;
};

/// Where to stop: at the tick, then at the next time control reaches `pc` (0: at the tick itself).
struct StopPoint {
  Ticks ticks;
  GuestAddress pc;
};

/// How often to leave the code cache, and by how many instructions to overshoot at most.
struct Slice {
  Ticks ticks;
  std::uint64_t jitter_instructions = 0;
};

/// A whole number: decimal, or hexadecimal after "0x". No sign, no blanks; what does not fit 64 bits is an
/// error.
Result<std::uint64_t> parse_number(std::string_view text);

/// A number of ticks: as parse_number; a decimal one may end in k, M or G (1e3, 1e6, 1e9). The largest 64-bit
/// value is refused: the engine reads it as "never".
Result<Ticks> parse_ticks(std::string_view text);

/// "TICKS" or "TICKS:PC", PC not zero.
Result<StopPoint> parse_stop_point(std::string_view text);

/// "N" or "N+M": N ticks, not zero; M instructions, with the suffixes of ticks.
Result<Slice> parse_slice(std::string_view text);

}  // namespace detrec::frontend
