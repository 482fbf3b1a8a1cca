// Reads a trace: its description, its events from any event on, its captured files.
//
// A trace is untrusted: everything is checked before it is believed, sizes before memory is allocated. A
// reader and its cursors belong to one thread; several readers may have the same file open, also while it is
// still being written. A file or folder that cannot be written is no obstacle.
//
// The last event of a recording that was cut off may lack data: its last record then still has more_data().
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "storage/capture.h"
#include "storage/trace_info.h"
#include "trace/event/chunk_codec.h"

namespace detrec::storage {

/// The events of a trace in order. Must not outlive its reader.
class EventCursor {
 public:
  ~EventCursor();
  EventCursor(EventCursor&&) noexcept;
  EventCursor& operator=(EventCursor&&) noexcept;

  /// The next record (kData records included), valid until the next call; nullptr after the last.
  Result<const event::DecodedRecord*> next();

 private:
  friend class TraceReader;
  struct State;
  explicit EventCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A capture: the file it was, and where its content is.
struct Capture {
  CaptureNumber number;
  CaptureInfo info;
  std::int64_t file = 0;  ///< captures with the same content have the same file
};

/// What a trace holds, for people.
struct TraceStatistics {
  struct Kind {
    std::string name;
    std::uint64_t records = 0;
    std::uint64_t coded_bytes = 0;    ///< before compression, without payload
    std::uint64_t payload_bytes = 0;  ///< before compression
  };
  std::vector<Kind> kinds;
  std::uint64_t processes = 0, threads = 0, signals = 0;
  std::uint64_t chunks = 0, chunk_bytes = 0;  ///< stored
  std::uint64_t captures = 0, files = 0, file_bytes = 0, file_stored_bytes = 0;
};

/// A process that has the trace open: one that records it, or reads it while it is recorded or was cut off.
/// 0: none. Not for a process that has the trace open itself: it would lose its locks.
std::int32_t process_using(const std::filesystem::path& trace);

class TraceReader {
 public:
  /// kNotFound, kIo, kInvalid (empty, not a trace, damaged) or kUnsupported (newer than this version).
  static Result<std::unique_ptr<TraceReader>> open(const std::filesystem::path& path);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  const RecordingTable& recording() const;
  /// The first and last event that the trace has; both 0 when it has none.
  EventNumber first_event() const;
  EventNumber last_event() const;

  /// A cursor whose first record is event `from` itself (not its kData records). kNotFound when the trace
  /// does not have that event; the event after the last one gives a cursor at its end.
  Result<EventCursor> events(EventNumber from = EventNumber{1});

  Result<TraceStatistics> statistics();

  /// All captures, by number.
  Result<std::vector<Capture>> captures();
  /// kNotFound when there is no such capture.
  Result<Capture> capture(CaptureNumber number);
  /// The whole content; kInvalid when it is larger than `limit` bytes.
  Result<std::vector<std::byte>> read_capture(const Capture& capture, std::uint64_t limit);
  /// Writes the content to `fd` from `offset` on, where it has a hole or ends: with pwrite, zeros left out.
  Status copy_capture(const Capture& capture, int fd, std::uint64_t offset);

 private:
  struct State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace detrec::storage
