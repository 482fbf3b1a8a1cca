// What fnstenv, fnsave, fxsave and xsave leave in memory of the machine that really ran: the address of the
// last x87 instruction is in the code cache, and the xsave header's XSTATE_BV says which components the
// processor happens to track as in use, which changes with the kernel's context switches. Both are replaced
// by what the guest's own history determines.
#include "trace/guest/base/probe.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/run/cpu_model.h"
#include "trace/guest/run/emulate.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::run {
namespace {

/// The guest's address for a code-cache address; 0 when the code is gone.
u64 guest_pc_of(u64 pointer) {
  translate::CachePosition at;
  if (!translate::in_cache(pointer)) return pointer;
  return translate::locate(pointer, at) ? at.pc : 0;
}

/// Replaces the x87 instruction pointer at `where`, stored in `size` bytes.
void mend_pointer(Turn& turn, GuestAddr where, u32 size) {
  u64 pointer = 0;
  if (!read_guest(&pointer, where, size)) return;
  u64 mended = guest_pc_of(pointer);
  if (mended != pointer) memory::write_guest(turn, where, &mended, size);
}

/// Without REX.W, fxsave and xsave store the lower half of the pointer, and a selector behind it.
u32 pointer_size(const Insn& insn) {
  constexpr u8 kRexW = 8;
  return (insn.rex & kRexW) != 0 ? 8 : 4;
}

void mend_xsave_header(Turn& turn, GuestAddr area) {
  constexpr u64 kXstateBv = 512, kXcompBv = 520, kCompacted = 1ull << 63;
  u64 requested = (turn.gpr(kRdx) << 32 | static_cast<u32>(turn.gpr(kRax))) & guest_xcr0();
  u64 present, layout;
  if (!read_guest(present, area + kXstateBv) || !read_guest(layout, area + kXcompBv)) return;
  // Compacted and optimised forms do not write components in their initial state: those stay marked so.
  if ((layout & kCompacted) != 0) return;
  u64 repeatable = present | requested;
  if (repeatable != present) memory::write_guest(turn, area + kXstateBv, repeatable);
}

}  // namespace

void mend_saved_state(Turn& turn, const Insn& insn) {
  const MemOperand* mem = explicit_mem(insn);
  if (mem == nullptr) return;
  GuestAddr at = effective_address(turn, insn, *mem);
  constexpr u64 kEnvPointer32 = 12, kEnvPointer16 = 6, kFxPointer = 8;
  switch (insn.special) {
    case Special::kFnstenv:
    case Special::kFnsave: {
      bool narrow = (insn.prefixes & kPrefix66) != 0;
      mend_pointer(turn, at + (narrow ? kEnvPointer16 : kEnvPointer32), narrow ? 2 : 4);
      break;
    }
    case Special::kFxsave:
      mend_pointer(turn, at + kFxPointer, pointer_size(insn));
      break;
    case Special::kXsave:
      if ((turn.gpr(kRax) & 1) != 0) mend_pointer(turn, at + kFxPointer, pointer_size(insn));
      if (insn.opcode == 0xae && (insn.modrm >> 3 & 7) == 4) mend_xsave_header(turn, at);
      break;
    default:
      break;
  }
}

}  // namespace detrec::guest::run
