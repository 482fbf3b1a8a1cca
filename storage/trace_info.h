// What a trace says about itself: the table `recording`, as structures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event/position.h"
#include "trace/event/result.h"

namespace detrec::storage {

using event::Done;
using event::Error;
using event::ErrorCode;
using event::EventNumber;
using event::Result;
using event::Status;
using event::WallTime;

/// "DTRC": SQLite's application_id of a trace.
inline constexpr std::int32_t kApplicationId = 0x44545243;
/// SQLite's user_version: the version of the schema.
inline constexpr std::int32_t kSchemaVersion = 1;

/// Versions that a replayer must know. They change apart from each other and from the schema's.
inline constexpr std::uint32_t kTickSemantics = 1;  ///< which instructions count (docs/positions.md)
inline constexpr std::uint32_t kEventSet = 2;       ///< kinds and fields of events (trace/wire/event.h)
inline constexpr std::uint32_t kFrameLayout = 1;    ///< signal frames

/// What is known when a recording begins. Strings are stored as given.
struct RecordingInfo {
  std::vector<std::string> command;  ///< argv of the program
  std::string directory;             ///< working directory
  std::string host;                  ///< node name
  std::string kernel;                ///< release and version of the host's kernel
  std::string cpu_model;             ///< the model the guest sees, as the recorder spells it
  std::string detrec_version;
  std::string policy = "record";
  std::uint64_t seed = 0;
  WallTime started;
  std::map<std::string, std::string> more;  ///< other keys of `recording`, the recorder's own
};

/// What is known when it ends.
struct RecordingSummary {
  WallTime ended;
  int exit_status = 0;                 ///< detrec's own: the program's, or 128+n for signal n
  std::optional<std::uint64_t> ticks;  ///< of all threads; none: as their events say
  std::string end_reason = "exit";     ///< "exit", "signal", "error: ...": for people
};

/// The table `recording` of a trace.
class RecordingTable {
 public:
  using Map = std::map<std::string, std::string, std::less<>>;
  RecordingTable() = default;
  explicit RecordingTable(Map values) : values_(std::move(values)) {}

  /// The value; empty when there is none.
  std::string_view text(std::string_view key) const;
  /// The value as a number; 0 when there is none or it is no number.
  std::uint64_t number(std::string_view key) const;
  /// The recording ended in order; false: it was cut off (killed, full disk), everything up to then is there.
  bool complete() const { return number("complete") == 1; }
  /// argv of the program; empty when the value is malformed.
  std::vector<std::string> command() const;
  const Map& all() const { return values_; }

 private:
  Map values_;
};

/// A JSON array of strings, as tables keep argument lists. Bytes that are not UTF-8 become U+FFFD.
std::string to_json_array(const std::vector<std::string>& words);

}  // namespace detrec::storage
