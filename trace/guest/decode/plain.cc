#include "trace/guest/decode/plain.h"

#include <initializer_list>

#include "trace/guest/decode/insn.h"

namespace detrec::guest {
namespace {

/// Which mandatory prefixes an opcode may have, as a mask over this order.
enum Prefix : std::uint8_t { kBare = 1, kWith66 = 2, kWithF3 = 4, kWithF2 = 8 };

enum class ImmSize : std::uint8_t {
  kNone,
  kByte,
  k32,    ///< 16 bits after 66
  kFull,  ///< 64 bits with REX.W, 16 after 66
};

struct Opcode {
  std::uint8_t prefixes = 0;  ///< 0: not plain
  bool modrm = false;
  bool memory_only = false;  ///< the register form is invalid
  bool reg_zero = false;     ///< other values of ModRM.reg are other instructions
  ImmSize imm = ImmSize::kNone;
  PlainFlags flags = PlainFlags::kNone;
};

struct Map {
  Opcode of[256];
};

constexpr std::uint8_t kBareOr66 = kBare | kWith66, kAnyPrefix = 15;

constexpr Opcode with_modrm(std::uint8_t prefixes, PlainFlags flags = PlainFlags::kNone,
                            ImmSize imm = ImmSize::kNone) {
  return {prefixes, true, false, false, imm, flags};
}
constexpr Opcode without_modrm(std::uint8_t prefixes, ImmSize imm = ImmSize::kNone,
                               PlainFlags flags = PlainFlags::kNone) {
  return {prefixes, false, false, false, imm, flags};
}

constexpr Map one_byte_map() {
  Map m{};
  for (int op = 0; op < 0x40; op += 8) {  // add, or, adc, sbb, and, sub, xor, cmp
    for (int form = 0; form < 4; ++form) m.of[op + form] = with_modrm(kBareOr66, PlainFlags::kWritten);
    m.of[op + 4] = without_modrm(kBare, ImmSize::kByte, PlainFlags::kWritten);
    m.of[op + 5] = without_modrm(kBareOr66, ImmSize::k32, PlainFlags::kWritten);
  }
  for (int r = 0x50; r < 0x60; ++r) m.of[r] = without_modrm(kBare);  // push, pop
  m.of[0x63] = with_modrm(kBare);                                    // movsxd
  m.of[0x68] = without_modrm(kBare, ImmSize::k32);
  m.of[0x6a] = without_modrm(kBare, ImmSize::kByte);
  m.of[0x69] = with_modrm(kBareOr66, PlainFlags::kAsk, ImmSize::k32);  // imul
  m.of[0x6b] = with_modrm(kBareOr66, PlainFlags::kAsk, ImmSize::kByte);
  m.of[0x80] = with_modrm(kBare, PlainFlags::kWritten, ImmSize::kByte);
  m.of[0x81] = with_modrm(kBareOr66, PlainFlags::kWritten, ImmSize::k32);
  m.of[0x83] = with_modrm(kBareOr66, PlainFlags::kWritten, ImmSize::kByte);
  for (int op : {0x84, 0x85}) m.of[op] = with_modrm(kBareOr66, PlainFlags::kWritten);  // test
  for (int op = 0x86; op < 0x8c; ++op) m.of[op] = with_modrm(kBareOr66);               // xchg, mov
  m.of[0x8d] = {kBareOr66, true, true, false, ImmSize::kNone, PlainFlags::kNone};      // lea
  for (int op : {0x90, 0x98, 0x99, 0xc9}) m.of[op] = without_modrm(kBare);  // nop, cdqe, cqo, leave
  m.of[0xa8] = without_modrm(kBare, ImmSize::kByte, PlainFlags::kWritten);
  m.of[0xa9] = without_modrm(kBareOr66, ImmSize::k32, PlainFlags::kWritten);
  for (int r = 0xb0; r < 0xb8; ++r) m.of[r] = without_modrm(kBare, ImmSize::kByte);
  for (int r = 0xb8; r < 0xc0; ++r) m.of[r] = without_modrm(kBareOr66, ImmSize::kFull);
  for (int op : {0xc0, 0xc1}) m.of[op] = with_modrm(kBareOr66, PlainFlags::kAsk, ImmSize::kByte);  // shifts
  for (int op = 0xd0; op < 0xd4; ++op) m.of[op] = with_modrm(kBareOr66, PlainFlags::kAsk);
  m.of[0xc6] = {kBare, true, false, true, ImmSize::kByte, PlainFlags::kNone};  // mov
  m.of[0xc7] = {kBareOr66, true, false, true, ImmSize::k32, PlainFlags::kNone};
  return m;
}

constexpr Map two_byte_map() {
  Map m{};
  for (int op : {0x10, 0x11, 0x51, 0x58, 0x59, 0x5a, 0x5c, 0x5d, 0x5e, 0x5f})
    m.of[op] = with_modrm(kAnyPrefix);
  for (int op : {0x14, 0x15, 0x28, 0x29, 0x54, 0x55, 0x56, 0x57}) m.of[op] = with_modrm(kBareOr66);
  for (int op : {0x2a, 0x2c, 0x2d}) m.of[op] = with_modrm(kWithF3 | kWithF2);
  for (int op : {0x2e, 0x2f}) m.of[op] = with_modrm(kBareOr66, PlainFlags::kAsk);  // ucomis, comis
  m.of[0x1f] = with_modrm(kBareOr66);                                              // nop
  for (int cc = 0; cc < 16; ++cc) {
    m.of[0x40 + cc] = with_modrm(kBareOr66, PlainFlags::kAsk);  // cmov
    m.of[0x90 + cc] = with_modrm(kBare, PlainFlags::kAsk);      // set
  }
  for (int op = 0x60; op < 0x6e; ++op) m.of[op] = with_modrm(kWith66);
  m.of[0x6e] = with_modrm(kWith66);
  for (int op : {0x6f, 0x7f}) m.of[op] = with_modrm(kWith66 | kWithF3);
  m.of[0x7e] = with_modrm(kWith66 | kWithF3);
  m.of[0x70] = with_modrm(kWith66, PlainFlags::kNone, ImmSize::kByte);  // pshufd
  for (int op : {0x74, 0x75, 0x76, 0xd4, 0xd6, 0xda, 0xdb, 0xde, 0xdf, 0xeb, 0xef, 0xf8, 0xf9, 0xfa, 0xfb,
                 0xfc, 0xfd, 0xfe})
    m.of[op] = with_modrm(kWith66);
  m.of[0xa3] = with_modrm(kBareOr66, PlainFlags::kAsk);  // bt
  for (int op : {0xa4, 0xac})
    m.of[op] = with_modrm(kBareOr66, PlainFlags::kAsk, ImmSize::kByte);                  // shld, shrd
  for (int op : {0xa5, 0xad, 0xaf}) m.of[op] = with_modrm(kBareOr66, PlainFlags::kAsk);  // imul too
  for (int op : {0xb6, 0xb7, 0xbe, 0xbf}) m.of[op] = with_modrm(kBareOr66);              // movzx, movsx
  for (int r = 0xc8; r < 0xd0; ++r) m.of[r] = without_modrm(kBare);                      // bswap
  return m;
}

constexpr Map kOneByte = one_byte_map(), kTwoByte = two_byte_map();

/// Bytes of displacement by mod, for a base other than 5.
constexpr std::uint8_t kDispBytes[4] = {0, 1, 4, 0};

}  // namespace

bool decode_plain(const std::uint8_t* code, PlainInsn& out) noexcept {
  const std::uint8_t* p = code;
  std::uint8_t prefix = kBare;
  switch (*p) {
    case 0x66:
      prefix = kWith66, ++p;
      break;
    case 0xf3:
      prefix = kWithF3, ++p;
      break;
    case 0xf2:
      prefix = kWithF2, ++p;
      break;
    default:
      break;
  }
  std::uint8_t rex = 0;
  if ((*p & 0xf0) == 0x40) rex = *p++;
  const bool two_bytes = *p == 0x0f;
  p += two_bytes ? 1 : 0;
  const Opcode& opcode = (two_bytes ? kTwoByte : kOneByte).of[*p++];
  if ((opcode.prefixes & prefix) == 0) {
    // endbr64 begins every function of most programs.
    if (code[0] != 0xf3 || code[1] != 0x0f || code[2] != 0x1e || code[3] != 0xfa) return false;
    out = {4, 0, PlainFlags::kNone};
    return true;
  }
  out.rip_disp = 0;
  if (opcode.modrm) {
    const std::uint8_t modrm = *p++;
    const unsigned mod = modrm >> 6, rm = modrm & 7u;
    if (opcode.reg_zero && (modrm & 0x38) != 0) return false;
    if (mod == 3) {
      if (opcode.memory_only) return false;
    } else {
      const bool has_sib = rm == 4;
      const unsigned base = has_sib ? *p++ & 7u : rm;
      if (mod == 0 && base == 5) {
        out.rip_disp = has_sib ? 0 : static_cast<std::uint8_t>(p - code);
        p += 4;
      } else {
        p += kDispBytes[mod];
      }
    }
  }
  switch (opcode.imm) {
    case ImmSize::kNone:
      break;
    case ImmSize::kByte:
      p += 1;
      break;
    case ImmSize::k32:
      p += prefix == kWith66 && (rex & 8) == 0 ? 2 : 4;
      break;
    case ImmSize::kFull:
      p += (rex & 8) != 0 ? 8 : prefix == kWith66 ? 2 : 4;
      break;
  }
  out.length = static_cast<std::uint8_t>(p - code);
  out.flags = opcode.flags;
  return out.length <= kMaxInsnLength;
}

}  // namespace detrec::guest
