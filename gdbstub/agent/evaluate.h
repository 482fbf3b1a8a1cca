// Agent expressions: the bytecode to which gdb compiles breakpoint conditions.
// gdb manual, appendix "The GDB Agent Expression Mechanism".
#pragma once

#include <cstdint>
#include <span>

#include "gdbstub/ids.h"
#include "gdbstub/result.h"

namespace detrec::gdbstub::agent {

/// What an expression can look at: one thread, standing still.
class Machine {
 public:
  virtual ~Machine() = default;
  /// The register of that number in target.xml, zero-extended; an error for one wider than 64 bits.
  virtual Result<std::uint64_t> read_register(RegisterNumber number) = 0;
  /// `out` is filled, or it is an error.
  virtual Status read_memory(Address address, std::span<std::uint8_t> out) = 0;
};

/// The most instructions one evaluation may take; backward jumps could go on for ever.
inline constexpr std::size_t kMaxInstructions = 100'000;

/// The value on top of the stack at `end`. EINVAL for bytecode that is malformed, divides by zero, takes too
/// long or uses what conditions do not have (floating point, tracing, trace state variables, printf); else
/// the error of a failed read.
Result<std::uint64_t> evaluate(std::span<const std::uint8_t> bytecode, Machine& machine);

}  // namespace detrec::gdbstub::agent
