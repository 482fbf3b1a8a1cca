// One row of the opcode tables: which encodings it stands for, and what such an instruction does.
//
// An opcode of a map has one row or several; the first whose `match` admits the instruction's key is the
// instruction's. Rows are written with the small vocabulary below, for example
//     op(0x01).E(kV, kRw).G(kV, kR).flags(Fx::kAdd).lock()        // add Ev, Gv
// and are sorted into tables at compile time. Operands that are vector, mask, MMX or x87 registers have no
// effect that Insn reports, so they are only named where some encodings of them are invalid.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "trace/guest/decode/insn.h"

namespace detrec::guest::tables {

/// Tables by encoding and map. The values are the order of the index.
enum class Table : std::uint8_t {
  k1Byte,
  k0F,
  k0F38,
  k0F3A,
  kVex0F,
  kVex0F38,
  kVex0F3A,
  kEvex0F,
  kEvex0F38,
  kEvex0F3A,
  kEvex5,
  kEvex6,
  kXop8,
  kXop9,
  kXopA,
};
inline constexpr int kTableCount = 15;

// The key of an instruction has one bit set in each of these fields; a row matches if its `match` has them
// all.
inline constexpr std::uint32_t kPpNone = 1u << 0, kPp66 = 1u << 1, kPpF3 = 1u << 2, kPpF2 = 1u << 3;
inline constexpr int kPpShift = 0, kWShift = 4, kLShift = 6, kModShift = 10, kRegShift = 12, kRmShift = 20,
                     kBShift = 28;
inline constexpr std::uint32_t kPpMask = 0xfu << kPpShift;
inline constexpr std::uint32_t kWMask = 3u << kWShift;
inline constexpr std::uint32_t kLMask = 0xfu << kLShift;
inline constexpr std::uint32_t kModMem = 1u << kModShift, kModReg = 2u << kModShift;
inline constexpr std::uint32_t kModMask = kModMem | kModReg;
inline constexpr std::uint32_t kRegMask = 0xffu << kRegShift;
inline constexpr std::uint32_t kRmMask = 0xffu << kRmShift;
inline constexpr std::uint32_t kBMask = 3u << kBShift;  // REX.B clear, set
inline constexpr std::uint32_t kMatchAny = 0x3fffffffu;

/// What kind of register an operand is, as far as it matters.
enum RegClass : std::uint8_t {
  kNoGpr,  // none, or a vector register
  kB,      // general, 8 bits
  kW,      // general, 16 bits
  kD,      // general, 32 bits
  kQ,      // general, 64 bits
  kV,      // general, operand size (2, 4, 8)
  kY,      // general, 4 or 8 by W
  kMask,   // opmask: numbers above 7 are invalid
  kSeg,    // segment register to be read: 6 and 7 are invalid
  kSegW,   // segment register to be written: cs too
  kCr,     // control register: 0, 2, 3, 4, 8
  kDr,     // debug register: 0..7
  kTile,   // tile register: numbers above 7 are invalid
};

enum Access : std::uint8_t { kAgen = 0, kR = 1, kWr = 2, kRw = 3 };

/// Register operand: class in the low nibble, access above.
struct RegSpec {
  std::uint8_t value = 0;
  constexpr RegClass cls() const { return static_cast<RegClass>(value & 15); }
  constexpr bool reads() const { return (value & 0x10) != 0; }
  constexpr bool writes() const { return (value & 0x20) != 0; }
};
constexpr RegSpec reg_spec(RegClass cls, Access access) {
  return {static_cast<std::uint8_t>(cls | access << 4)};
}

/// Size of a memory operand.
enum MemSize : std::uint8_t {
  kMNone,
  kM1,
  kM2,
  kM4,
  kM6,
  kM8,
  kM10,
  kM16,
  kM32,
  kM48,
  kM64,
  kM512,
  kMV,    // operand size
  kMZ,    // 2 or 4: operand size, at most 4
  kMY,    // 4 or 8 by W
  kM2Y,   // 8 or 16 by W (cmpxchg8b)
  kMFar,  // far pointer: operand size + 2
  kMEnv,  // x87 environment: 28, with 66 14
  kMFpu,  // x87 state: 108, with 66 94
  kMVl,   // the vector
  kMVl2,
  kMVl4,
  kMVl8,    // half, a quarter, an eighth of it
  kMDup,    // movddup: 8, 32, 64
  kMState,  // depends on state
};

enum class Imm : std::uint8_t {
  kNone,
  kIb,    // 1 byte, sign-extended
  kIbU,   // 1 byte, zero-extended
  kIw,    // 2 bytes, zero-extended
  kIz,    // 2 or 4 bytes by operand size, sign-extended
  kIv,    // 2, 4 or 8 bytes
  kIwIb,  // enter
  kIbIb,  // extrq, insertq
  kId,    // 4 bytes
  kRel8,
  kRel32,  // 4 bytes whatever the prefixes
  kRelZ,   // 2 or 4 bytes by the 66 prefix (xbegin)
  kMoffs,  // an address: 8 bytes, with 67 4
};

/// Effects on flags; see kFlagEffects in effects.h.
enum class Fx : std::uint8_t {
  kNone,
  kAdd,
  kAdc,
  kLogic,
  kIncDec,
  kMul,
  kDiv,
  kShift,
  kRotate,
  kRotateCarry,
  kBt,
  kBsf,
  kLzcnt,
  kPopcnt,
  kCmc,
  kCf,
  kDf,
  kSahf,
  kLahf,
  kPushf,
  kPopf,
  kZf,
  kComis,
  kAdcx,
  kAdox,
  kBextr,
  kBls,
  kAndn,
  kBzhi,
  kZfRest0,
  kCfRest0,
  kString,
  kStringCmp,
  kReadZf,
  kTbm,
  kKeyLocker,
  kSyscall,
  kCc,  // by the condition code in the low opcode bits: reads
  kFcmovB,
  kFcmovE,
  kFcmovBe,
  kFcmovU,
  kCount,
};

/// Implicit operands; see kImplicitEffects in effects.h.
enum class Im : std::uint8_t {
  // clang-format off
  kNone,
  // The stack.
  kPush, kPop, kEnter, kLeave, kFarCall, kFarRet, kIret, kUiret,
  // Strings and other fixed addresses.
  kMovs, kCmps, kStos, kLods, kScas, kIns, kOuts, kXlat, kMaskMov, kMoffsLoad, kMoffsStore, kClzero, kDirectStore,
  // Registers: R read, W written, Rw both; AccR is al, ax, eax or rax.
  kAccR, kAccRw, kCxR, kCxRw, kDxR, kMul, kDiv, kCwd, kCmpxchg8b, kCpuid, kEnclu, kDxAxR, kDxAxW, kDxAxCxR, kDxAxCxW,
  kCxToDxAx, kMwaitx, kSyscall, kDxAxToCx, kCxW,
  // clang-format on
  kCount,
};

// Attributes.
inline constexpr std::uint32_t kAModrm = 1 << 0;     // has a ModRM byte
inline constexpr std::uint32_t kAOpReg = 1 << 1;     // the rm operand is in the opcode's low bits
inline constexpr std::uint32_t kAD64 = 1 << 2;       // operand size 8, with 66 2
inline constexpr std::uint32_t kAF64 = 1 << 3;       // operand size 8 always
inline constexpr std::uint32_t kAByte = 1 << 4;      // operand size 1
inline constexpr std::uint32_t kANo66 = 1 << 5;      // 66 does not change the operand size
inline constexpr std::uint32_t kALock = 1 << 6;      // LOCK allowed with a memory destination
inline constexpr std::uint32_t kAForceReg = 1 << 7;  // mod is ignored: always a register
inline constexpr std::uint32_t kAVvvv = 1 << 8;      // VEX.vvvv is an operand
inline constexpr std::uint32_t kAVsib = 1 << 9;
inline constexpr std::uint32_t kAShift = 1 << 10;      // immediate count: flags change unless it is 0
inline constexpr std::uint32_t kAShift1 = 1 << 11;     // count is 1
inline constexpr std::uint32_t kASib = 1 << 12;        // needs a SIB byte (tiles)
inline constexpr std::uint32_t kABitString = 1 << 13;  // bt m, r
inline constexpr std::uint32_t kARepFlags = 1 << 14;   // rep makes the flags' change uncertain
inline constexpr std::uint32_t kALea = 1 << 15;        // computes an offset: segments do not count
inline constexpr std::uint32_t kADistinct = 1 << 16;   // destination must differ from the sources
inline constexpr std::uint32_t kACondW = 1 << 17;      // destination written on a condition: also read
inline constexpr std::uint32_t kAElemBw = 1 << 18;     // EVEX: disp8 is scaled by 1 or 2 by W
// EVEX.
inline constexpr std::uint32_t kAEr = 1 << 19;  // b with registers: rounding
inline constexpr std::uint32_t kARefuse66 = 1
                                            << 19;  // legacy (where kAEr means nothing): #UD with a 66 prefix
inline constexpr std::uint32_t kASae = 1 << 20;     // b with registers: exceptions suppressed
inline constexpr std::uint32_t kAMaskZ = 1 << 21;   // zeroing allowed (into registers)
inline constexpr std::uint32_t kAMaskM = 1 << 22;   // masking allowed
inline constexpr std::uint32_t kAMaskReq = 1 << 23;  // a mask other than k0 is needed
inline constexpr std::uint32_t kABcast2 = 1 << 24, kABcast4 = 1 << 25, kABcast8 = 1 << 26;  // element size
inline constexpr std::uint32_t kABcastMask = kABcast2 | kABcast4 | kABcast8;
inline constexpr std::uint32_t kAVvvvMask = 1 << 27;  // VEX.vvvv is an opmask: above 7 invalid
inline constexpr std::uint32_t kATileVvvv = 1 << 28;  // VEX.vvvv is a tile
inline constexpr std::uint32_t kAElem = 1 << 29;      // EVEX: disp8 is scaled by 4 or 8 by W
inline constexpr std::uint32_t kACheck = 1 << 30;     // legacy encodings: some register numbers are invalid
inline constexpr std::uint32_t kALast = 1u << 31;     // last row of its opcode

struct Row {
  std::uint32_t match = kMatchAny;
  std::uint32_t attrs = 0;
  Table table = Table::k1Byte;
  std::uint8_t opcode = 0;
  RegSpec reg{};  // modrm.reg
  RegSpec rm{};   // modrm.rm as a register, or the opcode's low bits
  RegSpec vvvv{};
  MemSize mem = kMNone;
  Access access = kAgen;
  Imm imm_kind = Imm::kNone;
  Fx fx = Fx::kNone;
  Im im = Im::kNone;
  Branch branch_class = Branch::kNone;
  Special special_kind = Special::kNone;

  constexpr Row only(std::uint32_t field, std::uint32_t bits) const {
    Row r = *this;
    r.match = (r.match & ~field) | bits;
    return r;
  }
  constexpr Row with(std::uint32_t attributes) const {
    Row r = *this;
    r.attrs |= attributes;
    return r;
  }
  // Mandatory prefix.
  constexpr Row pp(std::uint32_t bits) const { return only(kPpMask, bits); }
  constexpr Row np() const { return pp(kPpNone); }
  constexpr Row p66() const { return pp(kPp66); }
  constexpr Row f3() const { return pp(kPpF3); }
  constexpr Row f2() const { return pp(kPpF2); }
  constexpr Row np66() const { return pp(kPpNone | kPp66); }
  // W and vector length.
  constexpr Row w0() const { return only(kWMask, 1u << kWShift); }
  constexpr Row w1() const { return only(kWMask, 2u << kWShift); }
  constexpr Row w(unsigned n) const { return only(kWMask, (n != 0 ? 2u : 1u) << kWShift); }
  constexpr Row l0() const { return only(kLMask, 1u << kLShift); }
  constexpr Row l1() const { return only(kLMask, 2u << kLShift); }
  constexpr Row l2() const { return only(kLMask, 4u << kLShift); }
  constexpr Row l12() const { return only(kLMask, 6u << kLShift); }
  constexpr Row lig() const { return only(kLMask, kLMask); }
  // ModRM.
  constexpr Row modrm() const { return with(kAModrm); }
  constexpr Row mem_only() const { return only(kModMask, kModMem).modrm(); }
  constexpr Row reg_only() const { return only(kModMask, kModReg).modrm(); }
  constexpr Row ext(unsigned n) const { return only(kRegMask, 1u << (kRegShift + n)).modrm(); }
  constexpr Row rm_is(unsigned n) const { return only(kRmMask, 1u << (kRmShift + n)); }
  constexpr Row exact(unsigned byte) const {  // one ModRM value of register form
    return reg_only().ext((byte >> 3) & 7).rm_is(byte & 7);
  }
  constexpr Row b0() const { return only(kBMask, 1u << kBShift); }
  constexpr Row b1() const { return only(kBMask, 2u << kBShift); }

  // Operands.
  constexpr Row G(RegClass cls, Access a) const {
    Row r = modrm();
    if (cls >= kSeg && cls <= kDr) r.attrs |= kACheck;
    r.reg = reg_spec(cls, a);
    return r;
  }
  /// Register or memory of the same size.
  constexpr Row E(RegClass cls, Access a) const { return E(cls, size_of(cls), a); }
  constexpr Row E(RegClass cls, MemSize size, Access a) const {
    Row r = modrm();
    r.rm = reg_spec(cls, a);
    r.mem = size;
    r.access = a;
    return r;
  }
  /// General register only.
  constexpr Row R(RegClass cls, Access a) const {
    Row r = reg_only();
    r.rm = reg_spec(cls, a);
    return r;
  }
  /// Vector register or memory.
  constexpr Row X(MemSize size, Access a) const { return E(kNoGpr, size, a); }
  /// Memory only.
  constexpr Row M(MemSize size, Access a) const { return mem_only().E(kNoGpr, size, a); }
  /// Register in the opcode.
  constexpr Row Z(RegClass cls, Access a) const {
    Row r = with(kAOpReg);
    r.rm = reg_spec(cls, a);
    return r;
  }
  constexpr Row V(RegClass cls, Access a) const {
    Row r = with(kAVvvv);
    r.vvvv = reg_spec(cls, a);
    return r;
  }
  constexpr Row nds() const { return with(kAVvvv); }

  constexpr Row imm(Imm kind) const {
    Row r = *this;
    r.imm_kind = kind;
    return r;
  }
  constexpr Row ib() const { return imm(Imm::kIb); }
  constexpr Row flags(Fx effect) const {
    Row r = *this;
    r.fx = effect;
    return r;
  }
  constexpr Row implicit(Im effect) const {
    Row r = *this;
    r.im = effect;
    return r;
  }
  constexpr Row branch(Branch b) const {
    Row r = *this;
    r.branch_class = b;
    return r;
  }
  constexpr Row special(Special s) const {
    Row r = *this;
    r.special_kind = s;
    return r;
  }
  // EVEX: masking with zeroing, merging masking, rounding, suppressed exceptions, broadcast elements.
  constexpr Row mz() const { return with(kAMaskM | kAMaskZ); }
  constexpr Row mm() const { return with(kAMaskM); }
  constexpr Row er() const { return with(kAEr); }
  constexpr Row sae() const { return with(kASae); }
  constexpr Row bc2() const { return with(kABcast2); }
  constexpr Row bc4() const { return with(kABcast4); }
  constexpr Row bc8() const { return with(kABcast8); }
  constexpr Row lock() const { return with(kALock); }
  constexpr Row d64() const { return with(kAD64); }
  constexpr Row f64() const { return with(kAF64); }
  constexpr Row byte() const { return with(kAByte); }

  static constexpr MemSize size_of(RegClass cls) {
    switch (cls) {
      case kB:
        return kM1;
      case kW:
        return kM2;
      case kD:
        return kM4;
      case kQ:
        return kM8;
      case kV:
        return kMV;
      case kY:
        return kMY;
      default:
        return kMNone;
    }
  }
};

/// Collects the rows of all tables; used at compile time only.
template <int Capacity>
struct RowList {
  Row rows[Capacity]{};
  int count = 0;
  Table table = Table::k1Byte;

  constexpr void add(const Row& row) {
    rows[count] = row;
    rows[count].table = table;
    ++count;
  }
};

constexpr Row op(unsigned opcode) {
  Row r;
  r.opcode = static_cast<std::uint8_t>(opcode);
  return r;
}

}  // namespace detrec::guest::tables
