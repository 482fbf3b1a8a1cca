// Seeded random streams (RUNQ-19). Plain data, the same on every machine.
#pragma once

#include <cstdint>

namespace detrec::core {

/// SplitMix64 (public-domain algorithm by S. Vigna): one 64-bit word of state.
class RandomStream {
 public:
  explicit constexpr RandomStream(std::uint64_t seed = 0) : state_(seed) {}
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  constexpr std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Uniform in [0, bound), bound > 0; unbiased by rejection.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % bound);
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % bound;
  }
  /// Uniform in [0, 1) with 53 bits.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// A stream of its own for `purpose`.
  static constexpr RandomStream derive(std::uint64_t seed, std::uint64_t purpose) {
    return RandomStream(mix(seed ^ mix(purpose + 0x632be59bd9b4e019u)));
  }
  friend constexpr bool operator==(const RandomStream&, const RandomStream&) = default;

 private:
  std::uint64_t state_;
};

}  // namespace detrec::core
