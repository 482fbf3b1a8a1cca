// The short way through the decoder for the instructions that programs mostly consist of: moves, arithmetic,
// pushes and pops, and common vector instructions. It says only what copying them takes, at a tenth of
// decode()'s cost.
#pragma once

#include <cstdint>

namespace detrec::guest {

/// What a plain instruction does with the status flags other than CF.
enum class PlainFlags : std::uint8_t {
  kNone,     ///< neither reads nor writes them
  kWritten,  ///< writes them all and reads none
  kAsk,      ///< something else: decode() knows
};

/// An instruction that decode() would call valid, without branch class and Special, and whose only dependence
/// on its place can be a rip-relative operand.
struct PlainInsn {
  std::uint8_t length;
  std::uint8_t rip_disp;  ///< where the displacement of a rip-relative operand stands; 0: there is none
  PlainFlags flags;
};

/// True when the instruction at `code` is plain and in the tables. 15 bytes must be readable. `out` is
/// complete only then.
bool decode_plain(const std::uint8_t* code, PlainInsn& out) noexcept;

}  // namespace detrec::guest
