// Fixed virtual costs (TIME-5, TIME-6).
#pragma once

#include "server/core/time/logical_time.h"

namespace detrec::core {

/// TIME-5: what one tick (one counted transfer of the engine) costs in virtual time. The unit of progress of
/// this backend, so the one place to calibrate it.
inline constexpr std::uint64_t kNanosPerTick = 10;
/// One emulated rdtsc or cpuid.
inline constexpr std::uint64_t kNanosPerTrap = 25;
/// One charged scheduler turn.
inline constexpr std::uint64_t kNanosPerTurn = 500'000;
/// A system call without an assigned cost, in the generic clock operation.
inline constexpr std::uint64_t kDefaultSyscallNanos = 10'000;

/// Cost of x86-64 system call `number`, by class; every call advances time.
LogicalTime syscall_cost(long number);

}  // namespace detrec::core
