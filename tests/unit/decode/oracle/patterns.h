// Instruction patterns: every opcode of every map with all mandatory prefixes, lengths and ModRM bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace detrec::guest::test {

/// Longer than any instruction, so that no pattern ends early.
using Pattern = std::array<std::uint8_t, 24>;

/// A numbered set of patterns. What is not enumerated (SIB, displacement, immediate, further register bits)
/// is drawn from the number by a hash, so pattern n is always the same.
struct PatternSpace {
  const char* name;
  std::uint64_t size;
  Pattern (*make)(std::uint64_t n);
};

std::span<const PatternSpace> pattern_spaces();

}  // namespace detrec::guest::test
