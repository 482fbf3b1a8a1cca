#include "tests/fuzz/translator/insn_generator.h"

#include <cstring>
#include <optional>

#include "tests/fuzz/translator/areas.h"

namespace detrec::fuzz {
namespace {

using guest::Branch;
using guest::DecodeStatus;
using guest::Encoding;
using guest::Insn;
using guest::MemKind;
using guest::OpcodeMap;
using guest::Segment;
using guest::Special;

constexpr u8 kRsp = guest::kRsp;

/// The operand a ModRM byte describes, with the extension bits that its registers need.
struct Operand {
  u8 mod = 3;
  u8 rm = 0;
  bool has_sib = false;
  u8 sib = 0;
  u8 disp_size = 0;
  u32 disp = 0;
  bool x = false;
  bool b = false;
  u64 rip_target = 0;
};

void set_base(Operand& o, u8 base) {
  o.rm = base & 7;
  o.b = base >= 8;
  if (o.rm == 4) {
    o.has_sib = true;
    o.sib = 0x24;
  }
}

void set_index(Operand& o, u8 index, u8 scale_bits) {
  if (index == kRsp) return;
  o.has_sib = true;
  o.sib = static_cast<u8>(scale_bits << 6 | (index & 7) << 3 | (o.rm & 7));
  o.rm = 4;
  o.x = index >= 8;
}

void set_disp(Operand& o, Random& random, i32 disp) {
  const bool byte = disp >= -128 && disp < 128;
  const bool base_is_rbp = (o.has_sib ? o.sib & 7 : o.rm) == 5;
  if (disp == 0 && !base_is_rbp && random.chance(80)) {
    o.mod = 0;
  } else if (byte && random.chance(80)) {
    o.mod = 1;
    o.disp_size = 1;
  } else {
    o.mod = 2;
    o.disp_size = 4;
  }
  o.disp = static_cast<u32>(disp);
}

i32 draw_disp(Random& random) {
  const unsigned kind = random.below(10);
  if (kind < 3) return 0;
  if (kind < 6) return static_cast<i32>(64 * random.below(8)) - 128;
  if (kind < 9) return static_cast<i32>(random.below(160)) - 64;
  return static_cast<i32>(random.below(0x1000)) - 0x800;
}

Operand draw_operand(Random& random, const Roles& roles) {
  Operand o;
  o.rm = random.byte() & 7;
  o.b = random.chance(30);
  o.x = random.chance(20);
  const unsigned kind = random.below(100);
  if (kind < 42) return o;  // a register
  if (kind < 68) {
    set_base(o, random.pick(roles.pointers));
    if (random.chance(30)) {
      set_index(o, random.chance(80) ? roles.index : static_cast<u8>(random.below(16)),
                static_cast<u8>(random.below(4)));
    }
    set_disp(o, random, draw_disp(random));
  } else if (kind < 86) {
    o.mod = 0;
    o.rm = 5;
    o.disp_size = 4;
    o.disp = static_cast<u32>(random.next());
    if (!random.per_mille(15)) o.rip_target = data_address(random, roles.low_code, 16);
  } else if (kind < 91) {
    o.mod = 0;
    o.rm = 4;
    o.has_sib = true;
    o.x = false;
    o.sib = static_cast<u8>(0x25 | random.below(4) << 6);
    o.disp_size = 4;
    o.disp = static_cast<u32>(data_address(random, true, 16));
  } else if (kind < 97) {
    set_base(o, kRsp);
    if (random.chance(15)) set_index(o, roles.index, static_cast<u8>(random.below(4)));
    set_disp(o, random, static_cast<i32>(8 * random.below(24)) - 64);
  } else {
    o.mod = static_cast<u8>(random.below(3));
    o.has_sib = o.rm == 4;
    o.sib = random.byte();
    if (o.mod == 1) o.disp_size = 1;
    if (o.mod == 2 || (o.mod == 0 && (o.rm == 5 || (o.has_sib && (o.sib & 7) == 5)))) o.disp_size = 4;
    o.disp = static_cast<u32>(random.next());
  }
  return o;
}

class Writer {
 public:
  void put(unsigned byte) { insn_.bytes.push_back(static_cast<u8>(byte)); }
  void put_operand(const Operand& o, unsigned reg) {
    put(static_cast<unsigned>(o.mod << 6) | (reg & 7) << 3 | o.rm);
    if (o.has_sib) put(o.sib);
    if (o.rip_target != 0) {
      insn_.rip_target = o.rip_target;
      insn_.disp_offset = static_cast<u8>(insn_.bytes.size());
    }
    for (unsigned i = 0; i < o.disp_size; ++i) put(o.disp >> 8 * i & 0xff);
  }
  void put_immediate(Random& random) {
    // Small and extreme values are more interesting than others.
    u64 value = random.next();
    if (random.chance(40)) value = static_cast<u64>(static_cast<i64>(random.below(80)) - 16);
    if (random.chance(10)) value = 0x80000000'80000080;
    for (unsigned i = 0; i < 8; ++i) put(value >> 8 * i & 0xff);
  }
  DrawnInsn& insn() { return insn_; }

 private:
  DrawnInsn insn_;
};

constexpr u8 kPrefixes[] = {0x66, 0x66, 0x66, 0xf2, 0xf3, 0xf2, 0xf3, 0x67, 0x2e, 0x3e, 0x26, 0x36};

unsigned draw_integer_opcode(Random& random) {
  if (random.chance(60)) {
    // Arithmetic in its usual forms.
    const unsigned alu = random.below(8) << 3;
    return random.pick({alu,
                        alu | 1,
                        alu | 2,
                        alu | 3,
                        alu | 4,
                        alu | 5,
                        0x80,
                        0x81,
                        0x83,
                        0x83,
                        0xc0,
                        0xc1,
                        0xd0,
                        0xd1,
                        0xd2,
                        0xd3,
                        0xf6,
                        0xf7,
                        0xfe,
                        0xff,
                        0x84,
                        0x85,
                        0x86,
                        0x87,
                        0x88,
                        0x89,
                        0x8a,
                        0x8b,
                        0x8d,
                        0xb0 | random.below(16),
                        0xc6,
                        0xc7,
                        0x69,
                        0x6b,
                        0x63,
                        0x98,
                        0x99,
                        0x50 | random.below(8),
                        0x58 | random.below(8),
                        0x9c,
                        0x9f,
                        0x9e,
                        0xf5,
                        0xf8,
                        0xf9,
                        0xa0 | random.below(16),
                        0xd7,
                        0x68,
                        0x6a,
                        0x8f});
  }
  return random.byte();
}

DrawnInsn compose_legacy(Random& random, const Roles& roles) {
  Writer w;
  const Operand o = draw_operand(random, roles);
  if (random.chance(35)) {
    for (unsigned n = random.pick({1, 1, 1, 1, 2, 2, 3, 5}); n != 0; --n) w.put(random.pick(kPrefixes));
  }
  if (random.per_mille(15)) w.put(0xf0);
  unsigned rex = random.chance(50) ? 0x40 | (random.byte() & 0xc) : 0;
  if (o.x || o.b) rex |= 0x40u | (o.x ? 2 : 0) | (o.b ? 1 : 0);
  const unsigned map = random.below(100);
  if (map >= 55 && map < 62) {  // x87
    if (rex != 0) w.put(rex);
    w.put(0xd8 + random.below(8));
  } else {
    if (rex != 0) w.put(rex);
    if (map >= 62) w.put(0x0f);
    if (map >= 90) w.put(map >= 95 ? 0x3a : 0x38);
    w.put(map < 55 ? draw_integer_opcode(random) : random.byte());
  }
  w.put_operand(o, random.byte());
  w.put_immediate(random);
  return w.insn();
}

DrawnInsn compose_vex(Random& random, const Roles& roles) {
  Writer w;
  const Operand o = draw_operand(random, roles);
  if (random.chance(3)) w.put(random.pick({0x2e, 0x3e, 0x26, 0x67}));
  const unsigned vvvv = random.chance(50) ? 15 : random.below(16);
  const bool r = random.chance(30);
  const unsigned map = random.pick({1, 1, 1, 2, 2, 2, 3, 3});
  const unsigned wide = random.chance(30) ? 0x80 : 0;
  const unsigned rest = vvvv << 3 | (random.byte() & 7);
  if (map == 1 && !o.x && !o.b && wide == 0 && random.chance(60)) {
    w.put(0xc5);
    w.put((r ? 0 : 0x80) | rest);
  } else {
    w.put(0xc4);
    w.put((r ? 0 : 0x80u) | (o.x ? 0 : 0x40u) | (o.b ? 0 : 0x20u) | map);
    w.put(wide | rest);
  }
  w.put(random.byte());
  w.put_operand(o, random.byte());
  w.put_immediate(random);
  return w.insn();
}

DrawnInsn compose_evex(Random& random, const Roles& roles) {
  Writer w;
  const Operand o = draw_operand(random, roles);
  if (random.chance(3)) w.put(random.pick({0x2e, 0x3e, 0x26, 0x67}));
  const bool unused = random.chance(50);
  const unsigned vvvv = unused ? 15 : random.below(16);
  const unsigned v_high = unused || random.chance(50) ? 8 : 0;
  const unsigned map = random.pick({1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 6});
  w.put(0x62);
  w.put((random.chance(30) ? 0 : 0x80u) | (o.x ? 0 : 0x40u) | (o.b ? 0 : 0x20u) |
        (random.chance(30) ? 0 : 0x10u) | map);
  w.put((random.chance(50) ? 0x80u : 0) | vvvv << 3 | 4u | random.below(4));
  const unsigned aaa = random.chance(50) ? 0 : 1 + random.below(7);
  w.put((aaa != 0 && random.chance(40) ? 0x80u : 0) | random.pick({0, 0x20, 0x40, 0x40}) |
        (random.chance(15) ? 0x10u : 0) | v_high | aaa);
  w.put(random.byte());
  w.put_operand(o, random.byte());
  w.put_immediate(random);
  return w.insn();
}

bool is_opcode(const Insn& insn, OpcodeMap map, u8 opcode) {
  return insn.encoding == Encoding::kLegacy && insn.map == map && insn.opcode == opcode;
}

bool is_x87(const Insn& insn) {
  return insn.encoding == Encoding::kLegacy && insn.map == OpcodeMap::k1Byte && (insn.opcode & 0xf8) == 0xd8;
}

bool uses_stack(const Insn& insn) {
  for (unsigned i = 0; i < insn.mem_count; ++i)
    if (insn.mem[i].kind == MemKind::kStack) return true;
  return false;
}

bool is_allowed(Special special) {
  switch (special) {
    case Special::kNone:
    case Special::kFnstenv:
    case Special::kFnsave:
    case Special::kFldenv:
    case Special::kFrstor:
    case Special::kFxsave:
    case Special::kFxrstor:
    case Special::kInt3:
    case Special::kUd:
    case Special::kHlt:
    case Special::kPrivileged:
      return true;
    default:
      return false;
  }
}

/// Ends memory operands within data: moffs addresses, which are part of the immediate.
void direct_moffs(Random& random, const Roles& roles, const Insn& insn, DrawnInsn& drawn) {
  if (insn.mem_count == 0 || insn.mem[0].kind != MemKind::kMoffs || random.chance(5)) return;
  const u64 address = data_address(random, insn.disp_size == 4 || roles.low_data, 8);
  std::memcpy(drawn.bytes.data() + insn.disp_offset, &address, insn.disp_size);
}

bool is_wanted(Random& random, const Roles& roles, u16 keep, const Insn& insn) {
  if (!is_harmless(insn)) return false;
  const bool moves_state = insn.special >= Special::kFnstenv && insn.special <= Special::kFxrstor;
  if (moves_state && !(roles.exotic && random.chance(50))) return false;
  // Across two cache lines such an access stops the whole machine, which some punish with a long pause.
  if ((insn.prefixes & guest::kPrefixLock) != 0 && !random.chance(10)) return false;
  // The 16-bit forms show half of the last instruction's address, from which the engine cannot tell its own.
  const bool stores_environment = insn.special == Special::kFnstenv || insn.special == Special::kFnsave;
  if (stores_environment && (insn.prefixes & guest::kPrefix66) != 0) return false;
  if (insn.special != Special::kNone && !moves_state && !random.chance(3)) return false;
  // Of a rip-relative x87 instruction the engine may have to change the ModRM byte, which is then seen in the
  // last opcode (normalized hides that).
  if (roles.exotic && insn.rip_relative && is_x87(insn)) return false;
  constexpr u16 kRspBit = 1u << kRsp;
  const u16 may_spoil = static_cast<u16>(roles.protected_mask() & ~(1u << roles.loop));
  if ((insn.gpr_written & keep & may_spoil) != 0 && !random.chance(3)) return false;
  if ((insn.gpr_written & keep & ~may_spoil & ~kRspBit) != 0) return false;
  if ((insn.gpr_written & kRspBit) != 0) {
    const bool frame = is_opcode(insn, OpcodeMap::k1Byte, 0xc8) || is_opcode(insn, OpcodeMap::k1Byte, 0xc9);
    if (!random.chance(frame ? 6 : uses_stack(insn) ? 100 : 4)) return false;
  }
  return true;
}

std::optional<DrawnInsn> try_draw(Random& random, const Roles& roles, u16 keep) {
  const unsigned kind = random.below(100);
  DrawnInsn drawn = kind < 66   ? compose_legacy(random, roles)
                    : kind < 81 ? compose_vex(random, roles)
                                : compose_evex(random, roles);
  Insn insn;
  if (guest::decode(drawn.bytes.data(), drawn.bytes.size(), insn) != DecodeStatus::kOk) return {};
  if (!is_wanted(random, roles, keep, insn)) return {};
  drawn.bytes.resize(insn.length);
  if (!insn.rip_relative || insn.disp_offset != drawn.disp_offset) drawn.rip_target = 0;
  // With a 67 prefix only the lower half counts: lead it to where it then is.
  if (drawn.rip_target != 0 && (insn.prefixes & guest::kPrefix67) != 0)
    drawn.rip_target = data_address(random, true, 16);
  direct_moffs(random, roles, insn, drawn);
  const guest::MemOperand* const mem = guest::explicit_mem(insn);
  const bool can_lock = mem != nullptr && mem->read && mem->write && !insn.lock && insn.length < 15;
  if (can_lock && insn.encoding == Encoding::kLegacy && random.chance(15)) {
    DrawnInsn locked = drawn;
    locked.bytes.insert(locked.bytes.begin(), 0xf0);
    ++locked.disp_offset;
    if (guest::decode(locked.bytes.data(), locked.bytes.size(), insn) == DecodeStatus::kOk) return locked;
  }
  return drawn;
}

}  // namespace

bool is_harmless(const Insn& insn) {
  if (insn.branch != Branch::kNone || !is_allowed(insn.special)) return false;
  if (is_opcode(insn, OpcodeMap::k1Byte, 0x9d)) return false;  // popf: only of flags that we made
  if (is_opcode(insn, OpcodeMap::k0F, 0x01)) return false;     // vmcall, swapgs, rdtscp, lgdt ...
  if (is_opcode(insn, OpcodeMap::k0F, 0x08) || is_opcode(insn, OpcodeMap::k0F, 0x09)) return false;  // invd
  for (unsigned i = 0; i < insn.mem_count; ++i)
    if (insn.mem[i].segment != Segment::kNone) return false;
  return true;
}

DrawnInsn draw_insn(Random& random, const Roles& roles, u16 keep) {
  for (;;) {
    if (auto drawn = try_draw(random, roles, keep)) return *drawn;
  }
}

DrawnInsn draw_flag_reader(Random& random, const Roles& roles, u16 keep) {
  for (;;) {
    Writer w;
    const Operand o = draw_operand(random, roles);
    if (random.chance(10)) w.put(0x66);
    unsigned rex = random.chance(50) ? 0x40 | (random.byte() & 0xc) : 0;
    if (o.x || o.b) rex |= 0x40u | (o.x ? 2 : 0) | (o.b ? 1 : 0);
    if (rex != 0) w.put(rex);
    unsigned reg = random.byte();
    switch (random.below(8)) {
      case 0:
      case 1: {  // adc, sbb
        w.put(0x10 | random.below(2) << 3 | random.below(4));
        break;
      }
      case 2:
        w.put(0x0f);
        w.put(0x90 | random.below(16));  // setcc
        break;
      case 3:
        w.put(0x0f);
        w.put(0x40 | random.below(16));  // cmovcc
        break;
      case 4:
        w.put(0xd0 | random.below(4));  // rcl, rcr
        reg = 2 + random.below(2);
        break;
      case 5:
        w.put(random.pick({0x9c, 0x9f, 0x9f, 0xf5}));  // pushf, lahf, cmc
        break;
      case 6:
        w.put(0x83);  // adc, sbb with an immediate
        reg = 2 + random.below(2);
        break;
      default:
        w.put(random.pick({0x0f, 0x0f, 0x38}));  // adcx, adox (with 66, f3), else anything
        break;
    }
    w.put_operand(o, reg);
    w.put_immediate(random);
    DrawnInsn drawn = w.insn();
    Insn insn;
    if (guest::decode(drawn.bytes.data(), drawn.bytes.size(), insn) != DecodeStatus::kOk) continue;
    if (!is_wanted(random, roles, keep, insn) || (insn.flags_read & guest::kFlagsStatus) == 0) continue;
    drawn.bytes.resize(insn.length);
    if (!insn.rip_relative) drawn.rip_target = 0;
    return drawn;
  }
}

}  // namespace detrec::fuzz
