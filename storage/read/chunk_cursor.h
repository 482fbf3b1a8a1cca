// Walks the events of a trace chunk by chunk. Internal to storage.
#pragma once

#include <optional>

#include "storage/sqlite.h"
#include "trace/event/chunk_codec.h"

namespace detrec::storage {

/// The first and last event that the chunks cover; both 0 when there are none.
struct EventSpan {
  EventNumber first, last;
};
Result<EventSpan> event_span(sqlite::Database& database);

class ChunkCursor {
 public:
  /// A cursor before event `from`: its first record is that event itself. `from` must be in `span`, or one
  /// behind it.
  static Result<ChunkCursor> create(sqlite::Database& database, EventNumber from, const EventSpan& span);

  /// The next record, valid until the next call; nullptr after the last.
  Result<const event::DecodedRecord*> next();

 private:
  Result<bool> open_next_chunk();
  Status check_record(const event::DecodedRecord& record);
  Error damaged(const char* what) const;

  sqlite::Statement select_;
  std::optional<event::ChunkDecoder> decoder_;
  EventNumber from_;
  EventNumber end_;       ///< the last event that must be there
  std::int64_t seq_ = 0;  ///< of the open chunk
  EventNumber first_in_chunk_, last_in_chunk_;
  bool at_chunk_start_ = false;
  EventNumber last_seen_;      ///< 0: nothing yet
  bool data_follows_ = false;  ///< the record before announced a kData record
  bool started_ = false;       ///< `from_` has been reached
  bool ended_ = false;
};

}  // namespace detrec::storage
