// What code starts with and what it leaves: general registers, flags, vector and x87 state.
#pragma once

#include <cstddef>

#include "tests/fuzz/translator/random.h"

namespace detrec::fuzz {

/// Offsets of an xsave area in the standard form (Intel SDM 1, 13.4), for the components used here.
inline constexpr u64 kXsaveSize = 2688, kXsaveLegacy = 416, kXsaveHeader = 512, kXsaveAvx = 576,
                     kXsaveMask = 1088, kXsaveZmmHigh = 1152, kXsaveZmm16 = 1664;

struct alignas(64) CpuState {
  u64 gpr[16];  ///< in the order of their encoding
  u64 rflags;
  u64 pc;
  alignas(64) u8 xsave[kXsaveSize];
};
static_assert(offsetof(CpuState, rflags) == 128 && offsetof(CpuState, pc) == 136 &&
              offsetof(CpuState, xsave) == 192);

inline constexpr u64 kStatusFlags = 0x8d5, kCarryFlag = 1, kDirectionFlag = 0x400, kResumeFlag = 0x10000,
                     kTrapFlag = 0x100;

/// The vector and x87 state in a form that does not depend on which components the processor tracks as in
/// use.
struct VectorState {
  u8 legacy[kXsaveLegacy];  ///< x87, mxcsr, xmm
  u8 extended[kXsaveSize - kXsaveAvx];
};
/// `present`: the components (XSTATE_BV) that `xsave` holds; the others are in their initial state.
VectorState normalized(const u8* xsave, u64 present);

/// Finds out which components there are. Call it first.
void start_cpu_state();

/// Fills in the vector and x87 part of entry_state.
void set_random_vectors(Random& random);

}  // namespace detrec::fuzz

extern "C" {
extern detrec::fuzz::CpuState entry_state, exit_state;
extern std::uint32_t xsave_mask;
/// Loads entry_state, and comes back from leave_sequence or abandon_sequence.
void run_sequence();
/// Where code jumps to when it is done: saves everything in exit_state.
void leave_sequence();
/// For the signal handler: forgets the state.
void abandon_sequence();
/// The host's handler is entered through here, with alignment checks off.
void handler_entry();
}
