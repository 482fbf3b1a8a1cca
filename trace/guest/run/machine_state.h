// What a kernel thread holds of its guest thread while the engine runs, besides the general registers.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::run {

/// Enough for the state components of guest_xcr0() in the standard format of xsave (Intel SDM 1, 13.4).
inline constexpr u64 kVectorBytes = 4096;

/// Stores the vector and x87 registers; `area` has kVectorBytes and is aligned to 64. What belongs to
/// components that are not in use stays as it is there.
void save_vectors(u8* area);
/// Loads what save_vectors has stored.
void load_vectors(const u8* area);

/// The bases of the segments FS and GS (man 2 arch_prctl).
u64 fs_base();
u64 gs_base();
void set_fs_base(u64 base);
void set_gs_base(u64 base);

}  // namespace detrec::guest::run
