// A hash over everything a thread's registers hold, to compare positions of two runs.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::run {

/// FNV-1a (64 bit) over pc, general registers, rflags and the vector, x87 and mxcsr state in the CPU. x87's
/// last-instruction and last-operand pointers are left out.
u64 register_hash(const Registers& regs);

}  // namespace detrec::guest::run
