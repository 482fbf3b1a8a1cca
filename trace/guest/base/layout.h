// The address space of a guest process: who owns what. docs/engine.md has the drawing.
//
// Everything that generated code must reach with a 32-bit displacement lies in the low 2 GiB. The address
// ranges that kernels randomise (PIE base 0x5555..., mmap base, stack and vdso 0x7f...) hold nothing of ours
// or the guest's beyond what the kernel itself put there. AddressSanitizer's shadow (0x7fff8000-0x8fff6fff
// and 0x2008fff7000-0x10007fff7fff) stays free; its gap (0x8fff7000-0x2008fff6fff) may hold our table.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest {

/// Executable guest mappings whose place the guest leaves open are put here, so that a 32-bit displacement
/// reaches everything they refer to and return addresses fit a sign-extended immediate.
inline constexpr u64 kLowCodeBegin = 0x1000'0000;
inline constexpr u64 kLowCodeEnd = 0x4800'0000;

/// The code cache. The 512 MiB below it are left to programs that want fixed places there (sbcl:
/// 0x5000'0000).
inline constexpr u64 kCacheBegin = 0x6800'0000;
inline constexpr u64 kCacheEnd = 0x7800'0000;

/// The context page (translate/context.h), then the engine's own image (linked at kEngineImage), all below
/// kEngineLowEnd.
inline constexpr u64 kContextAddress = 0x7800'0000;
inline constexpr u64 kEngineImage = 0x7a00'0000;
inline constexpr u64 kEngineLowEnd = 0x7c00'0000;

/// The indirect-branch table: a u32 for every guest pc below 4 GiB, at kTableBase + 4 * pc. Filled for pcs
/// below 2 GiB only; the generated look-up checks just the upper half of a pc.
inline constexpr u64 kTableBase = 0x7c00'0000;
inline constexpr u64 kTableEnd = kTableBase + 4 * 0x1'0000'0000ull;

/// Guest mappings other than low code: allocated from the top down.
inline constexpr u64 kGuestWindowBegin = 0x2000'0000'0000;
inline constexpr u64 kGuestWindowEnd = 0x5000'0000'0000;

/// The engine's heap: arenas, indices, thread stacks. Allocated upwards by base/arena.h.
inline constexpr u64 kEngineHeapBegin = 0x5000'0000'0000;
inline constexpr u64 kEngineHeapEnd = 0x5100'0000'0000;

/// The ring of event records (events/ring.h), at the end of the heap: up to 512 MiB, mapped twice in a row.
inline constexpr u64 kRingAddress = kEngineHeapEnd - 0x4001'0000;
/// The mailbox of a replay under a debugger (debug/mailbox.h).
inline constexpr u64 kMailboxAddress = kRingAddress - 0x100'0000;
/// The board of turns of a recorded process with threads (run/granted_turns.h).
inline constexpr u64 kTurnBoardAddress = kMailboxAddress - 0x100'0000;

/// The stores of translated blocks (translate/translation_store.h): that of the run, and one of earlier runs.
inline constexpr u64 kTranslationsAddress = kTurnBoardAddress - 0x1000'0000;
inline constexpr u64 kOldTranslationsAddress = kTranslationsAddress - 0x1000'0000;

/// First address that user space cannot have (4-level paging).
inline constexpr u64 kUserEnd = 0x7fff'ffff'f000;

/// True when [begin, end) touches memory that belongs to the engine and must be refused to the guest. The
/// table outside of its used parts is handled by memory/ (AddressSanitizer asks for the gap).
constexpr bool is_engine_range(u64 begin, u64 end) {
  return (begin < kEngineLowEnd && end > kCacheBegin) || (begin < kEngineHeapEnd && end > kEngineHeapBegin);
}

}  // namespace detrec::guest
