// How generated code makes sure that the target of an indirect transfer is below 4 GiB, which is what the
// table covers.
//
// No branch is taken for it (one costs two cycles, and every return would pay): the upper half of the target
// indexes bytes of which only the first is there,
//
//     mov ecx, [target + 4]
//     movzx ecx, byte [rcx * 8 + kCheckByte]
//     mov rcx, [target]
//     mov ecx, [rcx * 4 + kTableBase]
//
// (the third not where the target is in another register, which then is the index of the fourth) and any
// other faults. The 256 KiB behind the byte are kept empty for targets in user space. Of targets that are no
// addresses at all some would hit the table; their look-up, with all 64 bits, faults instead, save for those
// that differ from a low one in the top two bits only: two holes in the table, where no code can be, stop
// them.
//
// The fault is nothing to the guest. It changes the site, for good, to one that asks with a branch: such
// sites are those that lead to code of just-in-time compilers, and they must not fault every time.
#pragma once

#include "trace/guest/base/layout.h"
#include "trace/guest/base/types.h"

namespace detrec::guest::translate {

/// Empty pages at the end of the code cache, and the page with the byte before them.
inline constexpr u64 kCheckGap = 0x8000 * 8;
inline constexpr u64 kCheckPage = kCacheEnd - kCheckGap - kPageSize;
inline constexpr u64 kCheckByte = kCheckPage + kPageSize - 8;

/// Length of the check's second instruction.
inline constexpr u64 kCheckLength = 8;

/// Opens the gap and the holes, once the cache and the table are mapped.
void open_check_gaps();

/// A fault at host_pc, in the code of an indirect transfer: was it the check's, or that of the look-up behind
/// it? Then the site is changed and true returned: the instruction is to run again.
bool widen_target_check(u64 host_pc);

/// Room for a stub that is made between blocks, at the end of the cache's cold part.
CacheAddr cold_room(u64 bytes);

}  // namespace detrec::guest::translate
