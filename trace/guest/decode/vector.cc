// VEX, EVEX and XOP: prefixes and the rules of their operands (Intel SDM 2A 2.3, 2.7; AMD APM 3 1.2).
#include "trace/guest/decode/fields.h"

namespace detrec::guest::tables {
namespace {

// R, X, B are inverted in all of these prefixes.
void read_rxb(Fields& f, std::uint8_t byte) {
  f.r = (byte & 0x80) != 0 ? 0 : 8;
  f.x = (byte & 0x40) != 0 ? 0 : 8;
  f.b = (byte & 0x20) != 0 ? 0 : 8;
}

void read_vlpp(Fields& f, std::uint8_t byte) {
  f.vvvv = (~byte >> 3) & 15;
  f.l = (byte >> 2) & 1;
  f.pp = byte & 3;
}

bool select_map(Fields& f, Table table, OpcodeMap map) {
  f.table = table;
  f.map = map;
  return true;
}

bool evex_valid(const Fields& f, const Insn& insn) {
  const Row& row = *f.row;
  if (f.evex_b && !f.attr(f.is_mem ? kABcastMask : kAEr | kASae)) return false;
  if (f.aaa != 0 && !f.attr(kAMaskM)) return false;
  if (f.aaa == 0 && (f.evex_z || f.attr(kAMaskReq))) return false;
  if (f.evex_z && (!f.attr(kAMaskZ) || (f.is_mem && (row.access & kWr) != 0))) return false;
  // EVEX.R' does not extend general registers.
  const RegClass cls = row.reg.cls();
  if (f.r2 != 0 && cls >= kB && cls <= kY) return false;
  if (f.attr(kADistinct)) {
    const unsigned destination = f.reg() | f.r2;
    if (f.attr(kAVsib)) return destination != insn.mem[0].index;
    if (destination == (f.vvvv | f.v2) || (!f.is_mem && destination == (f.rm() | f.x << 1))) return false;
  }
  return true;
}

}  // namespace

bool read_vex2(Fields& f) {
  const std::uint8_t p = f.code[f.pos];
  f.opcode = f.code[f.pos + 1];
  f.pos += 2;
  f.encoding = Encoding::kVex;
  f.r = (p & 0x80) != 0 ? 0 : 8;
  read_vlpp(f, p);
  return select_map(f, Table::kVex0F, OpcodeMap::k0F);
}

bool read_vex3(Fields& f) {
  const std::uint8_t p = f.code[f.pos];
  const std::uint8_t q = f.code[f.pos + 1];
  f.opcode = f.code[f.pos + 2];
  f.pos += 3;
  f.encoding = Encoding::kVex;
  read_rxb(f, p);
  f.w = q >> 7;
  read_vlpp(f, q);
  switch (p & 31) {
    case 1:
      return select_map(f, Table::kVex0F, OpcodeMap::k0F);
    case 2:
      return select_map(f, Table::kVex0F38, OpcodeMap::k0F38);
    case 3:
      return select_map(f, Table::kVex0F3A, OpcodeMap::k0F3A);
    default:
      return false;
  }
}

bool read_xop(Fields& f) {
  const std::uint8_t p = f.code[f.pos];
  const std::uint8_t q = f.code[f.pos + 1];
  f.opcode = f.code[f.pos + 2];
  f.pos += 3;
  f.encoding = Encoding::kXop;
  read_rxb(f, p);
  f.w = q >> 7;
  read_vlpp(f, q);
  switch (p & 31) {
    case 8:
      return select_map(f, Table::kXop8, OpcodeMap::kXop8);
    case 9:
      return select_map(f, Table::kXop9, OpcodeMap::kXop9);
    case 10:
      return select_map(f, Table::kXopA, OpcodeMap::kXopA);
    default:
      return false;
  }
}

bool read_evex(Fields& f) {
  const std::uint8_t p0 = f.code[f.pos];
  const std::uint8_t p1 = f.code[f.pos + 1];
  const std::uint8_t p2 = f.code[f.pos + 2];
  f.opcode = f.code[f.pos + 3];
  f.pos += 4;
  f.encoding = Encoding::kEvex;
  read_rxb(f, p0);
  f.r2 = (p0 & 0x10) != 0 ? 0 : 16;
  f.w = p1 >> 7;
  read_vlpp(f, p1);
  f.evex_z = (p2 & 0x80) != 0;
  f.l = (p2 >> 5) & 3;
  f.evex_b = (p2 & 0x10) != 0;
  f.v2 = (p2 & 8) != 0 ? 0 : 16;
  f.aaa = p2 & 7;
  if ((p0 & 8) != 0 || (p1 & 4) == 0) return false;  // APX gives these bits a meaning
  switch (p0 & 7) {
    case 1:
      return select_map(f, Table::kEvex0F, OpcodeMap::k0F);
    case 2:
      return select_map(f, Table::kEvex0F38, OpcodeMap::k0F38);
    case 3:
      return select_map(f, Table::kEvex0F3A, OpcodeMap::k0F3A);
    case 5:
      return select_map(f, Table::kEvex5, OpcodeMap::kMap5);
    case 6:
      return select_map(f, Table::kEvex6, OpcodeMap::kMap6);
    default:
      return false;
  }
}

bool vector_operands_valid(const Fields& f, const Insn& insn) {
  // vvvv must be 1111b (0 once inverted) unless it names an operand; so must EVEX.V' unless it extends an
  // index.
  if (!f.attr(kAVvvv) && (f.vvvv != 0 || (f.v2 != 0 && !f.attr(kAVsib)))) return false;
  // Opmask and tile registers are numbered 0..7. As the rm operand of opmask instructions, though, B is
  // ignored.
  const RegClass reg_class = f.row->reg.cls();
  if ((reg_class == kMask || reg_class == kTile) && (f.reg() > 7 || f.r2 != 0)) return false;
  if (f.row->rm.cls() == kTile && !f.is_mem && f.rm() > 7) return false;
  if (f.attr(kAVvvvMask | kATileVvvv) && f.vvvv > 7) return false;
  if (f.attr(kASib | kAVsib) && !insn.has_sib) return false;
  if (f.encoding == Encoding::kEvex) return evex_valid(f, insn);
  if (f.attr(kADistinct)) {
    // Gathers: destination, mask and index; tile products: the three tiles.
    const unsigned third = f.is_mem ? insn.mem[0].index : f.rm();
    if (f.reg() == f.vvvv || f.reg() == third || f.vvvv == third) return false;
  }
  return true;
}

void finish_evex_memory(const Fields& f, Insn& insn) {
  if (f.evex_b) insn.mem[0].size = f.attr(kABcast8) ? 8 : f.attr(kABcast4) ? 4 : 2;
  if (insn.disp_size != 1) return;
  // An 8-bit displacement counts in units of what the instruction accesses.
  unsigned unit = insn.mem[0].size;
  if (f.attr(kAElem | kAVsib)) unit = f.w != 0 ? 8 : 4;
  if (f.attr(kAElemBw)) unit = f.w != 0 ? 2 : 1;
  insn.disp *= unit == 0 ? 1 : unit;
}

}  // namespace detrec::guest::tables
