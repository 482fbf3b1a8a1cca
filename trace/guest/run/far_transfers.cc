// Far jumps, calls and returns, and iret, between 64-bit code only: the selector must be the one user code
// runs in. (Intel SDM 2A: CALL, JMP, IRET; 2B: RET.)
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/run/emulate.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::run {
namespace {

constexpr u64 kUserCs = 0x33, kUserDs = 0x2b, kUser32Cs = 0x23;
constexpr int kSigSegv = 11;

/// Flags that iret and popf may change in user mode: CF PF AF ZF SF TF DF OF NT RF AC ID.
constexpr u64 kUserFlags = 0x254dd5;

/// The guest's fault at an access; false.
bool refuse_access(Turn& turn, GuestAddr address, u64 size, bool write, bool stack) {
  raise_access_fault(turn, address, size, write, stack);
  return false;
}

bool refuse_selector(Turn& turn, u64 selector) {
  if (selector == kUser32Cs) warn("a switch to 32-bit code is not supported: the program gets SIGSEGV");
  signal::raise_fault(turn, {kSigSegv, 0x80, 0, 13, selector & 0xfffc});
  return false;
}

/// The processor looks at the target before it goes there.
bool refuse_target(Turn& turn, u64 target) {
  if (is_canonical(target)) return false;
  raise_general_protection(turn);
  return true;
}

/// Reads `count` words of the stack; `first` is the one that the processor looks at before the others.
bool pop_words(Turn& turn, u64* words, u32 count, u32 first, u32 size) {
  u64 sp = turn.gpr(kRsp);
  for (u32 n = 0; n < count; ++n) {
    u32 i = (first + n) % count;
    words[i] = 0;
    GuestAddr at = sp + i * size;
    if (!read_guest(&words[i], at, size)) return refuse_access(turn, at, size, false, true);
  }
  return true;
}

bool far_return(Turn& turn, const Insn& insn, u32 size) {
  u64 words[2];
  if (!pop_words(turn, words, 2, 1, size)) return false;
  if ((words[1] & 0xffff) != kUserCs) return refuse_selector(turn, words[1] & 0xffff);
  if (refuse_target(turn, words[0])) return false;
  turn.gpr(kRsp) += 2 * size + static_cast<u64>(insn.imm_size != 0 ? insn.imm & 0xffff : 0);
  turn.regs().pc = words[0];
  return true;
}

bool interrupt_return(Turn& turn, u32 size) {
  constexpr u64 kNestedTask = 0x4000;
  if ((turn.regs().rflags & kNestedTask) != 0) {  // there are no tasks to return to in 64-bit mode
    raise_general_protection(turn);
    return false;
  }
  u64 words[5];
  if (!pop_words(turn, words, 5, 2, size)) return false;
  if ((words[1] & 0xffff) != kUserCs) return refuse_selector(turn, words[1] & 0xffff);
  if ((words[4] & 0xffff) != kUserDs) return refuse_selector(turn, words[4] & 0xffff);
  if (refuse_target(turn, words[0])) return false;
  u64& flags = turn.regs().rflags;
  u64 changed = size == 2 ? kUserFlags & 0xffff : kUserFlags;
  flags = (flags & ~changed) | (words[2] & changed);
  turn.regs().pc = words[0];
  turn.gpr(kRsp) = words[3];
  return true;
}

bool far_pointer(Turn& turn, const Insn& insn, u32 size) {
  const MemOperand* mem = explicit_mem(insn);
  if (mem == nullptr) {
    raise_invalid_opcode(turn);
    return false;
  }
  GuestAddr at = effective_address(turn, insn, *mem);
  u64 target = 0;
  u16 selector = 0;
  if (!read_guest(&target, at, size) || !read_guest(selector, at + size))
    return refuse_access(turn, at, size + sizeof selector, false, mem->base == kRsp || mem->base == kRbp);
  if (selector != kUserCs) return refuse_selector(turn, selector);
  if (refuse_target(turn, target)) return false;
  if (insn.branch == Branch::kFarCall) {
    u64 words[2] = {turn.regs().pc + insn.length, kUserCs};
    u64 sp = turn.gpr(kRsp) - 2 * size;
    for (u32 i = 2; i-- > 0;) {  // the selector is pushed first
      if (!memory::write_guest(turn, sp + i * size, &words[i], size)) {
        return refuse_access(turn, sp + i * size, size, true, true);
      }
    }
    turn.gpr(kRsp) = sp;
  }
  turn.regs().pc = target;
  return true;
}

}  // namespace

bool far_transfer(Turn& turn, const Insn& insn) {
  u32 size = (insn.rex & 8) != 0 ? 8 : (insn.prefixes & kPrefix66) != 0 ? 2 : 4;
  switch (insn.branch) {
    case Branch::kFarRet:
      return far_return(turn, insn, size);
    case Branch::kIret:
      return interrupt_return(turn, size);
    default:
      return far_pointer(turn, insn, size);
  }
}

}  // namespace detrec::guest::run
