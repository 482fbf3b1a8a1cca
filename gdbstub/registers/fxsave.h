// Registers from the memory image that FXSAVE writes, which is also the beginning of every XSAVE image.
// Intel SDM vol. 1, 10.5.1 "FXSAVE area", table 10-2.
#pragma once

#include <cstdint>
#include <span>

#include "gdbstub/registers.h"

namespace detrec::gdbstub::registers {

/// Fills the x87 state, xmm0..15 and mxcsr. The processor keeps one tag bit a register; the full tag word,
/// which gdb shows, is worked out from the values (SDM vol. 1, 8.1.7).
void read_fxsave(std::span<const std::uint8_t, 512> area, Registers& registers);

/// The other way. What the area has besides them stays.
void write_fxsave(const Registers& registers, std::span<std::uint8_t, 512> area);

}  // namespace detrec::gdbstub::registers
