// Memory operands that no ModRM byte names: the stack, strings, and a few others.
#include "trace/guest/decode/fields.h"
#include "trace/guest/decode/tables/effects.h"

namespace detrec::guest::tables {
namespace {

MemOperand& add(const Fields& f, Insn& insn, MemKind kind, std::uint8_t base, unsigned size, Access access) {
  MemOperand& mem = insn.mem[insn.mem_count++];
  mem.disp = 0;
  mem.size = static_cast<std::uint16_t>(size);
  mem.base = base;
  mem.index = kNoReg;
  mem.scale = 1;
  mem.kind = kind;
  mem.read = (access & kR) != 0;
  mem.write = (access & kWr) != 0;
  mem.vsib = false;
  mem.is_agen = access == kAgen;
  // Stack references are 64 bits wide and in no segment, string destinations in no segment.
  const bool stack = kind == MemKind::kStack || kind == MemKind::kFrame;
  mem.address32 = !stack && f.has(kPrefix67);
  mem.segment = stack || kind == MemKind::kStringDst ? Segment::kNone : f.segment;
  return mem;
}

void add_pushes(const Fields& f, Insn& insn, unsigned count) {
  const unsigned bytes = f.operand_size * count;
  add(f, insn, MemKind::kStack, kRsp, bytes, kWr).disp = -static_cast<std::int64_t>(bytes);
}

void add_pops(const Fields& f, Insn& insn, unsigned count) {
  add(f, insn, MemKind::kStack, kRsp, f.operand_size * count, kR);
}

void add_enter(const Fields& f, Insn& insn) {
  // It pushes rbp, then for a nesting level of n copies n - 1 frame pointers and pushes the new one.
  const unsigned level = insn.imm2 & 31u;
  add_pushes(f, insn, 1 + level);
  if (level < 2) return;
  const unsigned bytes = f.operand_size * (level - 1);
  add(f, insn, MemKind::kFrame, kRbp, bytes, kR).disp = -static_cast<std::int64_t>(bytes);
}

void add_string(const Fields& f, Insn& insn, ImMem mem) {
  // A port access is at most 32 bits wide.
  const bool port = mem == ImMem::kIns || mem == ImMem::kOuts;
  const unsigned size = port && f.operand_size == 8 ? 4 : f.operand_size;
  const bool reads_destination = mem == ImMem::kCmps || mem == ImMem::kScas;
  const bool source =
      mem == ImMem::kMovs || mem == ImMem::kCmps || mem == ImMem::kLods || mem == ImMem::kOuts;
  if (source) add(f, insn, MemKind::kStringSrc, kRsi, size, kR);
  if (mem != ImMem::kLods && mem != ImMem::kOuts)
    add(f, insn, MemKind::kStringDst, kRdi, size, reads_destination ? kR : kWr);
  insn.is_string = true;
  if (f.rep_byte == 0) return;
  insn.rep = f.rep_byte == 0xf2 && reads_destination ? Rep::kRepne : Rep::kRep;
  insn.gpr_written |= kCx;
  insn.gpr_read |= insn.gpr_written;
  insn.flags_must_written = 0;
}

}  // namespace

void add_implicit_memory(const Fields& f, Insn& insn) {
  const ImMem mem = kImplicitEffects[static_cast<unsigned>(f.row->im)].mem;
  switch (mem) {
    case ImMem::kNone:
      return;
    case ImMem::kPush:
      return add_pushes(f, insn, 1);
    case ImMem::kPop:
      add_pops(f, insn, 1);
      // pop m: the operand's address is computed after rsp has moved.
      if (f.is_mem && insn.mem[0].base == kRsp) insn.mem[0].disp += f.operand_size;
      return;
    case ImMem::kEnter:
      return add_enter(f, insn);
    case ImMem::kLeave:
      add(f, insn, MemKind::kStack, kRbp, f.operand_size, kR);
      return;
    case ImMem::kFarCall:
      return add_pushes(f, insn, 2);
    case ImMem::kFarRet:
      return add_pops(f, insn, 2);
    case ImMem::kIret:
      return add_pops(f, insn, 5);
    case ImMem::kUiret:
      add(f, insn, MemKind::kStack, kRsp, 24, kR);
      return;
    case ImMem::kXlat:
      add(f, insn, MemKind::kXlat, kRbx, 1, kR).index = kRax;
      return;
    case ImMem::kMaskMov: {
      const bool mmx = f.encoding == Encoding::kLegacy && f.pp == 0;
      add(f, insn, MemKind::kMaskMov, kRdi, mmx ? 8 : 16, kWr);
      return;
    }
    case ImMem::kMoffsLoad:
      add(f, insn, MemKind::kMoffs, kNoReg, f.operand_size, kR).disp = insn.disp;
      return;
    case ImMem::kMoffsStore:
      add(f, insn, MemKind::kMoffs, kNoReg, f.operand_size, kWr).disp = insn.disp;
      return;
    case ImMem::kClzero:
      add(f, insn, MemKind::kRegister, kRax, 64, kWr);
      return;
    case ImMem::kDirectStore:
      // movdir64b, enqcmd: the destination is in ES, which no prefix overrides.
      add(f, insn, MemKind::kRegister, static_cast<std::uint8_t>(f.reg()), 64, kWr).segment = Segment::kNone;
      return;
    default:
      return add_string(f, insn, mem);
  }
}

}  // namespace detrec::guest::tables
