// What encoder and decoder both expect the next event to be: the state behind the differences of a chunk
// (docs/event-codec.md). Internal to the codec.
//
// All tables are direct-mapped and without tags: two threads or addresses that share an entry only predict
// each other badly. So nothing here can fail, and nothing grows with what a trace contains.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/wire/event.h"

namespace detrec::event::codec {

/// The kind bits of an event's first byte, and its flags.
inline constexpr std::uint8_t kKindMask = 0x0f;
inline constexpr std::uint8_t kTimeMark = 0;  ///< instead of a kind: the wall time moves on
inline constexpr std::uint8_t kThreadChanged = 0x10;
inline constexpr std::uint8_t kHasPc = 0x20;
inline constexpr std::uint8_t kHasTicks = 0x40;
inline constexpr std::uint8_t kHasMore = 0x80;

/// Bits of the word that says which fields of a system call differ from the prediction. The first seven make
/// a one-byte varint.
inline constexpr std::uint32_t kResultDiffers = 1 << 0;
inline constexpr std::uint32_t kRangesDiffer = 1 << 1;
inline constexpr std::uint32_t kHashDiffers = 1 << 2;
inline constexpr std::uint32_t kNumberDiffers = 1 << 3;
inline constexpr unsigned kFirstArgBit = 4;
inline constexpr std::uint32_t kTimedDiffers = 1 << (kFirstArgBit + 6);

/// A call that was answered with a time and nothing else keeps the difference to the time before, not the
/// time.
inline constexpr std::int32_t kClockGettime = 228;
inline constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
/// Its only range.
struct Time {
  std::uint64_t seconds, nanoseconds;
};

/// Wall time is kept to this precision.
inline constexpr std::uint64_t kTimeStepNs = 1 << 20;

/// Where a range's address comes from; 0..5: an argument.
inline constexpr std::uint8_t kBaseRangeEnd = 6;  ///< the end of the event's range before it
inline constexpr std::uint8_t kBaseLast = 7;      ///< where the same range of the last such call was

/// How a range's size follows; 2..7: argument 0..5.
inline constexpr std::uint8_t kSizeStored = 0;
inline constexpr std::uint8_t kSizeResult = 1;
inline constexpr std::uint8_t kSizeFirstArg = 2;

struct RangeRule {
  std::uint64_t offset = 0;  ///< from the base to the address
  std::uint32_t size = 0;    ///< for kSizeStored
  std::uint8_t base = kBaseLast;
  std::uint8_t size_rule = kSizeStored;
  std::uint8_t direction = 0;
};

inline constexpr std::size_t kPredictedRanges = 4;

/// The last call of the same number from the same place.
struct CallContext {
  std::array<std::uint64_t, 6> args{};
  std::int64_t result = 0;
  std::uint32_t hash = 0;
  std::uint32_t range_count = 0;
  bool timed = false;
  std::uint64_t time = 0;  ///< ns
  std::array<RangeRule, kPredictedRanges> rules{};
  std::array<std::uint64_t, kPredictedRanges> addresses{};
};

struct ThreadContext {
  std::uint64_t ticks = 0;
  std::uint64_t pc = 0;
};

/// What followed the last time an event had this pc.
struct Successor {
  std::uint64_t pc = 0;
  std::uint64_t ticks = 0;  ///< from the one to the other
};

/// The values of a call that rules refer to.
struct CallValues {
  const std::uint64_t (&args)[6];
  std::int64_t result;

  /// The size that a rule stands for.
  std::uint64_t size_by(const RangeRule& rule) const {
    if (rule.size_rule == kSizeStored) return rule.size;
    if (rule.size_rule == kSizeResult) return static_cast<std::uint64_t>(result);
    return args[rule.size_rule - kSizeFirstArg];
  }
  std::uint64_t base_of(std::uint8_t base, std::uint64_t range_end, std::uint64_t last) const {
    if (base == kBaseRangeEnd) return range_end;
    if (base == kBaseLast) return last;
    return args[base];
  }
};

struct Prediction {
  std::uint32_t thread = 0;     ///< of the record before
  std::uint64_t range_end = 0;  ///< end of the last range of any record
  std::array<ThreadContext, 256> threads{};
  std::array<Successor, 1024> successors{};
  std::array<std::int32_t, 1024> numbers{};  ///< of the last call at a pc
  std::array<CallContext, 512> calls{};
  std::array<std::array<std::uint64_t, 4>, 8> instructions{};  ///< last values by InstructionKind

  static std::size_t mix(std::uint64_t key, unsigned bits) {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> (64 - bits));
  }
  ThreadContext& thread_context(std::uint32_t number) { return threads[number % threads.size()]; }
  Successor& successor(std::uint64_t pc) { return successors[mix(pc, 10)]; }
  std::int32_t& number_at(std::uint64_t pc) { return numbers[mix(pc, 10)]; }
  CallContext& call(std::uint64_t pc, std::int32_t number) {
    return calls[mix(pc ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) << 40), 9)];
  }
};

/// Kinds whose body is kept as it is, in the payload stream.
constexpr bool is_kept_as_is(wire::EventKind kind) {
  return kind == wire::EventKind::kStart || kind == wire::EventKind::kMapping ||
         kind == wire::EventKind::kSignal || kind == wire::EventKind::kThread ||
         kind == wire::EventKind::kExit;
}

}  // namespace detrec::event::codec
