// Turns guest code into code-cache code. docs/engine.md explains the emitted forms.
#pragma once

#include "trace/guest/translate/block_index.h"
#include "trace/guest/translate/code_reader.h"

namespace detrec::guest::translate {

/// Single steps are translated here, over and over: bodies in the first half, stubs in the second.
inline constexpr u64 kStepArea = 4096;

/// Maps the code cache and the indirect-branch table. Once per process image.
void start();

/// The cache address that executes the instruction at pc (and what follows), without counting a tick;
/// translates when needed. kNone: nothing can be executed there, `fault` says what the guest gets.
CacheAddr body_of(Turn& turn, GuestAddr pc, FetchFault& fault);

/// The same for a pc that an indirect transfer missed; also makes an entry (which counts a tick and reloads
/// rcx from the spill slot) and puts it into the table, so that the next transfer there stays in the cache.
/// The caller counts this transfer's tick.
CacheAddr indirect_entry(Turn& turn, GuestAddr pc, FetchFault& fault);

/// Code for just the one instruction at pc, which then returns to the engine with ExitKind::kResume (or a
/// more specific one). Valid until the next call.
CacheAddr step_code(Turn& turn, GuestAddr pc, FetchFault& fault);

/// True for an address in step_code's area.
constexpr bool is_step_code(CacheAddr at) { return raw(at) < kCacheBegin + kStepArea; }

/// The address behind the landing of pc's entry, if pc is above 4 GiB and has one; else kNone. Never
/// translates.
CacheAddr high_entry_of(GuestAddr pc);

/// Binds link `site` to its target, translating it when needed, and returns where to go on; kNone with
/// `fault` as above.
CacheAddr follow_link(Turn& turn, u32 site, FetchFault& fault);

/// Forgets all translations.
void flush(Turn& turn);

/// Changes whenever translations are dropped: a resume address taken from a site before is stale after.
u64 epoch();

/// What a cache address means, for faults. `insn` is decoded anew.
struct CachePosition {
  GuestAddr pc;
  u64 insn_cache;  ///< where the instruction's code begins
  Insn insn;
};
bool locate(u64 cache_pc, CachePosition& position);

inline bool in_cache(u64 pc) { return pc >= kCacheBegin && pc < kCacheEnd; }

/// The register that an instruction with a far rip-relative operand borrows (see far_operand in
/// translator.cc).
Reg scratch_for(const Insn& insn);
/// True when the instruction's rip-relative operand cannot be written as one: it is too far from the code
/// cache for a 32-bit displacement, or truncated to 32 bits.
bool has_far_operand(const Insn& insn, GuestAddr pc);

/// Length of an entry's landing, by which an indirect jump skips it: mov qword [rsp-8], imm32.
inline constexpr u32 kLandingLength = 9;

/// Length of the store of a borrowed register into the context: mov [disp32], r64.
inline constexpr u32 kSpillLength = 8;

}  // namespace detrec::guest::translate
