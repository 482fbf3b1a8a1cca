// Repeatable randomness: the same seed gives the same draws everywhere.
#pragma once

#include <cstdint>
#include <iterator>

namespace detrec::fuzz {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// SplitMix64's output function.
constexpr u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}

  u64 next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  u8 byte() { return static_cast<u8>(next()); }
  /// Below n, which is not 0.
  unsigned below(u64 n) { return static_cast<unsigned>((next() >> 11) % n); }
  /// From first to last, both included.
  unsigned between(unsigned first, unsigned last) { return first + below(last - first + 1); }
  bool chance(unsigned percent) { return below(100) < percent; }
  bool per_mille(unsigned n) { return below(1000) < n; }
  template <class Choices>
  auto pick(const Choices& choices) {
    return *std::next(std::begin(choices), below(std::size(choices)));
  }
  unsigned pick(std::initializer_list<unsigned> choices) { return choices.begin()[below(choices.size())]; }

 private:
  u64 state_;
};

}  // namespace detrec::fuzz
