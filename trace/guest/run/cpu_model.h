// The processor that the guest sees: the host's, less what cannot be made repeatable.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::run {

struct CpuidResult {
  u32 eax, ebx, ecx, edx;
};

/// What `cpuid` answers (Intel SDM 2A, CPUID; AMD APM 3 appendix E).
CpuidResult cpuid(u32 leaf, u32 subleaf);

/// What `xgetbv` with ecx = 0 answers: the state components the guest may use.
u64 guest_xcr0();
/// Replay: the guest had these. False when this processor lacks some of them.
bool narrow_guest_xcr0(u64 recorded);

}  // namespace detrec::guest::run
