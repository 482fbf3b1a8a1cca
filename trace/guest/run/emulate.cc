#include "trace/guest/run/emulate.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/run/cpu_model.h"
#include "trace/guest/run/machine_state.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/translate/code_reader.h"

namespace detrec::guest::run {
namespace {

constexpr int kSigIll = 4, kSigTrap = 5, kSigSegv = 11;
constexpr int kSiKernel = 0x80, kIllIllOpn = 2, kTrapBreak = 1;
constexpr u64 kTrapDebug = 1, kTrapBreakpoint = 3, kTrapInvalidOpcode = 6, kTrapGeneralProtection = 13;
constexpr u64 kStatusFlags = 0x8d5;  // CF PF AF ZF SF OF

void set_reg(Turn& turn, Reg r, u64 value, u32 size) {
  u64& g = turn.gpr(r);
  if (size == 8) g = value;
  if (size == 4) g = static_cast<u32>(value);
  if (size == 2) g = (g & ~0xffffull) | (value & 0xffff);
}

Reg modrm_rm(const Insn& insn) { return static_cast<Reg>((insn.modrm & 7) | ((insn.rex & 1) << 3)); }
Reg modrm_reg(const Insn& insn) { return static_cast<Reg>((insn.modrm >> 3 & 7) | ((insn.rex & 4) << 1)); }

void set_flags(Turn& turn, u64 flags) { turn.regs().rflags = (turn.regs().rflags & ~kStatusFlags) | flags; }

u64 host_tsc(u32* aux) {
  u32 lo, hi, id;
  asm volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(id));
  if (aux != nullptr) *aux = id;
  return static_cast<u64>(hi) << 32 | lo;
}

void answer_cpuid(Turn& turn) {
  CpuidResult r = cpuid(static_cast<u32>(turn.gpr(kRax)), static_cast<u32>(turn.gpr(kRcx)));
  u64 values[4] = {r.eax, r.ebx, r.ecx, r.edx};
  events::exchange_instruction(turn, wire::InstructionKind::kCpuid, values);
  turn.gpr(kRax) = static_cast<u32>(values[0]);
  turn.gpr(kRbx) = static_cast<u32>(values[1]);
  turn.gpr(kRcx) = static_cast<u32>(values[2]);
  turn.gpr(kRdx) = static_cast<u32>(values[3]);
}

void answer_rdtsc(Turn& turn, bool with_aux) {
  u32 aux = 0;
  u64 values[4] = {host_tsc(&aux), with_aux ? aux : 0};
  events::exchange_instruction(
      turn, with_aux ? wire::InstructionKind::kRdtscp : wire::InstructionKind::kRdtsc, values);
  turn.gpr(kRax) = static_cast<u32>(values[0]);
  turn.gpr(kRdx) = values[0] >> 32;
  if (with_aux) turn.gpr(kRcx) = static_cast<u32>(values[1]);
}

/// The cpu model has neither rdrand nor rdseed; a program that uses them all the same gets the kernel's
/// randomness.
void answer_random(Turn& turn, const Insn& insn) {
  u64 values[4] = {};
  raw_syscall(__NR_getrandom, arg(values), sizeof values[0], 0);
  events::exchange_instruction(turn, wire::InstructionKind::kRdrand, values);
  set_reg(turn, modrm_rm(insn), values[0], insn.operand_size);
  set_flags(turn, 1);  // CF: a value was there
}

/// lsl and lar of the selectors that every 64-bit Linux process has; all others are "not visible", the one
/// through which getcpu reads the core's number included.
void answer_segment(Turn& turn, const Insn& insn) {
  u64 selector = 0;
  if (const MemOperand* mem = explicit_mem(insn)) {
    u16 word = 0;
    read_guest(word, effective_address(turn, insn, *mem));
    selector = word;
  } else {
    selector = turn.gpr(modrm_rm(insn)) & 0xffff;
  }
  constexpr u16 kUser32Cs = 0x23, kUserDs = 0x2b, kUserCs = 0x33;
  u64 rights = selector == kUser32Cs ? 0xcffb00u
               : selector == kUserDs ? 0xcff300u
               : selector == kUserCs ? 0xaffb00u
                                     : 0u;
  constexpr u64 kZf = 0x40;
  u64& flags = turn.regs().rflags;
  flags &= ~kZf;
  if (rights == 0) return;
  flags |= kZf;
  if (insn.special == Special::kLsl) set_reg(turn, modrm_reg(insn), 0xffff'ffff, insn.operand_size);
  if (insn.special == Special::kLar) set_reg(turn, modrm_reg(insn), rights, insn.operand_size);
  if (insn.special == Special::kVerw && selector != kUserDs) flags &= ~kZf;  // code is not writable
}

void answer_segment_base(Turn& turn, const Insn& insn) {
  Reg r = modrm_rm(insn);
  u64 value = insn.operand_size == 8 ? turn.gpr(r) : static_cast<u32>(turn.gpr(r));
  switch (insn.special) {
    case Special::kRdfsbase:
      set_reg(turn, r, fs_base(), insn.operand_size);
      break;
    case Special::kRdgsbase:
      set_reg(turn, r, gs_base(), insn.operand_size);
      break;
    case Special::kWrfsbase:
      set_fs_base(value);
      break;
    default:
      set_gs_base(value);
      break;
  }
}

/// Values that Linux shows where UMIP keeps user space from the real ones (arch/x86/kernel/umip.c documents
/// them).
bool answer_descriptor_table(Turn& turn, const Insn& insn) {
  u64 value = 0;
  u32 size = 0;
  u8 bytes[10] = {};
  switch (insn.special) {
    case Special::kSgdt:
      value = 0xffff'ffff'fffe'0000ull, size = 10;
      break;
    case Special::kSidt:
      value = 0xffff'ffff'ffff'0000ull, size = 10;
      break;
    case Special::kSmsw:
      value = 0x8005'0033, size = 2;
      break;
    case Special::kSldt:
      value = 0, size = 2;
      break;
    default:
      value = 0x40, size = 2;
      break;  // str
  }
  const MemOperand* mem = explicit_mem(insn);
  if (mem == nullptr) {
    set_reg(turn, modrm_rm(insn), value, insn.operand_size);
    return true;
  }
  memcpy(size == 10 ? bytes + 2 : bytes, &value, size == 10 ? 8 : 2);
  GuestAddr to = effective_address(turn, insn, *mem);
  if (memory::write_guest(turn, to, bytes, size)) return true;
  raise_access_fault(turn, to, size, true, mem->base == kRsp || mem->base == kRbp);
  return false;
}

}  // namespace

GuestAddr effective_address(Turn& turn, const Insn& insn, const MemOperand& mem) {
  const Registers& regs = turn.regs();
  u64 a = static_cast<u64>(mem.disp);
  if (mem.base == kRip) {
    a += regs.pc + insn.length;
  } else if (mem.base != kNoReg) {
    a += regs.gpr[mem.base];
  }
  if (mem.index != kNoReg) a += regs.gpr[mem.index] * mem.scale;
  if (mem.address32) a = static_cast<u32>(a);
  if (mem.segment == Segment::kFs) a += fs_base();
  if (mem.segment == Segment::kGs) a += gs_base();
  return a;
}

void raise_general_protection(Turn& turn) {
  signal::raise_fault(turn, {kSigSegv, kSiKernel, 0, kTrapGeneralProtection, 0});
}

void raise_invalid_opcode(Turn& turn) {
  signal::raise_fault(turn, {kSigIll, kIllIllOpn, turn.regs().pc, kTrapInvalidOpcode, 0});
}

void raise_access_fault(Turn& turn, GuestAddr address, u64 size, bool write, bool stack) {
  constexpr int kSigBus = 7, kMapErr = 1, kAccErr = 2, kAdrErr = 2;
  constexpr u64 kTrapStack = 12, kTrapPageFault = 14;
  constexpr u64 kErrorPresent = 1, kErrorWrite = 2, kErrorUser = 4;
  constexpr int kProtWrite = 2;
  if (!is_canonical(address) || !is_canonical(address + size - 1)) {
    if (!stack) return raise_general_protection(turn);
    return signal::raise_fault(turn, {kSigBus, kSiKernel, 0, kTrapStack, 0});
  }
  auto fails = [write](GuestAddr at) {
    int prot = memory::protection(at);
    return prot <= 0 || (write && (prot & kProtWrite) == 0);
  };
  GuestAddr last_page = page_down(address + size - 1);
  if (last_page > address && !fails(address) && fails(last_page)) address = last_page;
  u64 error = kErrorUser | (write ? kErrorWrite : 0);
  int prot = memory::protection(address);
  if (!fails(address))  // beyond the end of the file
    return signal::raise_fault(turn, {kSigBus, kAdrErr, address, kTrapPageFault, error});
  bool kernels = (address >> 63) != 0;  // Linux calls all of its half present
  if (kernels || prot > 0) error |= kErrorPresent;
  signal::raise_fault(turn, {kSigSegv, prot < 0 ? kMapErr : kAccErr, address, kTrapPageFault, error});
}

bool emulate(Turn& turn) {
  Registers& regs = turn.regs();
  translate::CodeReader reader(regs.pc);
  translate::FetchFault fault;
  Insn insn;
  if (!reader.decode_at(regs.pc, insn, fault)) {
    signal::raise_fault(turn, {fault.signo, fault.code, fault.address, fault.trapno, fault.error});
    return false;
  }
  GuestAddr next = regs.pc + insn.length;
  switch (insn.branch) {
    case Branch::kFarJmp:
    case Branch::kFarCall:
    case Branch::kFarRet:
    case Branch::kIret:
      if (far_transfer(turn, insn)) count_tick(context());
      return false;
    case Branch::kXbegin:  // aborts at once, without a hint to try again
      regs.gpr[kRax] = 0;
      regs.pc = branch_target(insn, regs.pc);
      if (regs.pc < next) count_tick(context());
      return false;
    default:
      break;
  }
  switch (insn.special) {
    case Special::kCpuid:
      answer_cpuid(turn);
      break;
    case Special::kRdtsc:
      answer_rdtsc(turn, false);
      break;
    case Special::kRdtscp:
      answer_rdtsc(turn, true);
      break;
    case Special::kRdrand:
    case Special::kRdseed:
      answer_random(turn, insn);
      break;
    case Special::kRdpid: {
      u32 aux = 0;
      host_tsc(&aux);
      u64 values[4] = {aux};
      events::exchange_instruction(turn, wire::InstructionKind::kRdpid, values);
      turn.gpr(modrm_rm(insn)) = values[0];
      break;
    }
    case Special::kXgetbv: {
      if (static_cast<u32>(regs.gpr[kRcx]) != 0) {
        raise_general_protection(turn);
        return false;
      }
      u64 values[4] = {guest_xcr0()};
      events::exchange_instruction(turn, wire::InstructionKind::kXgetbv, values);
      regs.gpr[kRax] = static_cast<u32>(values[0]);
      regs.gpr[kRdx] = values[0] >> 32;
      break;
    }
    case Special::kLsl:
    case Special::kLar:
    case Special::kVerr:
    case Special::kVerw:
      answer_segment(turn, insn);
      break;
    case Special::kSgdt:
    case Special::kSidt:
    case Special::kSldt:
    case Special::kStr:
    case Special::kSmsw:
      if (!answer_descriptor_table(turn, insn)) return false;
      break;
    case Special::kRdfsbase:
    case Special::kRdgsbase:
    case Special::kWrfsbase:
    case Special::kWrgsbase:
      answer_segment_base(turn, insn);
      break;
    case Special::kUmonitor:
    case Special::kMonitorx:
      break;
    case Special::kUmwait:
    case Special::kTpause:
      set_flags(turn, 0);
      break;
    case Special::kMwaitx:
      break;
    case Special::kXabort:
      break;  // no transaction is ever open
    case Special::kXtest:
      set_flags(turn, 0x40);
      break;  // ZF: not in a transaction
    case Special::kFnstenv:
    case Special::kFnsave:
    case Special::kFxsave:
    case Special::kXsave:
      mend_saved_state(turn, insn);
      break;
    case Special::kInt3:
      regs.pc = next;
      signal::raise_fault(turn, {kSigTrap, kSiKernel, 0, kTrapBreakpoint, 0});
      return false;
    case Special::kInt1:
      regs.pc = next;
      signal::raise_fault(turn, {kSigTrap, kTrapBreak, next, kTrapDebug, 0});
      return false;
    case Special::kIntN:
      if (insn.imm == 0x80) {
        static bool warned = false;
        if (!warned) warn("int 0x80 (a 32-bit system call) is not supported: the program gets SIGSEGV");
        warned = true;
      }
      if (insn.imm == 3) {
        regs.pc = next;
        signal::raise_fault(turn, {kSigTrap, kSiKernel, 0, kTrapBreakpoint, 0});
        return false;
      }
      if (insn.imm == 4) {  // the overflow trap's gate is open to user space
        constexpr u64 kTrapOverflow = 4;
        regs.pc = next;
        signal::raise_fault(turn, {kSigSegv, kSiKernel, 0, kTrapOverflow, 0});
        return false;
      }
      signal::raise_fault(
          turn, {kSigSegv, kSiKernel, 0, kTrapGeneralProtection, static_cast<u64>(insn.imm & 0xff) * 8 + 2});
      return false;
    case Special::kRdpmc:
    case Special::kXend:
      raise_general_protection(turn);
      return false;
    default:
      raise_invalid_opcode(turn);
      return false;
  }
  regs.pc = next;
  return true;
}

bool enter_vsyscall(Turn& turn) {
  constexpr u64 kVsyscall = 0xffff'ffff'ff60'0000ull;
  Registers& regs = turn.regs();
  u64 entry = regs.pc - kVsyscall;
  if (entry != 0 && entry != 0x400 && entry != 0x800) return false;
  u64 to;
  if (!read_guest(to, regs.gpr[kRsp])) return false;
  u64 rcx = regs.gpr[kRcx], r11 = regs.gpr[kR11];
  regs.gpr[kRax] = entry == 0 ? __NR_gettimeofday : entry == 0x400 ? __NR_time : __NR_getcpu;
  syscall::handle(turn);
  regs.gpr[kRcx] = rcx;
  regs.gpr[kR11] = r11;
  regs.gpr[kRsp] += 8;
  regs.pc = to;
  count_tick(context());
  return true;
}

}  // namespace detrec::guest::run
