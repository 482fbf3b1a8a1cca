// Translated blocks that the processes of a run share: a store in the channel, or in a file of an earlier run
// that is only read. docs/engine.md says what makes a block usable again.
//
// Records are appended and never changed. Each belongs to a chain, the newest first. An appender takes room
// by adding to `used`, writes the record, and then makes it its chain's first by a compare and swap: one that
// dies in between leaves a gap and nothing else. Readers copy a record before they check its sum, so whatever
// damages the store, or comes while they copy, costs a translation and not more.
#pragma once

#include <cstdint>

namespace detrec::wire {

/// Records begin at multiples of this, and have a multiple of it bytes; chains name them by such units.
inline constexpr std::uint64_t kTranslationUnit = 32;
inline constexpr std::uint32_t kTranslationChains = 1u << 16;
/// Longer blocks are not kept.
inline constexpr std::uint32_t kMaxTranslationBytes = 8192;

/// What the store begins with. All zeros is an empty one.
struct TranslationStore {
  std::uint64_t used;   ///< bytes behind this structure that are taken; may exceed the room
  std::uint64_t build;  ///< of the engine: no other can use the blocks; 0: no engine has been here yet
  std::uint64_t reserved[6];
  std::uint32_t first[kTranslationChains];  ///< units from the store's beginning; 0: the chain is empty
};
static_assert(sizeof(TranslationStore) % kTranslationUnit == 0);

inline constexpr std::uint64_t kTranslationStoreBytes = 64u << 20;

/// Where the store of earlier runs is. Every process opens it, and looks whether it is the one that is meant.
struct TranslationFile {
  std::uint64_t device, inode;  ///< zeros: there is none
  char path[496];
};

/// What every record begins with. `sum` is of everything but itself and `next`.
struct TranslationRecord {
  std::uint64_t sum;
  std::uint32_t next;   ///< of the chain, in units; 0: none
  std::uint32_t bytes;  ///< of the record
  std::uint64_t pc;     ///< of its first instruction
  std::uint64_t code;   ///< the first bytes of guest code, up to eight
};
static_assert(sizeof(TranslationRecord) == kTranslationUnit);

/// How many bytes of records there is room for.
inline constexpr std::uint64_t kTranslationRoom = kTranslationStoreBytes - sizeof(TranslationStore);

/// Whether a record that says to have `bytes` can be `at` bytes behind the store's beginning; one has at
/// least `least`.
constexpr bool can_be_record(std::uint64_t at, std::uint64_t bytes, std::uint64_t least) {
  return bytes >= least && bytes <= kMaxTranslationBytes && bytes % kTranslationUnit == 0 &&
         at + bytes <= kTranslationStoreBytes;
}

/// The sum, while a record is copied to `to` (which may be where it is).
inline std::uint64_t copy_and_sum(const TranslationRecord* from, TranslationRecord* to, std::uint32_t bytes) {
  constexpr std::uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  auto mix = [](std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * kFactor;
    return sum << 29 | sum >> 35;  // a bijection of either: no single damaged word goes unnoticed
  };
  const auto* in = reinterpret_cast<const std::uint64_t*>(from);
  auto* out = reinterpret_cast<std::uint64_t*>(to);
  const std::uint64_t pc = in[2], code = in[3];
  out[1] = in[1], out[2] = pc, out[3] = code;
  std::uint64_t a = pc * kFactor, b = code * kFactor, c = bytes, d = 1;
  for (std::uint32_t i = 4; i < bytes / 8; i += 4) {
    const std::uint64_t w0 = in[i], w1 = in[i + 1], w2 = in[i + 2], w3 = in[i + 3];
    out[i] = w0, out[i + 1] = w1, out[i + 2] = w2, out[i + 3] = w3;
    a = mix(a, w0), b = mix(b, w1), c = mix(c, w2), d = mix(d, w3);
  }
  return mix(mix(mix(a, b), c), d);
}

}  // namespace detrec::wire
