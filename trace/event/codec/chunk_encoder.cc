#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "trace/event/chunk_codec.h"
#include "trace/event/codec/byte_streams.h"
#include "trace/event/codec/prediction.h"

namespace detrec::event {
namespace {

using namespace codec;
using wire::EventKind;

constexpr std::size_t kStreams = 3;

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

/// The rule by which `range` follows from the call's values.
RangeRule find_rule(const RangeView& range, const CallValues& call, std::uint64_t range_end, bool first,
                    std::uint64_t last) {
  RangeRule rule;
  rule.direction = static_cast<std::uint8_t>(range.direction);
  for (std::uint8_t arg = 0; arg < 6 && rule.base == kBaseLast; ++arg) {
    if (call.args[arg] == range.address.value) rule.base = arg;
  }
  if (rule.base == kBaseLast && !first && range_end == range.address.value) rule.base = kBaseRangeEnd;
  rule.offset = range.address.value - call.base_of(rule.base, range_end, last);

  rule.size = static_cast<std::uint32_t>(range.data.size());
  if (range.data.size() == static_cast<std::uint64_t>(call.result)) {
    rule.size_rule = kSizeResult;
  } else {
    for (std::uint8_t arg = 0; arg < 6 && rule.size_rule == kSizeStored; ++arg) {
      if (call.args[arg] == range.data.size())
        rule.size_rule = static_cast<std::uint8_t>(kSizeFirstArg + arg);
    }
  }
  return rule;
}

/// What a timed call was answered with, ns.
std::optional<std::uint64_t> time_of(const wire::SyscallBody& body, const RangeList& ranges) {
  if (body.number != kClockGettime || body.result != 0 || ranges.size() != 1) return {};
  const RangeView range = *ranges.begin();
  Time time;
  if (range.data.size() != sizeof time || range.direction != wire::Direction::kIn) return {};
  std::memcpy(&time, range.data.data(), sizeof time);
  constexpr std::uint64_t kMostSeconds = std::uint64_t{1} << 33;
  if (time.seconds >= kMostSeconds || time.nanoseconds >= kNanosPerSecond) return {};
  return time.seconds * kNanosPerSecond + time.nanoseconds;
}

}  // namespace

struct ChunkEncoder::State {
  ByteSink meta, noise, payload;
  Prediction expected;
  EncodedChunk chunk;
  std::uint64_t marked_time = 0;
  int level;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor{ZSTD_createCCtx()};

  void add_header(const EventView& record);
  void add_call(const EventView& record, const SyscallView& view);
  void add_ranges(const CallValues& call, const RangeList& ranges, CallContext& context);
  bool ranges_expected(const CallValues& call, const RangeList& ranges, const CallContext& context) const;
  void add_range_data(const RangeView& range);
  void add_instruction(const wire::InstructionBody& body);
  void add_body(const EventView& record);
  bool compress(const ByteSink& stream);
};

void ChunkEncoder::State::add_header(const EventView& record) {
  const auto& header = *record.header;
  const bool is_data = header.kind == EventKind::kData;
  ThreadContext& thread = expected.thread_context(header.thread);
  Successor& next = expected.successor(thread.pc);
  const std::uint64_t ticks = header.ticks - thread.ticks;
  const std::uint64_t expected_pc = is_data ? thread.pc : next.pc;
  const std::uint64_t expected_ticks = is_data ? 0 : next.ticks;

  auto first = static_cast<std::uint8_t>(header.kind);
  if (header.thread != expected.thread) first |= kThreadChanged;
  if (header.pc != expected_pc) first |= kHasPc;
  if (ticks != expected_ticks) first |= kHasTicks;
  if (record.more_data()) first |= kHasMore;
  meta.byte(first);
  if ((first & kThreadChanged) != 0) meta.varint(header.thread);
  if ((first & kHasTicks) != 0) meta.varint(ticks);
  if ((first & kHasPc) != 0) meta.signed_varint(header.pc - thread.pc);

  expected.thread = header.thread;
  if (!is_data) next = {header.pc, ticks};
  thread = {header.ticks, header.pc};
}

bool ChunkEncoder::State::ranges_expected(const CallValues& call, const RangeList& ranges,
                                          const CallContext& context) const {
  if (ranges.size() != context.range_count || ranges.size() > kPredictedRanges) return false;
  std::uint64_t range_end = 0;
  std::size_t index = 0;
  for (const RangeView range : ranges) {
    const RangeRule& rule = context.rules[index];
    const std::uint64_t address = call.base_of(rule.base, range_end, context.addresses[index]) + rule.offset;
    if (address != range.address.value || call.size_by(rule) != range.data.size() ||
        rule.direction != static_cast<std::uint8_t>(range.direction))
      return false;
    range_end = address + range.data.size();
    ++index;
  }
  return true;
}

void ChunkEncoder::State::add_ranges(const CallValues& call, const RangeList& ranges, CallContext& context) {
  meta.varint(ranges.size());
  context.range_count = ranges.size();
  std::uint64_t range_end = 0;
  std::size_t index = 0;
  for (const RangeView range : ranges) {
    const bool remembered = index < kPredictedRanges;
    const std::uint64_t last = remembered ? context.addresses[index] : 0;
    const RangeRule rule = find_rule(range, call, range_end, index == 0, last);
    meta.byte(static_cast<std::uint8_t>(rule.direction | rule.base << 2 | rule.size_rule << 5));
    meta.signed_varint(rule.offset);
    if (rule.size_rule == kSizeStored) meta.varint(rule.size);
    if (remembered) context.rules[index] = rule;
    range_end = range.address.value + range.data.size();
    ++index;
  }
}

void ChunkEncoder::State::add_range_data(const RangeView& range) {
  payload.raw(range.data.data(), range.data.size());
  expected.range_end = range.address.value + range.data.size();
}

void ChunkEncoder::State::add_call(const EventView& record, const SyscallView& view) {
  const wire::SyscallBody& body = *view.body;
  std::int32_t& number = expected.number_at(record.header->pc);
  CallContext& context = expected.call(record.header->pc, body.number);
  const CallValues call{body.args, body.result};
  const std::optional<std::uint64_t> time = time_of(body, view.ranges);

  std::uint32_t bits = 0;
  if (number != body.number) bits |= kNumberDiffers;
  for (unsigned i = 0; i < 6; ++i) {
    if (context.args[i] != body.args[i]) bits |= 1u << (kFirstArgBit + i);
  }
  if (context.result != body.result) bits |= kResultDiffers;
  if (context.hash != body.input_hash) bits |= kHashDiffers;
  if (!ranges_expected(call, view.ranges, context)) bits |= kRangesDiffer;
  if (time.has_value() != context.timed) bits |= kTimedDiffers;

  meta.varint(bits);
  if ((bits & kNumberDiffers) != 0) meta.signed_varint(static_cast<std::uint64_t>(std::int64_t{body.number}));
  for (unsigned i = 0; i < 6; ++i) {
    if ((bits & (1u << (kFirstArgBit + i))) != 0) meta.signed_varint(body.args[i] - context.args[i]);
  }
  if ((bits & kResultDiffers) != 0)
    meta.signed_varint(static_cast<std::uint64_t>(body.result) - static_cast<std::uint64_t>(context.result));
  if ((bits & kRangesDiffer) != 0) add_ranges(call, view.ranges, context);
  if ((bits & kHashDiffers) != 0) noise.value(body.input_hash);
  noise.varint(body.duration_ns);
  if (time) noise.signed_varint(*time - context.time);

  number = body.number;
  std::copy(std::begin(body.args), std::end(body.args), context.args.begin());
  context.result = body.result;
  context.hash = body.input_hash;
  context.timed = time.has_value();
  context.time = time.value_or(context.time);
  std::size_t index = 0;
  for (const RangeView range : view.ranges) {
    if (!time) payload.raw(range.data.data(), range.data.size());
    expected.range_end = range.address.value + range.data.size();
    if (index < kPredictedRanges) context.addresses[index++] = range.address.value;
  }
}

void ChunkEncoder::State::add_instruction(const wire::InstructionBody& body) {
  auto& last = expected.instructions[static_cast<std::size_t>(body.what)];
  unsigned differ = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (body.values[i] != last[i]) differ |= 1u << i;
  }
  meta.byte(static_cast<std::uint8_t>(static_cast<unsigned>(body.what) | differ << 4));
  for (unsigned i = 0; i < 4; ++i) {
    if ((differ & (1u << i)) != 0) noise.signed_varint(body.values[i] - last[i]);
    last[i] = body.values[i];
  }
}

void ChunkEncoder::State::add_body(const EventView& record) {
  if (is_kept_as_is(record.kind())) {
    const auto* body = reinterpret_cast<const std::byte*>(record.header + 1);
    const std::size_t size = record.header->size - sizeof(wire::EventHeader);
    meta.varint(size);
    payload.raw(body, size);
  } else if (const auto* call = record.as<SyscallView>()) {
    add_call(record, *call);
  } else if (const auto* instruction = record.as<InstructionView>()) {
    add_instruction(*instruction->body);
  } else if (const auto* turn = record.as<TurnView>()) {
    meta.varint(static_cast<std::uint32_t>(turn->body->reason) * 2 + (turn->body->register_hash != 0));
    meta.varint(turn->body->to_thread);
    if (turn->body->register_hash != 0) noise.value(turn->body->register_hash);
  } else if (const auto* data = record.as<DataView>()) {
    meta.varint(data->range.data.size() * 4 + static_cast<std::uint32_t>(data->range.direction));
    meta.signed_varint(data->range.address.value - expected.range_end);
    add_range_data(data->range);
  }
}

/// Appends `stream` to the chunk's data as one zstd frame.
bool ChunkEncoder::State::compress(const ByteSink& stream) {
  const std::size_t bound = ZSTD_compressBound(stream.size());
  const std::size_t begin = chunk.data.size();
  chunk.data.resize(begin + bound);
  const std::size_t size = ZSTD_compressCCtx(compressor.get(), chunk.data.data() + begin, bound,
                                             stream.bytes().data(), stream.size(), level);
  if (ZSTD_isError(size) != 0) return false;
  chunk.data.resize(begin + size);
  return true;
}

ChunkEncoder::ChunkEncoder(int compression_level) : state_(std::make_unique<State>()) {
  state_->level = compression_level;
}

ChunkEncoder::~ChunkEncoder() = default;

void ChunkEncoder::add(const EventView& record, EventNumber number, WallTime time) {
  State& state = *state_;
  const std::size_t coded_before = state.meta.size() + state.noise.size();
  const std::size_t payload_before = state.payload.size();
  if (state.chunk.records == 0) {
    state.chunk.first_event = number;
    state.chunk.first_time = time;
    state.marked_time = time.ns;
  }
  if (time.ns >= state.marked_time + kTimeStepNs) {
    state.meta.byte(kTimeMark);
    state.noise.varint(time.ns - state.marked_time);
    state.marked_time = time.ns;
  }
  ++state.chunk.records;
  state.chunk.last_event = number;
  state.chunk.last_time = time;
  state.add_header(record);
  state.add_body(record);

  KindUsage& usage = state.chunk.usages[static_cast<std::size_t>(record.kind())];
  ++usage.records;
  usage.coded_bytes += state.meta.size() + state.noise.size() - coded_before;
  usage.payload_bytes += state.payload.size() - payload_before;
}

bool ChunkEncoder::empty() const { return state_->chunk.records == 0; }

std::size_t ChunkEncoder::raw_size() const {
  return state_->meta.size() + state_->noise.size() + state_->payload.size();
}

Result<EncodedChunk> ChunkEncoder::finish() {
  State& state = *state_;
  if (empty()) return Error{ErrorCode::kMisuse, "a chunk without records", {}};
  if (state.compressor == nullptr) return Error{ErrorCode::kIo, "no memory for compression", {}};
  state.chunk.raw_size = raw_size();
  const ByteSink* streams[kStreams] = {&state.meta, &state.noise, &state.payload};
  for (const ByteSink* stream : streams) {
    if (stream == &state.payload) state.chunk.coded_size = state.chunk.data.size();
    if (!state.compress(*stream)) return Error{ErrorCode::kIo, "compression failed", "chunk"};
  }
  state.chunk.crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(state.chunk.data.data()), state.chunk.data.size()));

  EncodedChunk finished = std::move(state.chunk);
  state.chunk = {};
  state.meta.clear();
  state.noise.clear();
  state.payload.clear();
  state.expected = {};
  return finished;
}

}  // namespace detrec::event
