// The decoder: prefixes, opcode, ModRM, immediate; then the effects that the opcode's row names.
#include <initializer_list>

#include "trace/guest/decode/effects.h"
#include "trace/guest/decode/insn.h"
#include "trace/guest/decode/tables.h"

namespace detrec::guest {
namespace {

using namespace tables;

// Classes of first bytes.
enum : std::uint8_t { kOpcodeByte, kRexByte, kPrefixByte, kEscape0F, kVex2, kVex3, kEvexByte, kXopByte };

struct ByteClasses {
  std::uint8_t of[256];
};

constexpr ByteClasses classify_bytes() {
  ByteClasses c{};
  for (int i = 0x40; i < 0x50; ++i) c.of[i] = kRexByte;
  for (int i : {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}) c.of[i] = kPrefixByte;
  c.of[0x0f] = kEscape0F;
  c.of[0xc5] = kVex2;
  c.of[0xc4] = kVex3;
  c.of[0x62] = kEvexByte;
  c.of[0x8f] = kXopByte;
  return c;
}

constexpr ByteClasses kByteClasses = classify_bytes();

constexpr std::uint16_t bit(unsigned reg) { return static_cast<std::uint16_t>(1u << reg); }

/// Everything about one decoding that is not in the result.
struct Decoder {
  const std::uint8_t* code;
  unsigned limit;  // bytes that may be read, at most 15
  unsigned pos = 0;
  Insn& out;

  Table table = Table::k1Byte;
  const Row* row = nullptr;
  std::uint8_t rep_byte = 0;  // the last of F2 and F3
  Segment segment = Segment::kNone;
  // Register extension bits, 0 or 8; r2, v2 are EVEX.R', V' as 0 or 16.
  unsigned r = 0, x = 0, b = 0, w = 0, r2 = 0, v2 = 0;
  unsigned pp = 0;  // index of the key's bit
  unsigned l = 0, vvvv = 0;
  bool evex_b = false, evex_z = false;
  unsigned aaa = 0;
  bool is_mem = false;
  unsigned reg_num = 0, rm_num = 0;

  bool have(unsigned n) const { return pos + n <= limit; }

  std::uint32_t u32_at(unsigned at) const {
    return static_cast<std::uint32_t>(code[at]) | static_cast<std::uint32_t>(code[at + 1]) << 8 |
           static_cast<std::uint32_t>(code[at + 2]) << 16 | static_cast<std::uint32_t>(code[at + 3]) << 24;
  }
  std::uint64_t u64_at(unsigned at) const {
    return u32_at(at) | static_cast<std::uint64_t>(u32_at(at + 4)) << 32;
  }
  std::int64_t s8_at(unsigned at) const { return static_cast<std::int8_t>(code[at]); }
  std::int64_t s32_at(unsigned at) const { return static_cast<std::int32_t>(u32_at(at)); }
  std::uint16_t u16_at(unsigned at) const { return static_cast<std::uint16_t>(code[at] | code[at + 1] << 8); }

  bool has(std::uint16_t prefix) const { return (out.prefixes & prefix) != 0; }
  bool attr(std::uint32_t a) const { return (row->attrs & a) != 0; }

  void note_prefix(std::uint8_t byte);
  bool vex2();
  bool vex3();
  bool evex();
  bool xop();
  DecodeStatus opcode();
  DecodeStatus modrm();
  bool select_row();
  DecodeStatus immediate();
  bool operands_valid() const;
  bool evex_valid() const;
  void scale_disp8();
  void sizes();
  bool vector_index();
  void effects();
  void add_register(RegSpec spec, unsigned num);
  void add_implicit();
  void add_flags();
  MemOperand& add_mem(MemKind kind, std::uint8_t base, std::int64_t disp, unsigned size, Access access,
                      bool segmented);
  unsigned mem_size(MemSize size) const;
  DecodeStatus run();
};

void Decoder::note_prefix(std::uint8_t byte) {
  switch (byte) {
    case 0x26:
      out.prefixes |= kPrefixEs;
      break;
    case 0x2e:
      out.prefixes |= kPrefixCs;
      break;
    case 0x36:
      out.prefixes |= kPrefixSs;
      break;
    case 0x3e:
      out.prefixes |= kPrefixDs;
      break;
    case 0x64:
      out.prefixes |= kPrefixFs;
      segment = Segment::kFs;
      break;
    case 0x65:
      out.prefixes |= kPrefixGs;
      segment = Segment::kGs;
      break;
    case 0x66:
      out.prefixes |= kPrefix66;
      break;
    case 0x67:
      out.prefixes |= kPrefix67;
      break;
    case 0xf0:
      out.prefixes |= kPrefixLock;
      break;
    case 0xf2:
      out.prefixes |= kPrefixF2;
      rep_byte = byte;
      break;
    default:
      out.prefixes |= kPrefixF3;
      rep_byte = byte;
      break;
  }
}

constexpr std::uint16_t kPrefixesBeforeVex = kPrefix66 | kPrefixLock | kPrefixF2 | kPrefixF3;

// VEX.pp: none, 66, F3, F2 - the order of the key's bits.
bool Decoder::vex2() {
  const std::uint8_t p = code[pos++];
  out.encoding = Encoding::kVex;
  r = (p & 0x80) != 0 ? 0 : 8;
  vvvv = (~p >> 3) & 15;
  l = (p >> 2) & 1;
  pp = p & 3;
  table = Table::kVex0F;
  out.map = OpcodeMap::k0F;
  return true;
}

bool Decoder::vex3() {
  const std::uint8_t p = code[pos++];
  const std::uint8_t q = code[pos++];
  out.encoding = Encoding::kVex;
  r = (p & 0x80) != 0 ? 0 : 8;
  x = (p & 0x40) != 0 ? 0 : 8;
  b = (p & 0x20) != 0 ? 0 : 8;
  w = q >> 7;
  vvvv = (~q >> 3) & 15;
  l = (q >> 2) & 1;
  pp = q & 3;
  switch (p & 31) {
    case 1:
      table = Table::kVex0F;
      out.map = OpcodeMap::k0F;
      return true;
    case 2:
      table = Table::kVex0F38;
      out.map = OpcodeMap::k0F38;
      return true;
    case 3:
      table = Table::kVex0F3A;
      out.map = OpcodeMap::k0F3A;
      return true;
    default:
      return false;
  }
}

bool Decoder::xop() {
  const std::uint8_t p = code[pos++];
  const std::uint8_t q = code[pos++];
  out.encoding = Encoding::kXop;
  r = (p & 0x80) != 0 ? 0 : 8;
  x = (p & 0x40) != 0 ? 0 : 8;
  b = (p & 0x20) != 0 ? 0 : 8;
  w = q >> 7;
  vvvv = (~q >> 3) & 15;
  l = (q >> 2) & 1;
  pp = q & 3;
  switch (p & 31) {
    case 8:
      table = Table::kXop8;
      out.map = OpcodeMap::kXop8;
      return true;
    case 9:
      table = Table::kXop9;
      out.map = OpcodeMap::kXop9;
      return true;
    case 10:
      table = Table::kXopA;
      out.map = OpcodeMap::kXopA;
      return true;
    default:
      return false;
  }
}

bool Decoder::evex() {
  const std::uint8_t p0 = code[pos++];
  const std::uint8_t p1 = code[pos++];
  const std::uint8_t p2 = code[pos++];
  out.encoding = Encoding::kEvex;
  r = (p0 & 0x80) != 0 ? 0 : 8;
  x = (p0 & 0x40) != 0 ? 0 : 8;
  b = (p0 & 0x20) != 0 ? 0 : 8;
  r2 = (p0 & 0x10) != 0 ? 0 : 16;
  w = p1 >> 7;
  vvvv = (~p1 >> 3) & 15;
  pp = p1 & 3;
  evex_z = (p2 & 0x80) != 0;
  l = (p2 >> 5) & 3;
  evex_b = (p2 & 0x10) != 0;
  v2 = (p2 & 8) != 0 ? 0 : 16;
  aaa = p2 & 7;
  if ((p0 & 8) != 0 || (p1 & 4) == 0) return false;
  switch (p0 & 7) {
    case 1:
      table = Table::kEvex0F;
      out.map = OpcodeMap::k0F;
      return true;
    case 2:
      table = Table::kEvex0F38;
      out.map = OpcodeMap::k0F38;
      return true;
    case 3:
      table = Table::kEvex0F3A;
      out.map = OpcodeMap::k0F3A;
      return true;
    case 5:
      table = Table::kEvex5;
      out.map = OpcodeMap::kMap5;
      return true;
    case 6:
      table = Table::kEvex6;
      out.map = OpcodeMap::kMap6;
      return true;
    default:
      return false;
  }
}

/// Prefixes and opcode: finds the opcode's first row.
DecodeStatus Decoder::opcode() {
  std::uint8_t byte;
  for (;;) {
    if (!have(1)) return DecodeStatus::kTruncated;
    byte = code[pos++];
    const std::uint8_t cls = kByteClasses.of[byte];
    if (cls == kOpcodeByte) break;
    if (cls == kRexByte) {
      out.rex = byte;  // in effect only if it comes last
      continue;
    }
    if (cls == kPrefixByte) {
      out.rex = 0;
      note_prefix(byte);
      continue;
    }
    if (cls == kEscape0F) {
      if (!have(1)) return DecodeStatus::kTruncated;
      byte = code[pos++];
      table = Table::k0F;
      out.map = OpcodeMap::k0F;
      if (byte == 0x38 || byte == 0x3a) {
        table = byte == 0x38 ? Table::k0F38 : Table::k0F3A;
        out.map = byte == 0x38 ? OpcodeMap::k0F38 : OpcodeMap::k0F3A;
        if (!have(1)) return DecodeStatus::kTruncated;
        byte = code[pos++];
      }
      break;
    }
    if (cls == kXopByte) {
      if (!have(1)) return DecodeStatus::kTruncated;
      if ((code[pos] & 31) < 8) break;  // pop Ev
    }
    const unsigned payload = cls == kVex2 ? 1 : cls == kEvexByte ? 3 : 2;
    if (!have(payload + 1)) return DecodeStatus::kTruncated;
    const bool known = cls == kVex2 ? vex2() : cls == kVex3 ? vex3() : cls == kEvexByte ? evex() : xop();
    if (!known || has(kPrefixesBeforeVex) || out.rex != 0) return DecodeStatus::kInvalid;
    byte = code[pos++];
    break;
  }
  out.opcode = byte;
  out.opcode_offset = static_cast<std::uint8_t>(pos - 1);
  const std::uint16_t first = kOpcodeTables.first[static_cast<unsigned>(table)][byte];
  if (first == kNoRow) return DecodeStatus::kInvalid;
  row = &kOpcodeTables.rows[first];
  if (out.encoding == Encoding::kLegacy) {
    if (out.rex != 0) {
      w = (out.rex >> 3) & 1;
      r = static_cast<unsigned>(out.rex << 1) & 8;
      x = static_cast<unsigned>(out.rex << 2) & 8;
      b = static_cast<unsigned>(out.rex << 3) & 8;
    }
    pp = rep_byte == 0xf3 ? 2 : rep_byte == 0xf2 ? 3 : has(kPrefix66) ? 1 : 0;
  }
  return DecodeStatus::kOk;
}

/// ModRM, SIB and displacement; the memory operand's size and access are filled in later.
DecodeStatus Decoder::modrm() {
  if (!have(1)) return DecodeStatus::kTruncated;
  const std::uint8_t m = code[pos];
  out.has_modrm = true;
  out.modrm = m;
  out.modrm_offset = static_cast<std::uint8_t>(pos++);
  reg_num = ((m >> 3) & 7u) | r;
  const unsigned mod = attr(kAForceReg) ? 3 : m >> 6;
  unsigned rm = m & 7;
  rm_num = rm | b;
  is_mem = mod != 3;
  if (!is_mem) return DecodeStatus::kOk;

  MemOperand& mem = out.mem[0];
  mem.kind = MemKind::kExplicit;
  mem.base = static_cast<std::uint8_t>(rm_num);
  mem.index = kNoReg;
  mem.scale = 1;
  mem.segment = segment;
  mem.address32 = has(kPrefix67);
  unsigned disp_size = mod == 1 ? 1 : mod == 2 ? 4 : 0;
  if (rm == 4) {
    if (!have(1)) return DecodeStatus::kTruncated;
    const std::uint8_t sib = code[pos++];
    out.has_sib = true;
    out.sib = sib;
    const unsigned index = ((sib >> 3) & 7u) | x;
    mem.scale = static_cast<std::uint8_t>(1u << (sib >> 6));
    mem.base = static_cast<std::uint8_t>((sib & 7u) | b);
    if (index != 4) mem.index = static_cast<std::uint8_t>(index);
    if ((sib & 7) == 5 && mod == 0) {
      mem.base = kNoReg;
      disp_size = 4;
    }
  } else if (rm == 5 && mod == 0) {
    mem.base = kRip;
    out.rip_relative = true;
    disp_size = 4;
  }
  if (disp_size != 0) {
    if (!have(disp_size)) return DecodeStatus::kTruncated;
    out.disp = disp_size == 1 ? s8_at(pos) : s32_at(pos);
    out.disp_offset = static_cast<std::uint8_t>(pos);
    out.disp_size = static_cast<std::uint8_t>(disp_size);
    pos += disp_size;
  }
  return DecodeStatus::kOk;
}

/// Moves `row` from the opcode's first row to the one that matches the rest of the encoding.
bool Decoder::select_row() {
  // With EVEX.b and registers L'L is the rounding mode; the length is then 512 bits.
  const bool rounding = evex_b && !is_mem;
  const unsigned length = rounding ? 2 : l;
  const std::uint32_t key = 1u << pp | 1u << (kWShift + w) | 1u << (kLShift + length) |
                            (is_mem ? kModMem : kModReg) | 1u << (kRegShift + ((out.modrm >> 3) & 7)) |
                            1u << (kRmShift + (out.modrm & 7)) | 1u << (kBShift + (b >> 3));
  while ((key & ~row->match) != 0) {
    if (attr(kALast)) return false;
    ++row;
  }
  if (out.encoding != Encoding::kLegacy) out.vector_length = static_cast<std::uint8_t>(16u << length);
  return true;
}

DecodeStatus Decoder::immediate() {
  unsigned size = 0;
  switch (row->imm_kind) {
    case Imm::kNone:
      return DecodeStatus::kOk;
    case Imm::kIb:
    case Imm::kIbU:
    case Imm::kRel8:
      size = 1;
      break;
    case Imm::kIw:
    case Imm::kIbIb:
      size = 2;
      break;
    case Imm::kIwIb:
      size = 3;
      break;
    case Imm::kIz:
      size = out.operand_size == 2 ? 2 : 4;
      break;
    case Imm::kIv:
      size = out.operand_size;
      break;
    case Imm::kId:
    case Imm::kRel32:
      size = 4;
      break;
    case Imm::kRelZ:
      size = has(kPrefix66) && w == 0 ? 2 : 4;
      break;
    case Imm::kMoffs:
      size = has(kPrefix67) ? 4 : 8;
      break;
  }
  if (!have(size)) return DecodeStatus::kTruncated;
  const unsigned at = pos;
  pos += size;
  if (row->imm_kind == Imm::kMoffs) {
    out.disp = static_cast<std::int64_t>(size == 8 ? u64_at(at) : u32_at(at));
    out.disp_offset = static_cast<std::uint8_t>(at);
    out.disp_size = static_cast<std::uint8_t>(size);
    return DecodeStatus::kOk;
  }
  out.imm_offset = static_cast<std::uint8_t>(at);
  out.imm_size = static_cast<std::uint8_t>(size);
  switch (row->imm_kind) {
    case Imm::kIbU:
      out.imm = code[at];
      break;
    case Imm::kIw:
      out.imm = u16_at(at);
      break;
    case Imm::kIwIb:
      out.imm = u16_at(at);
      out.imm2 = code[at + 2];
      break;
    case Imm::kIbIb:
      out.imm = code[at];
      out.imm2 = code[at + 1];
      break;
    default:
      out.imm = size == 1   ? s8_at(at)
                : size == 2 ? static_cast<std::int16_t>(u16_at(at))
                : size == 4 ? s32_at(at)
                            : static_cast<std::int64_t>(u64_at(at));
      break;
  }
  return DecodeStatus::kOk;
}

/// Operand size: REX.W over 66 over the default.
void Decoder::sizes() {
  unsigned size;
  const bool small = has(kPrefix66) && (row->match & kPpMask) != kPp66 && !attr(kANo66);
  if (attr(kAByte)) {
    size = 1;
  } else if (attr(kAF64) || w != 0) {
    size = 8;
  } else if (small) {
    size = 2;
  } else {
    size = attr(kAD64) ? 8 : 4;
  }
  out.operand_size = static_cast<std::uint8_t>(size);
}

unsigned Decoder::mem_size(MemSize size) const {
  const unsigned y = w != 0 ? 8 : 4;
  const bool small = out.operand_size == 2;
  switch (size) {
    case kMNone:
      return 0;
    case kM1:
      return 1;
    case kM2:
      return 2;
    case kM4:
      return 4;
    case kM6:
      return 6;
    case kM8:
      return 8;
    case kM10:
      return 10;
    case kM16:
      return 16;
    case kM32:
      return 32;
    case kM48:
      return 48;
    case kM64:
      return 64;
    case kM512:
      return 512;
    case kMV:
      return out.operand_size;
    case kMY:
      return y;
    case kM2Y:
      return 2 * y;
    case kMFar:
      return out.operand_size + 2u;
    case kMEnv:
      return small ? 14 : 28;
    case kMFpu:
      return small ? 94 : 108;
    case kMVl:
      return out.vector_length;
    case kMVl2:
      return out.vector_length / 2u;
    case kMVl4:
      return out.vector_length / 4u;
    case kMVl8:
      return out.vector_length / 8u;
    case kMDup:
      return out.vector_length == 16 ? 8 : out.vector_length;
    case kMState:
      return 0;
  }
  return 0;
}

/// VSIB: the index is a vector register, of which number 4 is one too.
bool Decoder::vector_index() {
  if (!is_mem || !out.has_sib) return false;
  MemOperand& mem = out.mem[0];
  mem.vsib = true;
  mem.index = static_cast<std::uint8_t>(((out.sib >> 3) & 7u) | x | v2);
  return true;
}

/// What the encoding allows beyond the row's match.
bool Decoder::operands_valid() const {
  if (has(kPrefixLock) && !(attr(kALock) && is_mem)) return false;
  if (out.encoding == Encoding::kLegacy) {
    switch (row->reg.cls()) {
      case kSeg:
        return (reg_num & 7) < 6;
      case kSegW:
        return (reg_num & 7) < 6 && (reg_num & 7) != 1;
      case kCr:
        return reg_num == 0 || (reg_num >= 2 && reg_num <= 4) || reg_num == 8;
      case kDr:
        return reg_num < 8;
      default:
        return true;
    }
  }
  // VEX.vvvv must be 1111b (0 once inverted) unless it names an operand; so must EVEX.V' unless it extends an
  // index.
  if (!attr(kAVvvv) && (vvvv != 0 || (v2 != 0 && !attr(kAVsib)))) return false;
  // Opmask and tile registers are numbered 0..7.
  // As the rm operand of opmask instructions, though, VEX.B is ignored.
  const RegClass reg_class = row->reg.cls(), rm_class = row->rm.cls();
  if ((reg_class == kMask || reg_class == kTile) && (reg_num > 7 || r2 != 0)) return false;
  if (rm_class == kTile && !is_mem && out.encoding == Encoding::kVex && rm_num > 7) return false;
  if (attr(kAVvvvMask | kATileVvvv) && vvvv > 7) return false;
  if (attr(kASib) && !out.has_sib) return false;
  if (attr(kADistinct)) {
    // Gathers: destination, mask and index; tile products: the three tiles.
    if (out.encoding == Encoding::kVex) {
      const unsigned third = is_mem ? out.mem[0].index : rm_num;
      if (reg_num == vvvv || reg_num == third || vvvv == third) return false;
    }
  }
  if (out.encoding == Encoding::kEvex) return evex_valid();
  return true;
}

bool Decoder::evex_valid() const {
  if (evex_b && !attr(is_mem ? kABcastMask : kAEr | kASae)) return false;
  if (aaa != 0 && !attr(kAMaskM)) return false;
  if (aaa == 0 && (evex_z || attr(kAMaskReq))) return false;
  if (evex_z && (!attr(kAMaskZ) || (is_mem && (row->access & kWr) != 0))) return false;
  // EVEX.R' does not extend general registers.
  const RegClass cls = row->reg.cls();
  if (r2 != 0 && cls >= kB && cls <= kY) return false;
  if (attr(kADistinct)) {
    const unsigned destination = reg_num | r2;
    if (attr(kAVsib)) return destination != out.mem[0].index;
    if (destination == (vvvv | v2) || (!is_mem && destination == (rm_num | x << 1))) return false;
  }
  return true;
}

/// EVEX compresses an 8-bit displacement: it counts in units of what the instruction accesses.
void Decoder::scale_disp8() {
  if (out.disp_size != 1) return;
  const unsigned y = w != 0 ? 8 : 4;
  unsigned unit = out.mem[0].size;
  if (attr(kAElem) || attr(kAVsib)) unit = y;
  if (attr(kAElemBw)) unit = w != 0 ? 2 : 1;
  out.disp *= unit == 0 ? 1 : unit;
}

void Decoder::add_register(RegSpec spec, unsigned num) {
  unsigned width = 0;
  switch (spec.cls()) {
    case kB:
      width = 1;
      break;
    case kW:
      width = 2;
      break;
    case kD:
      width = 4;
      break;
    case kQ:
      width = 8;
      break;
    case kV:
      width = out.operand_size;
      break;
    case kY:
      width = w != 0 ? 8 : 4;
      break;
    default:
      return;
  }
  if (spec.cls() == kB && out.rex == 0 && out.encoding == Encoding::kLegacy && num >= 4) num -= 4;
  const std::uint16_t mask = bit(num);
  if (spec.reads() || (spec.writes() && width < 4)) out.gpr_read |= mask;
  if (spec.writes()) out.gpr_written |= mask;
}

MemOperand& Decoder::add_mem(MemKind kind, std::uint8_t base, std::int64_t disp, unsigned size, Access access,
                             bool segmented) {
  MemOperand& mem = out.mem[out.mem_count++];
  mem = {};
  mem.kind = kind;
  mem.base = base;
  mem.index = kNoReg;
  mem.scale = 1;
  mem.disp = disp;
  mem.size = static_cast<std::uint16_t>(size);
  mem.read = (access & kR) != 0;
  mem.write = (access & kWr) != 0;
  mem.is_agen = access == kAgen;
  mem.segment = segmented ? segment : Segment::kNone;
  mem.address32 = has(kPrefix67) && kind != MemKind::kStack && kind != MemKind::kFrame;
  return mem;
}

void Decoder::add_implicit() {
  const ImplicitEffect& effect = kImplicitEffects[static_cast<unsigned>(row->im)];
  out.gpr_read |= effect.read;
  out.gpr_written |= effect.written;
  const unsigned size = out.operand_size;
  const auto slots = [size](unsigned n) { return -static_cast<std::int64_t>(size * n); };
  switch (row->im) {
    case Im::kAccW:
    case Im::kIn:
    case Im::kInDx:
    case Im::kMoffsLoad:
    case Im::kLods:
      if (size < 4) out.gpr_read |= kAx;
      break;
    case Im::kMul:
    case Im::kCwd:
      if (size < 4) out.gpr_read |= kDx;
      break;
    default:
      break;
  }
  switch (effect.mem) {
    case ImMem::kNone:
      return;
    case ImMem::kPush:
    case ImMem::kCall:
      add_mem(MemKind::kStack, kRsp, slots(1), size, kWr, false);
      return;
    case ImMem::kPop:
      add_mem(MemKind::kStack, kRsp, 0, size, kR, false);
      return;
    case ImMem::kEnter: {
      const unsigned level = out.imm2 & 31u;
      add_mem(MemKind::kStack, kRsp, slots(1 + level), size * (1 + level), kWr, false);
      if (level > 1) add_mem(MemKind::kFrame, kRbp, slots(level - 1), size * (level - 1), kR, false);
      return;
    }
    case ImMem::kLeave:
      add_mem(MemKind::kStack, kRbp, 0, size, kR, false);
      return;
    case ImMem::kFarCall:
      add_mem(MemKind::kStack, kRsp, slots(2), size * 2, kWr, false);
      return;
    case ImMem::kFarRet:
      add_mem(MemKind::kStack, kRsp, 0, size * 2, kR, false);
      return;
    case ImMem::kIret:
      add_mem(MemKind::kStack, kRsp, 0, size * 5, kR, false);
      return;
    case ImMem::kUiret:
      add_mem(MemKind::kStack, kRsp, 0, 24, kR, false);
      return;
    case ImMem::kXlat:
      add_mem(MemKind::kXlat, kRbx, 0, 1, kR, true).index = kRax;
      return;
    case ImMem::kMaskMov:
      add_mem(MemKind::kMaskMov, kRdi, 0, out.encoding != Encoding::kLegacy || pp == 1 ? 16 : 8, kWr, true);
      return;
    case ImMem::kMoffsLoad:
      add_mem(MemKind::kMoffs, kNoReg, out.disp, size, kR, true);
      return;
    case ImMem::kMoffsStore:
      add_mem(MemKind::kMoffs, kNoReg, out.disp, size, kWr, true);
      return;
    case ImMem::kMonitor:
      add_mem(MemKind::kRegister, kRax, 0, 0, kAgen, true);
      return;
    case ImMem::kClzero:
      add_mem(MemKind::kRegister, kRax, 0, 64, kWr, true);
      return;
    case ImMem::kMovdir64b:
    case ImMem::kEnqcmd:
      add_mem(MemKind::kRegister, static_cast<std::uint8_t>(reg_num), 0, 64, kWr, false);
      return;
    default:
      break;
  }
  // String instructions. A 32-bit port access is the widest there is.
  const bool port = effect.mem == ImMem::kIns || effect.mem == ImMem::kOuts;
  const unsigned element = port && size == 8 ? 4 : size;
  const bool src = effect.mem == ImMem::kMovs || effect.mem == ImMem::kCmps || effect.mem == ImMem::kLods ||
                   effect.mem == ImMem::kOuts;
  const bool dst_read = effect.mem == ImMem::kCmps || effect.mem == ImMem::kScas;
  const bool dst = effect.mem != ImMem::kLods && effect.mem != ImMem::kOuts;
  if (src) add_mem(MemKind::kStringSrc, kRsi, 0, element, kR, true);
  if (dst) add_mem(MemKind::kStringDst, kRdi, 0, element, dst_read ? kR : kWr, false);
  out.is_string = true;
  if (rep_byte == 0) return;
  out.rep = rep_byte == 0xf2 && dst_read ? Rep::kRepne : Rep::kRep;
  out.gpr_written |= bit(kRcx);
  out.gpr_read |= out.gpr_written;
}

void Decoder::add_flags() {
  const FlagEffect& effect = kFlagEffects[static_cast<unsigned>(row->fx)];
  out.flags_read |= effect.read;
  out.flags_written = effect.written;
  out.flags_undefined = effect.undefined;
  out.flags_must_written = effect.written & static_cast<std::uint16_t>(~effect.maybe);
  if (row->fx == Fx::kCc) {
    out.cc = out.opcode & 15;
    out.flags_read |= kConditionFlags[out.cc >> 1];
  }
  if (attr(kAShift1)) {
    out.flags_must_written = effect.written;
    out.flags_undefined &= static_cast<std::uint16_t>(~kFlagOf);
  } else if (attr(kAShift) && (out.imm & (out.operand_size == 8 ? 63 : 31)) != 0) {
    out.flags_must_written = effect.written;
  }
  if (out.is_string && out.rep != Rep::kNone) out.flags_must_written = 0;
}

void Decoder::effects() {
  if (is_mem && (row->mem != kMNone || row->access == kAgen)) {
    MemOperand& mem = out.mem[0];
    out.mem_count = 1;
    mem.size = static_cast<std::uint16_t>(mem_size(row->mem));
    if (out.encoding == Encoding::kEvex) {
      if (evex_b) mem.size = attr(kABcast8) ? 8 : attr(kABcast4) ? 4 : 2;
      scale_disp8();
    }
    mem.disp = out.disp;
    mem.read = (row->access & kR) != 0;
    mem.write = (row->access & kWr) != 0;
    mem.is_agen = row->access == kAgen;
    if (row->access == kAgen && attr(kALea)) mem.segment = Segment::kNone;
    if (mem.base < 16) out.gpr_read |= bit(mem.base);
    if (mem.index < 16 && !mem.vsib) out.gpr_read |= bit(mem.index);
  }
  if (attr(kAModrm)) {
    add_register(row->reg, reg_num);
    if (!is_mem) add_register(row->rm, rm_num);
  } else if (attr(kAOpReg)) {
    add_register(row->rm, (out.opcode & 7u) | b);
  }
  if (attr(kAVvvv)) add_register(row->vvvv, vvvv);
  if (attr(kACondW)) out.gpr_read |= bit(reg_num);
  if (row->im != Im::kNone) add_implicit();
  if (row->im == Im::kPop && is_mem && out.has_modrm) {
    // pop m: the address is computed after rsp has moved, and what is stored comes from the stack.
    if (out.mem[0].base == kRsp) out.mem[0].disp += out.operand_size;
  }
  if (row->fx != Fx::kNone) add_flags();
  out.branch = row->branch_class;
  out.special = row->special_kind;
  out.lock = has(kPrefixLock);
}

DecodeStatus Decoder::run() {
  DecodeStatus status = opcode();
  if (status != DecodeStatus::kOk) return status;
  if (attr(kAModrm)) {
    status = modrm();
    if (status != DecodeStatus::kOk) return status;
  } else {
    out.modrm = 0;
  }
  if (!select_row()) return DecodeStatus::kInvalid;
  sizes();
  status = immediate();
  if (status != DecodeStatus::kOk) return status;
  if (attr(kAVsib) && !vector_index()) return DecodeStatus::kInvalid;
  if (!operands_valid()) return DecodeStatus::kInvalid;
  out.length = static_cast<std::uint8_t>(pos);
  effects();
  return DecodeStatus::kOk;
}

}  // namespace

DecodeStatus decode(const std::uint8_t* code, std::size_t avail, Insn& out) noexcept {
  out = {};
  out.cc = kNoReg;
  Decoder decoder{.code = code,
                  .limit = static_cast<unsigned>(avail < kMaxInsnLength ? avail : kMaxInsnLength),
                  .out = out};
  const DecodeStatus status = decoder.run();
  if (status == DecodeStatus::kTruncated && avail >= kMaxInsnLength) return DecodeStatus::kTooLong;
  return status;
}

}  // namespace detrec::guest
