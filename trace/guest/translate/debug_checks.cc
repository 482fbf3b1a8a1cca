// What a debugger adds to translated code: an exit in front of each breakpoint, and in front of each access
// to memory while there are watchpoints a look whether it may be to something watched. The exit leads to
// debug::plan(), which decides exactly and has the instruction single-stepped.
#include "trace/guest/debug/debugger.h"
#include "trace/guest/debug/points.h"
#include "trace/guest/run/exits.h"
#include "trace/guest/translate/block_translator.h"

namespace detrec::guest::translate {
namespace {

/// Accesses that the filter can decide about: one address, known without the segment's base, and no wider
/// than the filter allows for.
bool has_simple_address(const Insn& insn, const MemOperand& mem) {
  bool one_place = mem.kind == MemKind::kExplicit || mem.kind == MemKind::kStack ||
                   mem.kind == MemKind::kMoffs || mem.kind == MemKind::kRegister ||
                   mem.kind == MemKind::kStringSrc || mem.kind == MemKind::kStringDst;
  return one_place && insn.rep == Rep::kNone && !insn.is_bit_string && !mem.vsib &&
         mem.segment == Segment::kNone && mem.size != 0 && mem.size <= debug::kWidestAccess;
}

debug::Access access_of(const MemOperand& mem) {
  if (!mem.write) return debug::Access::kRead;
  return mem.read ? debug::Access::kBoth : debug::Access::kWrite;
}

}  // namespace

void BlockTranslator::debug_checks(const Insn& insn) {
  if (debug::is_breakpoint(pc_)) return exit_with_site(::exit_resume, pc_);
  if (!debug::has_watchpoints()) return;
  for (int i = 0; i < insn.mem_count; ++i) {
    const MemOperand& mem = insn.mem[i];
    if (mem.is_agen || !debug::watches_any(access_of(mem))) continue;
    if (!has_simple_address(insn, mem)) return exit_with_site(::exit_resume, pc_);
    emit_.store_context(kRcx, offsetof(Context, spill_rcx));
    address_into_rcx(insn, mem);
    constexpr u8 kMovzxCx[] = {0x0f, 0xb7, 0xc9};      // movzx ecx, cx
    constexpr u8 kMovzxFilter[] = {0x0f, 0xb6, 0x89};  // movzx ecx, byte [rcx + disp32]
    constexpr u8 kJrcxz = 0xe3;
    emit_.bytes(kMovzxCx, sizeof kMovzxCx);
    emit_.bytes(kMovzxFilter, sizeof kMovzxFilter);
    emit_.imm32(static_cast<u32>(reinterpret_cast<u64>(debug::watch_filter(mem.size, access_of(mem)))));
    CacheAddr not_watched = emit_.short_branch(kJrcxz);
    emit_.load_context(kRcx, offsetof(Context, spill_rcx));
    exit_with_site(::exit_resume, pc_);
    emit_.bind_short(not_watched);
    emit_.load_context(kRcx, offsetof(Context, spill_rcx));
  }
}

/// lea of the operand, whatever the instruction's own encoding of it is.
void BlockTranslator::address_into_rcx(const Insn& insn, const MemOperand& mem) {
  if (mem.base == kRip || (mem.base == kNoReg && mem.index == kNoReg)) {
    u64 address = static_cast<u64>(mem.disp) + (mem.base == kRip ? pc_ + insn.length : 0);
    emit_.load_imm64(kRcx, mem.address32 ? static_cast<u32>(address) : address);
    return;
  }
  u8 base = mem.base == kNoReg ? 5 : mem.base, index = mem.index == kNoReg ? 4 : mem.index;
  u8 scale = mem.index == kNoReg ? 0 : mem.scale == 8 ? 3 : mem.scale == 4 ? 2 : mem.scale == 2 ? 1 : 0;
  if (mem.address32) emit_.byte(0x67);
  emit_.byte(static_cast<u8>(0x48 | (index >> 3) << 1 | base >> 3));
  emit_.byte(0x8d);
  emit_.byte(mem.base == kNoReg ? 0x0c : 0x8c);  // rcx, SIB follows; without a base mod is 0
  emit_.byte(static_cast<u8>(scale << 6 | (index & 7) << 3 | (base & 7)));
  emit_.imm32(static_cast<u32>(mem.disp));
}

}  // namespace detrec::guest::translate
