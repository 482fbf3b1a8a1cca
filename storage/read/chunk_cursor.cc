#include "storage/read/chunk_cursor.h"

#include <string>

namespace detrec::storage {
namespace {

/// The stored bytes of a chunk: no more than its content may have, and what zstd adds at worst.
constexpr std::int64_t kMaxStored = static_cast<std::int64_t>(event::kMaxChunkBytes + (1u << 20));

}  // namespace

Result<EventSpan> event_span(sqlite::Database& database) {
  auto select = database.prepare("SELECT min(first_event), max(last_event) FROM chunk WHERE stream = 0");
  if (!select) return select.error();
  const auto row = select.value().step();
  if (!row) return row.error();
  EventSpan span{{static_cast<std::uint64_t>(select.value().number(0))},
                 {static_cast<std::uint64_t>(select.value().number(1))}};
  if (span.first.value > span.last.value)
    return Error{ErrorCode::kInvalid, "its chunks end before they begin", {}};
  return span;
}

Result<ChunkCursor> ChunkCursor::create(sqlite::Database& database, EventNumber from, const EventSpan& span) {
  ChunkCursor cursor;
  cursor.from_ = from;
  cursor.end_ = span.last;
  if (from > span.last || span.last.value == 0) {
    cursor.ended_ = true;
    return cursor;
  }
  auto first = database.prepare(
      "SELECT seq FROM chunk WHERE stream = 0 AND last_event >= ? ORDER BY last_event, seq LIMIT 1");
  if (!first) return first.error();
  const auto row = first.value().bind(from.value).step();
  if (!row) return row.error();
  if (!row.value()) return Error{ErrorCode::kInvalid, "a chunk is missing", {}};
  cursor.seq_ = first.value().number(0) - 1;
  auto select = database.prepare(
      "SELECT first_event, last_event, t_first, codec, raw_size, crc, data FROM chunk "
      "WHERE stream = 0 AND seq = ?");
  if (!select) return select.error();
  cursor.select_ = std::move(select.value());
  return cursor;
}

Error ChunkCursor::damaged(const char* what) const {
  return Error{ErrorCode::kInvalid, what, "chunk " + std::to_string(seq_)};
}

Result<bool> ChunkCursor::open_next_chunk() {
  ++seq_;
  select_.reset();
  const auto row = select_.bind(seq_).step();
  if (!row) return row.error();
  if (!row.value()) return false;
  const auto number = [&](int column) { return static_cast<std::uint64_t>(select_.number(column)); };
  first_in_chunk_ = {number(0)};
  last_in_chunk_ = {number(1)};
  if (first_in_chunk_.value == 0 || first_in_chunk_ > last_in_chunk_)
    return damaged("it ends before it begins");
  const std::uint64_t codec = number(3);
  if (codec > ~std::uint32_t{0}) return damaged("it has an impossible coding");
  if (select_.size(6) > kMaxStored) return damaged("it is larger than chunks can be");
  auto decoder =
      event::ChunkDecoder::open(select_.blob(6), static_cast<std::uint32_t>(codec), first_in_chunk_,
                                {number(2)}, number(4), static_cast<std::uint32_t>(number(5)));
  select_.reset();  // a reader that holds no row does not keep a writer's journal from being folded
  if (!decoder) {
    Error error = decoder.error();
    error.context = "chunk " + std::to_string(seq_);
    return error;
  }
  decoder_.emplace(std::move(decoder.value()));
  at_chunk_start_ = true;
  return true;
}

/// Whether the record continues what came before, within and across chunks.
Status ChunkCursor::check_record(const event::DecodedRecord& record) {
  const bool is_data = record.view.kind() == wire::EventKind::kData;
  if (last_seen_.value != 0) {
    if (is_data != data_follows_) return damaged("a data record is missing or does not belong to an event");
    if (record.number.value != last_seen_.value + (is_data ? 0 : 1))
      return damaged("its events do not follow those before");
  }
  if (record.number > last_in_chunk_) return damaged("it has more events than its row says");
  last_seen_ = record.number;
  data_follows_ = record.view.more_data();
  at_chunk_start_ = false;
  return Done{};
}

Result<const event::DecodedRecord*> ChunkCursor::next() {
  while (!ended_) {
    if (!decoder_) {
      const auto opened = open_next_chunk();
      if (!opened) {
        ended_ = true;
        return opened.error();
      }
      if (!opened.value()) {
        ended_ = true;
        if (last_seen_ < end_) return damaged("it is missing");
        break;
      }
    }
    const auto record = decoder_->next();
    if (!record) {
      ended_ = true;
      Error error = record.error();
      error.context = "chunk " + std::to_string(seq_);
      return error;
    }
    if (!record.value()) {
      if (at_chunk_start_ || last_seen_ != last_in_chunk_) {
        ended_ = true;
        return damaged("it has fewer events than its row says");
      }
      decoder_.reset();
      continue;
    }
    if (const auto good = check_record(*record.value()); !good) {
      ended_ = true;
      return good.error();
    }
    if (!started_) {
      started_ = record.value()->number >= from_ && record.value()->view.kind() != wire::EventKind::kData;
      if (!started_) continue;
      if (record.value()->number != from_) {
        ended_ = true;
        return damaged("its events do not follow those before");
      }
    }
    return record;
  }
  ended_ = true;
  return nullptr;
}

}  // namespace detrec::storage
