// Names of points of a run (docs/positions.md), and the ids they are made of.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/event/result.h"

namespace detrec::event {

/// Number of an event in its run, from 1; 0: before the first event.
struct EventNumber {
  std::uint64_t value = 0;
  friend auto operator<=>(const EventNumber&, const EventNumber&) = default;
};

/// Number of a thread in its run, from 1, unique over the process tree.
struct ThreadNumber {
  std::uint32_t value = 0;
  friend auto operator<=>(const ThreadNumber&, const ThreadNumber&) = default;
};

/// A count of ticks: counted transfers of one thread since its start.
struct Ticks {
  std::uint64_t value = 0;
  friend auto operator<=>(const Ticks&, const Ticks&) = default;
};

/// An address in a guest process.
struct GuestAddress {
  std::uint64_t value = 0;
  friend auto operator<=>(const GuestAddress&, const GuestAddress&) = default;
};

/// Wall time: nanoseconds since the epoch, CLOCK_REALTIME.
struct WallTime {
  std::uint64_t ns = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

/// A point of a run; positions compare in the order of time.
struct Position {
  EventNumber event;
  Ticks ticks;
  GuestAddress pc;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// "event:ticks:0xpc".
std::string to_string(const Position& position);

/// Reads "event", "event:ticks" or "event:ticks:pc"; what is left out is 0. Event and ticks are decimal, pc
/// is hexadecimal with or without 0x. Anything else is kInvalid.
Result<Position> parse_position(std::string_view text);

}  // namespace detrec::event
