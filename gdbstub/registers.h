// The register state of one x86-64 thread, as the Target and the stub exchange it.
#pragma once

#include <array>
#include <cstdint>

#include "gdbstub/ids.h"

namespace detrec::gdbstub {

/// Which vector registers the recorded processor has. Each level includes the ones before it.
enum class VectorLevel : std::uint8_t { kSse, kAvx, kAvx512 };

/// gdb's order of the general registers, which is neither the machine's nor the kernel's.
enum class Gpr : std::uint8_t {
  kRax,
  kRbx,
  kRcx,
  kRdx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15
};

/// x87 state as gdb shows it: `ftag` is the full 16-bit tag word, st[i] is relative to the top of the stack.
struct X87 {
  std::array<std::array<std::uint8_t, 10>, 8> st{};  ///< 80-bit values, little endian
  std::uint32_t control = 0x37f;
  std::uint32_t status = 0;
  std::uint32_t tag = 0xffff;
  std::uint32_t instruction_segment = 0;
  std::uint32_t instruction_offset = 0;
  std::uint32_t operand_segment = 0;
  std::uint32_t operand_offset = 0;
  std::uint32_t opcode = 0;
};

/// Parts of the state that may be unknown at a stop (a thread killed from outside, a position without a
/// snapshot of its vector state). gdb shows the registers of an unknown part as <unavailable>.
struct KnownParts {
  bool general = true;  ///< gpr, rip, rflags, segments, bases, orig_rax
  bool x87 = true;
  bool vector = true;  ///< all vector registers, mxcsr and the masks
};

struct Registers {
  std::array<std::uint64_t, 16> gpr{};  ///< by Gpr
  std::uint64_t rip = 0;
  std::uint64_t rflags = 0x202;
  std::uint32_t cs = 0x33, ss = 0x2b, ds = 0, es = 0, fs = 0, gs = 0;
  std::uint64_t fs_base = 0, gs_base = 0;
  std::uint64_t orig_rax = ~std::uint64_t{0};  ///< the number of the system call in progress, -1 outside one
  X87 x87;
  /// 32 registers of 64 bytes, little endian. xmm is the first 16 bytes, ymm the first 32. Below kAvx512 only
  /// the first 16 registers count, below kAvx only their first 16 bytes.
  std::array<std::array<std::uint8_t, 64>, 32> vector{};
  std::uint32_t mxcsr = 0x1f80;
  std::array<std::uint64_t, 8> mask{};  ///< k0..k7, with kAvx512
  KnownParts known;

  std::uint64_t& operator[](Gpr reg) { return gpr[static_cast<std::size_t>(reg)]; }
  std::uint64_t operator[](Gpr reg) const { return gpr[static_cast<std::size_t>(reg)]; }
  Address pc() const { return {rip}; }
};

}  // namespace detrec::gdbstub
