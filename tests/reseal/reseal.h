// Changes events of a trace and closes it again, with right checksums: what replay must notice.
//
// Holds all events in memory: for the traces of tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace/event/event_view.h"
#include "trace/event/position.h"
#include "trace/event/result.h"

namespace detrec::reseal {

/// An event with the kData records that belong to it, one behind the other.
struct Event {
  event::WallTime time;
  std::vector<std::byte> records;

  wire::EventHeader& header() { return *reinterpret_cast<wire::EventHeader*>(records.data()); }
  /// The body as the structure that the kind names.
  template <typename Body>
  Body& body() {
    return *reinterpret_cast<Body*>(records.data() + sizeof(wire::EventHeader));
  }
};

/// Changes events; the event with number n is at n - 1. An error is passed on.
using Change = std::function<event::Status(std::vector<Event>&)>;

/// Writes a copy of `from` to `to` (replaced if it exists) with changed events. The tables that people look
/// up stay as they were. Events must stay valid records.
event::Status reseal(const std::filesystem::path& from, const std::filesystem::path& to,
                     const Change& change);

/// Reads a change from words: see usage().
event::Result<Change> parse_change(std::span<const std::string> words);
std::string usage();

}  // namespace detrec::reseal
