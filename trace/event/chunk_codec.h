// Records to chunks and back (docs/event-codec.md). A chunk decodes alone, and to exactly the records that
// went in.
//
// Neither class is thread-safe; different objects may be used at the same time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/event/event_view.h"
#include "trace/event/position.h"
#include "trace/event/result.h"

namespace detrec::event {

/// The coding that `chunk.codec` names.
inline constexpr std::uint32_t kChunkCodec = 2;
/// No chunk is larger before compression.
inline constexpr std::size_t kMaxChunkBytes = 64u << 20;

/// What each kind of event took, before compression. Index: EventKind.
struct KindUsage {
  std::uint64_t records = 0;
  std::uint64_t coded_bytes = 0;    ///< in the meta and noise streams
  std::uint64_t payload_bytes = 0;  ///< data of ranges, bodies kept as they are
};
using KindUsages = std::array<KindUsage, wire::kLastEventKind + 1>;

/// A finished chunk: a row of the table `chunk` without its place.
struct EncodedChunk {
  EventNumber first_event, last_event;
  WallTime first_time, last_time;
  std::uint32_t records = 0;     ///< kData records included
  std::uint64_t raw_size = 0;    ///< of all streams, before compression
  std::uint64_t coded_size = 0;  ///< stored bytes without the payload stream
  std::uint32_t crc = 0;         ///< CRC-32 (zlib's) of `data`
  KindUsages usages{};
  std::vector<std::byte> data;
};

class ChunkEncoder {
 public:
  explicit ChunkEncoder(int compression_level = 1);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  /// Appends a record. `number` is the event it is or (kData) belongs to; numbers rise by one with every
  /// record that is not kData. `record` must have passed parse_record().
  void add(const EventView& record, EventNumber number, WallTime time);

  bool empty() const;
  /// Bytes before compression so far; finish() before it comes near kMaxChunkBytes.
  std::size_t raw_size() const;

  /// Compresses what was added, and starts afresh. Needs !empty(). kIo when there is no memory.
  Result<EncodedChunk> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A record out of a chunk. Views live until the next call of next().
struct DecodedRecord {
  EventNumber number;  ///< of the event it is or (kData) belongs to
  WallTime time;
  std::span<const std::byte> bytes;
  EventView view;
};

class ChunkDecoder {
 public:
  /// Decompresses `data`. `first_event`, `first_time`, `raw_size` and `crc` are the row's; everything is
  /// untrusted: kInvalid or kUnsupported (codec) when it does not fit together.
  static Result<ChunkDecoder> open(std::span<const std::byte> data, std::uint32_t codec,
                                   EventNumber first_event, WallTime first_time, std::uint64_t raw_size,
                                   std::uint32_t crc);
  ~ChunkDecoder();
  ChunkDecoder(ChunkDecoder&&) noexcept;
  ChunkDecoder& operator=(ChunkDecoder&&) noexcept;

  /// The next record, valid until the next call; nullptr at the end. After an error the decoder stays at its
  /// end.
  Result<const DecodedRecord*> next();

 private:
  struct State;
  explicit ChunkDecoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace detrec::event
