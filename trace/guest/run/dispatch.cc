#include "trace/guest/run/dispatch.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/run/emulate.h"
#include "trace/guest/run/exits.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/translate/code_pages.h"
#include "trace/guest/translate/target_check.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::run {
namespace {

constexpr int kSigSegv = 11;

void raise(Turn& turn, const translate::FetchFault& f) {
  signal::raise_fault(turn, {f.signo, f.code, f.address, f.trapno, f.error});
}

/// An indirect transfer arrives at regs.pc: count it and see that the next one finds the table filled.
CacheAddr arrive(Turn& turn) {
  count_tick(context());
  if (stepping()) return CacheAddr::kNone;
  translate::FetchFault fault;
  // A pc without code is met again, and its fault raised, when the guest is about to run there.
  return translate::indirect_entry(turn, turn.regs().pc, fault);
}

/// The processor looks at the target of an indirect transfer before it goes there: the fault of one that is
/// no address at all is the branch's own. True when it has been raised.
bool refuse_target(Turn& turn, u64 target, GuestAddr branch_pc) {
  if (is_canonical(target)) return false;
  turn.regs().pc = branch_pc;
  settle_flags(turn.regs());
  raise_general_protection(turn);
  return true;
}

/// The return address that a call at `call_pc` pushes. False when the stack is not writable: the guest's
/// fault has been raised.
bool push_return(Turn& turn, GuestAddr return_pc, GuestAddr call_pc) {
  u64 sp = turn.gpr(kRsp) - 8;
  if (memory::write_guest(turn, sp, return_pc)) {
    turn.gpr(kRsp) = sp;
    return true;
  }
  turn.regs().pc = call_pc;
  settle_flags(turn.regs());
  raise_access_fault(turn, sp, sizeof return_pc, true, true);
  return false;
}

/// Serves one exit. Returns where generated code goes on, if that is known without a look-up.
CacheAddr serve(Turn& turn, Context& c) {
  wire::EngineStats& stats = statistics();
  translate::FetchFault fault;
  Registers& regs = c.regs;
  switch (c.exit_kind) {
    case ExitKind::kLink:
      ++stats.exits_link;
      regs.pc = translate::block_index().site(c.exit_arg).pc;
      return translate::follow_link(turn, c.exit_arg, fault);
    case ExitKind::kIndirectJmp: {
      ++stats.exits_indirect;
      const translate::Site& site = translate::block_index().site(c.exit_arg);
      if (refuse_target(turn, c.target, site.pc - site.stub)) return CacheAddr::kNone;
      regs.pc = c.target;
      return arrive(turn);
    }
    case ExitKind::kIndirectCall: {
      ++stats.exits_indirect;
      const translate::Site& site = translate::block_index().site(c.exit_arg);
      GuestAddr sp = turn.gpr(kRsp);
      if (!push_return(turn, site.pc, site.pc - site.stub)) return CacheAddr::kNone;
      // What a refused call has pushed stays in memory; rsp does not move.
      if (!is_canonical(c.target)) turn.gpr(kRsp) = sp;
      if (refuse_target(turn, c.target, site.pc - site.stub)) return CacheAddr::kNone;
      regs.pc = c.target;
      return arrive(turn);
    }
    case ExitKind::kRet: {
      ++stats.exits_indirect;
      const translate::Site& site = translate::block_index().site(c.exit_arg);
      u64 to;
      if (!read_guest(to, regs.gpr[kRsp])) {
        // Only a single step gets here: translated code has read the slot already.
        regs.pc = site.pc;
        settle_flags(regs);
        raise_access_fault(turn, regs.gpr[kRsp], sizeof to, false, true);
        return CacheAddr::kNone;
      }
      if (refuse_target(turn, to, site.pc)) return CacheAddr::kNone;
      regs.gpr[kRsp] += 8 + site.stub;
      regs.pc = to;
      return arrive(turn);
    }
    case ExitKind::kTick: {
      ++stats.exits_tick;
      const translate::Site& site = translate::block_index().site(c.exit_arg);
      regs.pc = site.pc;
      return static_cast<CacheAddr>(site.cache);
    }
    case ExitKind::kSyscall: {
      ++stats.exits_syscall;
      const translate::Site site = translate::block_index().site(c.exit_arg);
      u64 epoch = translate::epoch();
      regs.pc = site.pc;
      regs.gpr[kRcx] = site.pc;
      regs.gpr[kR11] = regs.rflags;
      syscall::handle(turn);
      return epoch == translate::epoch() && regs.pc == site.pc ? static_cast<CacheAddr>(site.cache)
                                                               : CacheAddr::kNone;
    }
    case ExitKind::kEmulate: {
      ++stats.exits_emulated;
      const translate::Site site = translate::block_index().site(c.exit_arg);
      u64 epoch = translate::epoch();
      regs.pc = site.pc;
      bool in_line = emulate(turn);
      return in_line && epoch == translate::epoch() ? static_cast<CacheAddr>(site.cache) : CacheAddr::kNone;
    }
    case ExitKind::kResume:
      regs.pc = translate::block_index().site(c.exit_arg).pc;
      return CacheAddr::kNone;
    case ExitKind::kFault:
      return CacheAddr::kNone;
  }
  DETREC_PANIC("unknown exit kind %u", static_cast<u32>(c.exit_kind));
}

/// Everything between an exit and the next entry: signals, stops, look-ups. Sets Context::resume.
void prepare_entry(Turn& turn, Context& c, CacheAddr known) {
  for (;;) {
    if (signal::deliverable(turn)) {
      settle_flags(c.regs);
      signal::deliver_pending(turn);
      known = CacheAddr::kNone;
      continue;
    }
    if (at_stop(turn)) {
      known = CacheAddr::kNone;
      continue;
    }
    GuestAddr pc = c.regs.pc;
    // A single step's code is gone as soon as another is made, perhaps by a thread that had the turn
    // meanwhile.
    if (stepping() || translate::is_step_code(known)) known = CacheAddr::kNone;
    if (known == CacheAddr::kNone) {
      if (enter_vsyscall(turn)) continue;
      translate::FetchFault fault;
      known = stepping() ? translate::step_code(turn, pc, fault) : translate::body_of(turn, pc, fault);
      if (known == CacheAddr::kNone) {
        settle_flags(c.regs);
        raise(turn, fault);
        continue;
      }
    }
    if (process().launch->trace_level >= 3) warn("enter 0x%lx at %lu ticks", pc, ticks_used(c));
    if (needs_allotment(c)) allot_ticks(c);
    c.resume = raw(known);
    c.in_guest = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    // A signal that came before in_guest was set is seen here; one that comes later makes a stripe run out.
    if (!signal::deliverable(turn)) return;
    c.in_guest = 0;
  }
}

extern "C" void engine_exit() {
  Context& c = context();
  Turn turn = TurnSchedule::held();
  CacheAddr known = serve(turn, c);
  if (stepping()) note_step();
  prepare_entry(turn, context(), known);
}

}  // namespace

void enter_guest(Turn& turn) {
  prepare_entry(turn, context(), CacheAddr::kNone);
  resume_guest();
}

void request_exit(u64 host_pc, u64* host_rcx) {
  Context& c = context();
  if (c.in_guest == 0) return;
  u64 used = ticks_used(c);
  if (used >= c.tick_deadline) return;  // on its way out anyway
  c.tick_base = used;
  c.allotted = 1;
  for (u32& s : c.stripe) s = 1;
  if (!translate::in_cache(host_pc)) return;
  // Interrupted between the load and the store of a tick that keeps the flags? Then rcx holds the old count.
  u8 code[3];
  memcpy(code, reinterpret_cast<const void*>(host_pc), sizeof code);
  bool at_lea = code[0] == 0x8d && code[1] == 0x49 && code[2] == 0xff;  // lea ecx, [rcx - 1]
  u32 operand;  // mov [disp32], ecx is 89 0c 25 disp32
  memcpy(&operand, reinterpret_cast<const void*>(host_pc + 3), sizeof operand);
  bool at_store = code[0] == 0x89 && code[1] == 0x0c && code[2] == 0x25 &&
                  operand >= kContextAddress + offsetof(Context, stripe) &&
                  operand < kContextAddress + offsetof(Context, stripe) + sizeof(c.stripe);
  if (at_lea) *host_rcx = 1;
  if (at_store) *host_rcx = 0;
}

bool recover_guest_state(u64 host_pc, const u64 host_gpr[16], u64 host_rflags) {
  translate::CachePosition at;
  if (!translate::in_cache(host_pc) || !translate::locate(host_pc, at)) return false;
  Context& c = context();
  Registers& regs = c.regs;
  for (int i = 0; i < 16; ++i) regs.gpr[i] = host_gpr[i];
  constexpr u64 kResumeFlag = 1u << 16;
  regs.rflags = host_rflags & ~kResumeFlag;
  regs.pc = at.pc;
  // Sequences that borrow a register begin with the store into its spill slot.
  bool borrowed = host_pc - at.insn_cache >= translate::kSpillLength;
  if (borrowed) {
    switch (at.insn.branch) {
      case Branch::kRet:
      case Branch::kJmpIndirect:
      case Branch::kCallIndirect:
        regs.gpr[kRcx] = c.spill_rcx;
        break;
      default:
        if (translate::has_far_operand(at.insn, at.pc))
          regs.gpr[translate::scratch_for(at.insn)] = c.spill_scratch;
        break;
    }
  }
  settle_flags(regs);
  ++statistics().faults;
  return true;
}

FaultAction classify_fault(Turn& turn, int signo, u64& fault_address, bool write, u64 host_pc) {
  if (write && signo == kSigSegv && translate::on_write_fault(turn, fault_address))
    return FaultAction::kContinue;
  translate::CachePosition at;
  if (!translate::locate(host_pc, at)) return FaultAction::kDeliver;
  bool is_ret = at.insn.branch == Branch::kRet;
  bool is_indirect =
      is_ret || at.insn.branch == Branch::kJmpIndirect || at.insn.branch == Branch::kCallIndirect;
  if (is_indirect && translate::widen_target_check(host_pc)) return FaultAction::kContinue;
  if (!is_ret) return FaultAction::kDeliver;
  // The translated `ret` looks at the upper half of its slot first.
  GuestAddr slot = turn.gpr(kRsp);
  if (fault_address == slot + 4 && page_down(slot) == page_down(slot + 7)) fault_address = slot;
  if (signo != kSigSegv || !write) return FaultAction::kDeliver;
  // `ret` from a slot that cannot be written: the return address could not be swapped for the cache's. Do it
  // here.
  Registers& regs = turn.regs();
  u64 to;
  if (!read_guest(to, regs.gpr[kRsp])) return FaultAction::kDeliver;
  regs.gpr[kRsp] += 8;
  regs.pc = to;
  count_tick(context());
  return FaultAction::kContinue;
}

}  // namespace detrec::guest::run

namespace detrec::guest {
u64 Turn::ticks() const { return run::ticks_used(context()); }
}  // namespace detrec::guest
