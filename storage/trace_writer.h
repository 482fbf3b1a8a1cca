// Writes a trace while it is being recorded.
//
// The recorder's thread calls; a thread of the writer's own encodes, compresses and writes in transactions of
// some MiB or 100 ms, so that a killed recorder leaves a trace that is good up to the last of them. Events
// and the rows derived from them are in the same transaction. All functions are to be called from one thread.
//
// When writing fails (full disk, I/O error), every later call returns that error, nothing more is written,
// and the file stays valid up to the last transaction that succeeded.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/capture.h"
#include "storage/trace_info.h"
#include "trace/event/event_view.h"

namespace detrec::storage {

struct WriterOptions {
  int compression_level = 1;                      ///< zstd's, for events
  int capture_compression_level = -1;             ///< zstd's, for captured files
  std::size_t chunk_bytes = 2u << 20;             ///< a chunk ends when it is larger, before compression
  std::size_t queue_bytes = 32u << 20;            ///< add() waits when the writer is so far behind
  std::chrono::milliseconds flush_interval{100};  ///< and a transaction is never older than this
  std::uint64_t indexed_syscalls = 200'000;       ///< finish() fills the table `syscall` up to so many rows
  bool replace_existing = false;                  ///< a trace or empty file; else what exists is an error
  std::string vfs;                                ///< SQLite's file layer; empty: the default
};

class TraceWriter {
 public:
  /// Makes the file. kIo when that is not possible, or when it exists and may not be replaced. What is
  /// to stand in it from the beginning is written meanwhile, and fails as all that follows does; then
  /// there is no file.
  static Result<std::unique_ptr<TraceWriter>> create(const std::filesystem::path& path,
                                                     const RecordingInfo& info, WriterOptions options = {});
  /// Without finish() before: writes what was added, leaves the trace marked as not complete.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Appends a record, copying it; `time` is when it was taken from the ring, and never goes back. Returns
  /// the number of the event that the record is or (kData) belongs to. kInvalid: a malformed record, or kData
  /// records that do not follow an event that announced them; the trace is not changed by it.
  Result<EventNumber> add(std::span<const std::byte> record, WallTime time);
  /// The same for records that the caller has parsed already, one after another without pause: the writer's
  /// own thread waits while a Series lives.
  class Series {
   public:
    explicit Series(TraceWriter& writer);
    ~Series();
    Series(const Series&) = delete;
    Series& operator=(const Series&) = delete;
    Result<EventNumber> add(const event::EventView& record, WallTime time);

   private:
    struct Hold;
    std::unique_ptr<Hold> hold_;
  };

  /// Number of the last event added; 0: none.
  EventNumber last_event() const;

  /// Stores the content of `fd` (read with pread from 0 to its end; the offset is not moved; it stays open)
  /// or of `content` as capture `number`. When it returns, the content has been read. kInvalid: the number is
  /// taken or 0.
  Status add_capture(CaptureNumber number, const CaptureInfo& info, int fd);
  Status add_capture(CaptureNumber number, const CaptureInfo& info, std::span<const std::byte> content);

  /// Sets a key of `recording`. Not for the keys that the writer sets itself.
  Status set(std::string_view key, std::string_view value);

  /// Returns when everything added so far is in the file (kill -9 no longer loses it).
  Status flush();

  /// Ends the recording in order: writes what is left, fills the table `syscall` if that is not too much,
  /// folds the journal into the file. Nothing may be added afterwards.
  Status finish(const RecordingSummary& summary);

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace detrec::storage
