// The decoder: prefixes, opcode, ModRM, immediate; then the effects that the opcode's row names.
//
// Most of the time goes into mispredicted branches, so the common path looks sizes up in tables and reads
// ahead without asking whether the bytes are there; whether they were is asked once, at the end.
#include <initializer_list>

#include "trace/guest/decode/fields.h"
#include "trace/guest/decode/insn.h"
#include "trace/guest/decode/tables/effects.h"
#include "trace/guest/decode/tables/sizes.h"
#include "trace/guest/decode/tables/tables.h"

#define DETREC_INLINE [[gnu::always_inline]] inline

namespace detrec::guest {
namespace {

using namespace tables;

enum ByteClass : std::uint8_t {
  kOpcodeByte,
  kRexByte,
  kPrefixByte,
  kEscape0F,
  kVex2,
  kVex3,
  kEvexByte,
  kXopByte
};

struct ByteClasses {
  ByteClass of[256];
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

// Unaligned little-endian loads.
DETREC_INLINE std::int32_t load32(const std::uint8_t* p) {
  std::int32_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
DETREC_INLINE std::uint64_t load64(const std::uint8_t* p) {
  std::uint64_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

DETREC_INLINE void note_prefix(Fields& f, std::uint8_t byte) {
  switch (byte) {
    case 0x26:
      f.prefixes |= kPrefixEs;
      break;
    case 0x2e:
      f.prefixes |= kPrefixCs;
      break;
    case 0x36:
      f.prefixes |= kPrefixSs;
      break;
    case 0x3e:
      f.prefixes |= kPrefixDs;
      break;
    case 0x64:
      f.prefixes |= kPrefixFs;
      f.segment = Segment::kFs;
      break;
    case 0x65:
      f.prefixes |= kPrefixGs;
      f.segment = Segment::kGs;
      break;
    case 0x66:
      f.prefixes |= kPrefix66;
      break;
    case 0x67:
      f.prefixes |= kPrefix67;
      break;
    case 0xf0:
      f.prefixes |= kPrefixLock;
      break;
    case 0xf2:
      f.prefixes |= kPrefixF2;
      f.rep_byte = byte;
      break;
    default:
      f.prefixes |= kPrefixF3;
      f.rep_byte = byte;
      break;
  }
}

constexpr std::uint16_t kPrefixesBeforeVex = kPrefix66 | kPrefixLock | kPrefixF2 | kPrefixF3;

/// Prefixes and opcode. False if the instruction is invalid.
DETREC_INLINE bool read_opcode(Fields& f, unsigned limit) {
  // A REX prefix at the very beginning is the most common prefix; it is taken without a branch.
  const std::uint8_t lead = f.code[0];
  const bool has_rex = (lead & 0xf0) == 0x40;
  f.rex = has_rex ? lead : 0;
  f.pos = has_rex;
  for (;;) {
    const std::uint8_t byte = f.code[f.pos++];
    const ByteClass cls = kByteClasses.of[byte];
    f.opcode = byte;
    if (cls == kOpcodeByte) [[likely]]
      break;
    if (cls == kEscape0F) {
      f.opcode = f.code[f.pos++];
      f.table = Table::k0F;
      f.map = OpcodeMap::k0F;
      if (f.opcode == 0x38 || f.opcode == 0x3a) {
        f.table = f.opcode == 0x38 ? Table::k0F38 : Table::k0F3A;
        f.map = f.opcode == 0x38 ? OpcodeMap::k0F38 : OpcodeMap::k0F3A;
        f.opcode = f.code[f.pos++];
      }
      break;
    }
    if (cls <= kPrefixByte) {
      // REX counts only if it is the last prefix.
      f.rex = cls == kRexByte ? byte : 0;
      if (cls == kPrefixByte) note_prefix(f, byte);
      if (f.pos >= limit) {  // no opcode can follow: say that bytes are missing
        f.pos = limit + 1;
        return false;
      }
      continue;
    }
    if (cls == kXopByte && (f.code[f.pos] & 31) < 8) break;  // pop Ev
    if (f.has(kPrefixesBeforeVex) || f.rex != 0) return false;
    return cls == kVex2       ? read_vex2(f)
           : cls == kVex3     ? read_vex3(f)
           : cls == kEvexByte ? read_evex(f)
                              : read_xop(f);
  }
  f.w = (f.rex >> 3) & 1u;
  f.r = static_cast<unsigned>(f.rex << 1) & 8u;
  f.x = static_cast<unsigned>(f.rex << 2) & 8u;
  f.b = static_cast<unsigned>(f.rex << 3) & 8u;
  if (f.prefixes != 0) f.pp = f.rep_byte == 0xf3 ? 2 : f.rep_byte == 0xf2 ? 3 : f.has(kPrefix66) ? 1 : 0;
  return true;
}

/// ModRM, SIB and displacement; the memory operand's size and access are filled in later.
DETREC_INLINE void read_modrm(Fields& f, Insn& out) {
  const std::uint8_t m = f.code[f.pos];
  f.modrm = m;
  out.has_modrm = true;
  out.modrm_offset = static_cast<std::uint8_t>(f.pos++);
  const unsigned mod = m >> 6;
  f.is_mem = mod != 3 && !f.attr(kAForceReg);
  if (!f.is_mem) return;

  MemOperand& mem = out.mem[0];
  unsigned base = m & 7u;
  mem.index = kNoReg;
  mem.scale = 1;
  const bool has_sib = base == 4;
  if (has_sib) {
    const std::uint8_t sib = f.code[f.pos++];
    out.has_sib = true;
    out.sib = sib;
    const unsigned index = ((sib >> 3) & 7u) | f.x;
    mem.scale = static_cast<std::uint8_t>(1u << (sib >> 6));
    mem.index = index == 4 ? kNoReg : static_cast<std::uint8_t>(index);
    base = sib & 7u;
  }
  // Base 5 without displacement stands for no base (with SIB) or rip (without), and a 32-bit displacement.
  const bool no_base = mod == 0 && base == 5;
  mem.base = static_cast<std::uint8_t>(base | f.b);
  if (no_base) mem.base = has_sib ? kNoReg : kRip;
  out.rip_relative = no_base && !has_sib;
  const unsigned size = no_base ? 4 : kDispSizes[mod];
  const std::int32_t value = load32(f.code + f.pos);
  out.disp = size == 1 ? static_cast<std::int8_t>(value) : size == 4 ? value : 0;
  out.disp_offset = static_cast<std::uint8_t>(f.pos);
  out.disp_size = static_cast<std::uint8_t>(size);
  f.pos += size;
}

/// Moves `row` from the opcode's first row to the one that matches the rest of the encoding.
DETREC_INLINE bool select_row(Fields& f, Insn& out) {
  // With EVEX.b and registers L'L is the rounding mode; the length is then 512 bits.
  const unsigned length = f.evex_b && !f.is_mem ? 2 : f.l;
  const std::uint32_t key = 1u << (kPpShift + f.pp) | 1u << (kWShift + f.w) | 1u << (kLShift + length) |
                            (f.is_mem ? kModMem : kModReg) | 1u << (kRegShift + ((f.modrm >> 3) & 7)) |
                            1u << (kRmShift + (f.modrm & 7)) | 1u << (kBShift + (f.b >> 3));
  while ((key & ~f.row->match) != 0) {
    if (f.attr(kALast)) return false;
    ++f.row;
  }
  f.l = length;
  const unsigned bytes = f.encoding == Encoding::kLegacy ? 0 : 16u << length;
  out.vector_length = static_cast<std::uint8_t>(bytes);
  return true;
}

/// Operand size: REX.W over 66 (unless that is a mandatory prefix) over the default.
DETREC_INLINE void find_operand_size(Fields& f) {
  unsigned size = f.attr(kAD64) ? 8 : 4;
  if (f.prefixes != 0 && f.has(kPrefix66) && (f.row->match & kPpMask) != kPp66 && !f.attr(kANo66)) size = 2;
  size = f.attr(kAF64) || f.w != 0 ? 8 : size;
  f.operand_size = f.attr(kAByte) ? 1 : size;
}

DETREC_INLINE void read_immediate(Fields& f, Insn& out, SizeContext context) {
  const ImmShape shape = kImmShapes[static_cast<unsigned>(f.row->imm_kind)];
  const unsigned size = shape.size[context.operand];
  const std::uint8_t* p = f.code + f.pos;
  const std::uint64_t raw = load64(p);
  const unsigned unused = 64 - 8 * (size == 0 ? 8 : size);
  const auto sign_extended = static_cast<std::int64_t>(raw << unused) >> unused;
  const auto zero_extended = static_cast<std::int64_t>(raw << unused >> unused);
  out.imm = size == 0 ? 0 : shape.is_unsigned ? zero_extended : sign_extended;
  out.imm_offset = static_cast<std::uint8_t>(f.pos);
  out.imm_size = static_cast<std::uint8_t>(size);
  f.pos += size;
  if (!shape.special) [[likely]]
    return;
  if (f.row->imm_kind == Imm::kMoffs) {
    const unsigned bytes = f.has(kPrefix67) ? 4 : 8;
    out.disp = static_cast<std::int64_t>(bytes == 4 ? raw & 0xffffffff : raw);
    out.disp_offset = static_cast<std::uint8_t>(f.pos);
    out.disp_size = static_cast<std::uint8_t>(bytes);
    f.pos += bytes;
  } else {  // enter, extrq: two immediates
    const unsigned first = size - 1;
    out.imm = first == 2 ? p[0] | p[1] << 8 : p[0];
    out.imm2 = p[first];
  }
}

/// Rules of legacy encodings beyond the row's match: LOCK wants a memory destination that allows it, and some
/// segment, control and debug registers do not exist or cannot be written.
bool legacy_operands_valid(const Fields& f) {
  if (f.has(kPrefixLock) && !(f.attr(kALock) && f.is_mem)) return false;
  if (f.has(kPrefix66) && f.attr(kARefuse66)) return false;
  const unsigned reg = f.reg();
  switch (f.row->reg.cls()) {
    case kSeg:
      return (reg & 7) < 6;
    case kSegW:
      return (reg & 7) < 6 && (reg & 7) != 1;
    case kCr:
      return reg == 0 || (reg >= 2 && reg <= 4) || reg == 8;
    case kDr:
      return reg < 8;
    default:
      return true;
  }
}

DETREC_INLINE bool operands_valid(Fields& f, Insn& out) {
  if (f.encoding == Encoding::kLegacy) [[likely]]
    return (!f.has(kPrefixLock) && !f.attr(kACheck)) || legacy_operands_valid(f);
  if (f.has(kPrefixLock)) return false;
  if (f.attr(kAVsib) && out.has_sib) {
    // The index is a vector register, of which number 4 is one too.
    out.mem[0].index = static_cast<std::uint8_t>(((out.sib >> 3) & 7u) | f.x | f.v2);
  }
  return vector_operands_valid(f, out);
}

DETREC_INLINE void add_register(const Fields& f, Insn& out, SizeContext context, RegSpec spec,
                                unsigned number) {
  const unsigned width = register_width(spec.cls(), context);
  const bool high_byte =
      spec.cls() == kB && f.rex == 0 && number >= 4;  // ah, ch, dh, bh; bytes have no VEX forms
  const unsigned mask = (width != 0 ? 1u : 0u) << (high_byte ? number - 4 : number);
  const bool reads = spec.reads() || (spec.writes() && width < 4);
  out.gpr_read |= static_cast<std::uint16_t>(reads ? mask : 0);
  out.gpr_written |= static_cast<std::uint16_t>(spec.writes() ? mask : 0);
}

DETREC_INLINE void finish_memory(const Fields& f, Insn& out, SizeContext context) {
  MemOperand& mem = out.mem[0];
  out.mem_count = 1;
  mem.kind = MemKind::kExplicit;
  mem.segment = f.attr(kALea) ? Segment::kNone : f.segment;
  mem.address32 = f.has(kPrefix67);
  mem.vsib = f.attr(kAVsib);
  mem.size = memory_size(f.row->mem, context);
  mem.read = (f.row->access & kR) != 0;
  mem.write = (f.row->access & kWr) != 0;
  mem.is_agen = f.row->access == kAgen;
  if (f.encoding == Encoding::kEvex) finish_evex_memory(f, out);
  mem.disp = out.disp;
  unsigned read = mem.base < 16 ? 1u << mem.base : 0;
  if (mem.index < 16 && !mem.vsib) read |= 1u << mem.index;
  out.gpr_read |= static_cast<std::uint16_t>(read);
}

/// A count other than 0 changes the flags for sure, a count of 1 defines OF. Rotates by more may leave OF
/// alone, and through carry by a multiple of the width CF as well.
void add_shift_flags(const Fields& f, Insn& out) {
  const unsigned count =
      f.attr(kAShift1) ? 1 : static_cast<unsigned>(out.imm) & (f.operand_size == 8 ? 63 : 31);
  if (count == 0) return;
  out.flags_must_written = out.flags_written;
  if (count == 1) {
    out.flags_undefined &= static_cast<std::uint16_t>(~kFlagOf);
  } else if (f.row->fx == Fx::kRotate) {
    out.flags_must_written = kFlagCf;
  } else if (f.row->fx == Fx::kRotateCarry) {
    out.flags_must_written = 0;
  }
}

DETREC_INLINE void add_flags(const Fields& f, Insn& out) {
  const FlagEffect& effect = kFlagEffects[static_cast<unsigned>(f.row->fx)];
  const bool condition = f.row->fx == Fx::kCc;
  out.cc = condition ? f.opcode & 15 : kNoReg;
  out.flags_read = effect.read | (condition ? kConditionFlags[(f.opcode >> 1) & 7] : 0);
  out.flags_written = effect.written;
  out.flags_undefined = effect.undefined;
  out.flags_must_written = effect.written & static_cast<std::uint16_t>(~effect.maybe);
  if (f.attr(kAShift | kAShift1)) [[unlikely]]
    add_shift_flags(f, out);
}

DETREC_INLINE void add_effects(const Fields& f, Insn& out, SizeContext context) {
  const ImplicitEffect& implicit = kImplicitEffects[static_cast<unsigned>(f.row->im)];
  const unsigned partial = f.operand_size < 4 ? implicit.partial : 0;
  out.gpr_read = static_cast<std::uint16_t>(implicit.read | partial);
  out.gpr_written = implicit.written;
  if (f.is_mem) {
    finish_memory(f, out, context);
  } else {
    add_register(f, out, context, f.row->rm, f.attr(kAOpReg) ? (f.opcode & 7u) | f.b : f.rm());
  }
  add_register(f, out, context, f.row->reg, f.reg());
  if (f.encoding != Encoding::kLegacy) add_register(f, out, context, f.row->vvvv, f.vvvv);
  out.gpr_read |= static_cast<std::uint16_t>(f.attr(kACondW) ? 1u << f.reg() : 0);
  add_flags(f, out);
  if (implicit.mem != ImMem::kNone) add_implicit_memory(f, out);
}

DETREC_INLINE void clear(Insn& out) {
  // Field by field: the compiler merges these into a few stores, and mem[] needs none.
  out.has_modrm = false;
  out.modrm_offset = 0;
  out.has_sib = false;
  out.sib = 0;
  out.disp_offset = 0;
  out.disp_size = 0;
  out.imm2 = 0;
  out.rep = Rep::kNone;
  out.rip_relative = false;
  out.is_string = false;
  out.mem_count = 0;
  out.disp = 0;
}

DETREC_INLINE bool decode_fields(Fields& f, unsigned limit, Insn& out) {
  if (!read_opcode(f, limit)) return false;
  const std::uint16_t first = kOpcodeTables.first[static_cast<unsigned>(f.table)][f.opcode];
  if (first == kNoRow) return false;
  out.opcode_offset = static_cast<std::uint8_t>(f.pos - 1);
  f.row = &kOpcodeTables.rows[first];
  if (f.attr(kAModrm)) read_modrm(f, out);
  if (!select_row(f, out)) return false;
  find_operand_size(f);
  const SizeContext context = size_context(f.operand_size, f.w, f.l);
  read_immediate(f, out, context);
  if (!operands_valid(f, out)) return false;

  out.length = static_cast<std::uint8_t>(f.pos);
  out.encoding = f.encoding;
  out.map = f.map;
  out.opcode = f.opcode;
  out.prefixes = f.prefixes;
  out.rex = f.rex;
  out.modrm = f.modrm;
  out.operand_size = static_cast<std::uint8_t>(f.operand_size);
  out.branch = f.row->branch_class;
  out.special = f.row->special_kind;
  out.lock = f.has(kPrefixLock);
  out.is_bit_string = f.is_mem && f.attr(kABitString);
  add_effects(f, out, context);
  return true;
}

/// Copies what is available, so that reading ahead meets zeros instead of the next page.
[[gnu::noinline]] void copy_available(const std::uint8_t* code, unsigned available, std::uint8_t* padded) {
  for (unsigned i = 0; i < kReadAhead; ++i) {
    padded[i] = i < available ? code[i] : 0;
    asm volatile("" : : : "memory");  // or the loop becomes a call of memcpy
  }
}

}  // namespace

DecodeStatus decode(const std::uint8_t* code, std::size_t avail, Insn& out) noexcept {
  std::uint8_t padded[kReadAhead];
  const unsigned limit = static_cast<unsigned>(avail < kMaxInsnLength ? avail : kMaxInsnLength);
  if (avail < kReadAhead) [[unlikely]] {
    copy_available(code, limit, padded);
    code = padded;
  }
  clear(out);
  Fields f{.code = code};
  const bool valid = decode_fields(f, limit, out);
  if (f.pos > limit) [[unlikely]]
    return limit == kMaxInsnLength ? DecodeStatus::kTooLong : DecodeStatus::kTruncated;
  return valid ? DecodeStatus::kOk : DecodeStatus::kInvalid;
}

}  // namespace detrec::guest
