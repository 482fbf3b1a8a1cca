#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "trace/event/chunk_codec.h"
#include "trace/event/codec/byte_streams.h"
#include "trace/event/codec/prediction.h"
#include "trace/event/record_parser.h"

namespace detrec::event {
namespace {

using namespace codec;
using wire::EventHeader;
using wire::EventKind;

Error damaged(const char* what) { return Error{ErrorCode::kInvalid, what, "chunk"}; }

/// A record under construction, never larger than records may be.
class RecordRoom {
 public:
  /// Begins a record; its header, zeroed.
  EventHeader& begin() {
    size_ = 0;
    fits_ = true;
    return append<EventHeader>();
  }
  bool fits() const { return fits_; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)).first(size_); }

  /// Room for `size` bytes and their padding, which is zeroed; nullptr when there is none.
  std::byte* grow(std::uint64_t size) {
    const std::size_t left = wire::kMaxRecordBytes - size_;
    if (!fits_ || size > left) {
      fits_ = false;
      return nullptr;
    }
    std::byte* at = reinterpret_cast<std::byte*>(words_.data()) + size_;
    const std::size_t padded = (static_cast<std::size_t>(size) + 7) & ~std::size_t{7};
    std::fill(at + size, at + padded, std::byte{0});
    size_ += padded;
    return at;
  }
  /// Appends a structure, zeroed. It is filled in here and not copied, which would wait for each of its
  /// fields; one for which there is no room is as good as any.
  template <typename T>
  T& append() {
    static_assert(sizeof(T) % 8 == 0 && sizeof(T) <= sizeof(nowhere_));
    std::byte* at = grow(sizeof(T));
    return *new (at != nullptr ? at : reinterpret_cast<std::byte*>(nowhere_)) T{};
  }
  void put_from(ByteSource& source, std::uint64_t size) {
    if (std::byte* at = grow(size)) source.raw(at, static_cast<std::size_t>(size));
  }
  void end() {
    const auto size = static_cast<std::uint32_t>(size_);
    std::memcpy(words_.data(), &size, sizeof size);  // EventHeader::size
  }

 private:
  std::uint64_t nowhere_[16];
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(wire::kMaxRecordBytes / 8);
  std::size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace

struct ChunkDecoder::State {
  std::vector<std::byte> streams[3];
  ByteSource meta, noise, payload;
  Prediction expected;
  RecordRoom record;
  DecodedRecord decoded;
  bool first = true;

  bool decode_header(std::uint8_t byte, EventHeader& header);
  void decode_call(const EventHeader& header);
  std::byte* time_place = nullptr;  ///< where the answer of a timed call goes

  bool decode_ranges(const CallValues& call, CallContext& context, bool stored, std::uint32_t& count);
  void decode_time(CallContext& context);
  void decode_instruction();
  void decode_turn();
  void decode_data();
  Result<const DecodedRecord*> next();
};

bool ChunkDecoder::State::decode_header(std::uint8_t byte, EventHeader& header) {
  header.kind = static_cast<EventKind>(byte & kKindMask);
  header.flags = (byte & kHasMore) != 0 ? wire::kMoreData : std::uint16_t{0};
  const bool is_data = header.kind == EventKind::kData;
  header.thread = expected.thread;
  if ((byte & kThreadChanged) != 0) header.thread = static_cast<std::uint32_t>(meta.varint());
  ThreadContext& thread = expected.thread_context(header.thread);
  Successor& next = expected.successor(thread.pc);
  std::uint64_t ticks = is_data ? 0 : next.ticks;
  if ((byte & kHasTicks) != 0) ticks = meta.varint();
  header.ticks = thread.ticks + ticks;
  header.pc = is_data ? thread.pc : next.pc;
  if ((byte & kHasPc) != 0) header.pc = thread.pc + meta.signed_varint();

  expected.thread = header.thread;
  if (!is_data) next = {header.pc, ticks};
  thread = {header.ticks, header.pc};
  return meta.ok();
}

/// Reads or predicts the ranges and appends them to the record.
bool ChunkDecoder::State::decode_ranges(const CallValues& call, CallContext& context, bool stored,
                                        std::uint32_t& count) {
  if (stored) context.range_count = static_cast<std::uint32_t>(meta.varint());
  count = context.range_count;
  if (!stored && count > kPredictedRanges) return false;
  std::uint64_t range_end = 0;
  for (std::uint32_t i = 0; i < count && record.fits() && meta.ok() && payload.ok(); ++i) {
    const bool remembered = i < kPredictedRanges;
    RangeRule rule;
    if (stored) {
      const std::uint8_t head = meta.byte();
      rule.direction = head & 3;
      rule.base = (head >> 2) & 7;
      rule.size_rule = head >> 5;
      rule.offset = meta.signed_varint();
      if (rule.size_rule == kSizeStored) rule.size = static_cast<std::uint32_t>(meta.varint());
      if (remembered) context.rules[i] = rule;
    } else {
      rule = context.rules[i];
    }
    const std::uint64_t last = remembered ? context.addresses[i] : 0;
    const std::uint64_t size = call.size_by(rule);
    const std::uint64_t address = call.base_of(rule.base, range_end, last) + rule.offset;
    record.append<wire::RangeHeader>() = {address, static_cast<std::uint32_t>(size),
                                          static_cast<wire::Direction>(rule.direction)};
    if (context.timed) {
      if (size != sizeof(Time) || count != 1) return false;
      time_place = record.grow(size);
    } else {
      record.put_from(payload, size);
    }
    range_end = address + size;
    expected.range_end = range_end;
    if (remembered) context.addresses[i] = address;
  }
  return true;
}

void ChunkDecoder::State::decode_time(CallContext& context) {
  context.time += noise.signed_varint();
  const Time time{context.time / kNanosPerSecond, context.time % kNanosPerSecond};
  if (time_place != nullptr) std::memcpy(time_place, &time, sizeof time);
}

void ChunkDecoder::State::decode_call(const EventHeader& header) {
  const auto bits = static_cast<std::uint32_t>(meta.varint());
  std::int32_t& number_here = expected.number_at(header.pc);
  auto& body = record.append<wire::SyscallBody>();
  body.number = number_here;
  if ((bits & kNumberDiffers) != 0) body.number = static_cast<std::int32_t>(meta.signed_varint());
  number_here = body.number;
  CallContext& context = expected.call(header.pc, body.number);
  for (unsigned i = 0; i < 6; ++i) {
    if ((bits & (1u << (kFirstArgBit + i))) != 0) context.args[i] += meta.signed_varint();
    body.args[i] = context.args[i];
  }
  if ((bits & kResultDiffers) != 0)
    context.result =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(context.result) + meta.signed_varint());
  body.result = context.result;
  const CallValues call{body.args, body.result};
  if ((bits & kTimedDiffers) != 0) context.timed = !context.timed;
  time_place = nullptr;

  if (!decode_ranges(call, context, (bits & kRangesDiffer) != 0, body.range_count)) record.grow(~0ull);
  if ((bits & kHashDiffers) != 0) context.hash = noise.value<std::uint32_t>();
  body.input_hash = context.hash;
  body.duration_ns = noise.varint();
  if (context.timed) decode_time(context);
}

void ChunkDecoder::State::decode_instruction() {
  const std::uint8_t head = meta.byte();
  auto& body = record.append<wire::InstructionBody>();
  body.what = static_cast<wire::InstructionKind>(head & 7);
  auto& last = expected.instructions[head & 7];
  for (unsigned i = 0; i < 4; ++i) {
    if ((head & (0x10u << i)) != 0) last[i] += noise.signed_varint();
    body.values[i] = last[i];
  }
}

void ChunkDecoder::State::decode_turn() {
  const std::uint64_t head = meta.varint();
  auto& body = record.append<wire::TurnBody>();
  body.reason = static_cast<wire::TurnReason>(head >> 1);
  body.to_thread = static_cast<std::uint32_t>(meta.varint());
  if ((head & 1) != 0) body.register_hash = noise.value<std::uint64_t>();
}

void ChunkDecoder::State::decode_data() {
  const std::uint64_t head = meta.varint();
  const std::uint64_t size = head >> 2;
  const std::uint64_t address = expected.range_end + meta.signed_varint();
  record.append<wire::RangeHeader>() = {address, static_cast<std::uint32_t>(size),
                                        static_cast<wire::Direction>(head & 3)};
  record.put_from(payload, size);
  expected.range_end = address + size;
}

Result<const DecodedRecord*> ChunkDecoder::State::next() {
  if (meta.left() == 0) {
    if (noise.left() != 0 || payload.left() != 0) return damaged("there is more than its records need");
    return nullptr;
  }
  std::uint8_t byte = meta.byte();
  while (byte == kTimeMark && meta.ok()) {
    decoded.time.ns += noise.varint();
    byte = meta.byte();
  }
  EventHeader& header = record.begin();
  if (!decode_header(byte, header)) return damaged("a record is cut off");
  if (is_kept_as_is(header.kind)) {
    record.put_from(payload, meta.varint());
  } else if (header.kind == EventKind::kSyscall) {
    decode_call(header);
  } else if (header.kind == EventKind::kInstruction) {
    decode_instruction();
  } else if (header.kind == EventKind::kTurn) {
    decode_turn();
  } else if (header.kind == EventKind::kData) {
    decode_data();
  } else {
    return Error{ErrorCode::kUnsupported, "an unknown kind of event", "chunk"};
  }
  if (!meta.ok() || !noise.ok() || !payload.ok()) return damaged("a record is cut off");
  if (!record.fits()) return damaged("a record is larger than records can be");
  record.end();
  if (parse_record_into(decoded.view, record.bytes()) != nullptr) return parse_record(record.bytes()).error();

  if (header.kind != EventKind::kData && !first) ++decoded.number.value;
  first = false;
  decoded.bytes = record.bytes();
  return &decoded;
}

Result<ChunkDecoder> ChunkDecoder::open(std::span<const std::byte> data, std::uint32_t codec,
                                        EventNumber first_event, WallTime first_time, std::uint64_t raw_size,
                                        std::uint32_t crc) {
  if (codec != kChunkCodec)
    return Error{ErrorCode::kUnsupported, "it has coding " + std::to_string(codec) + ", which is not known",
                 "chunk"};
  if (raw_size > kMaxChunkBytes) return damaged("it says to be larger than chunks can be");
  if (crc32_z(0, reinterpret_cast<const unsigned char*>(data.data()), data.size()) != crc)
    return damaged("its checksum is wrong");

  // First all sizes, then memory.
  std::span<const std::byte> frames[3];
  std::uint64_t sizes[3];
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t stored = ZSTD_findFrameCompressedSize(data.data(), data.size());
    if (ZSTD_isError(stored) != 0 || stored > data.size()) return damaged("it is not three zstd frames");
    sizes[i] = ZSTD_getFrameContentSize(data.data(), stored);
    if (sizes[i] > kMaxChunkBytes) return damaged("a frame has an impossible size");
    sum += sizes[i];
    frames[i] = data.first(stored);
    data = data.subspan(stored);
  }
  if (!data.empty()) return damaged("there is something behind its frames");
  if (sum != raw_size) return damaged("its size is not what its row says");

  auto state = std::make_unique<State>();
  for (std::size_t i = 0; i < 3; ++i) {
    auto& stream = state->streams[i];
    stream.resize(static_cast<std::size_t>(sizes[i]));
    const std::size_t size =
        ZSTD_decompress(stream.data(), stream.size(), frames[i].data(), frames[i].size());
    if (ZSTD_isError(size) != 0 || size != stream.size()) return damaged("it does not decompress");
  }
  state->meta = ByteSource(state->streams[0]);
  state->noise = ByteSource(state->streams[1]);
  state->payload = ByteSource(state->streams[2]);
  state->decoded.number = first_event;
  state->decoded.time = first_time;
  return ChunkDecoder(std::move(state));
}

ChunkDecoder::ChunkDecoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChunkDecoder::~ChunkDecoder() = default;
ChunkDecoder::ChunkDecoder(ChunkDecoder&&) noexcept = default;
ChunkDecoder& ChunkDecoder::operator=(ChunkDecoder&&) noexcept = default;

Result<const DecodedRecord*> ChunkDecoder::next() {
  auto record = state_->next();
  if (!record) state_->meta = state_->noise = state_->payload = ByteSource();
  return record;
}

}  // namespace detrec::event
