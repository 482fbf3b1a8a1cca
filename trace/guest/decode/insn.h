// The engine's x86-64 instruction decoder: one machine instruction in, everything the translator needs to
// know out.
//
// Only 64-bit mode exists here. The decoder says what a processor does with the bytes, which is not always
// what an assembler would write: redundant prefixes, ignored bits and odd encodings are accepted exactly
// where processors accept them. Where Intel's and AMD's processors differ, Intel's behaviour is taken; the
// one difference of length is the 66 prefix on near branches, which Intel ignores (the displacement stays 32
// bits) and AMD honours. APX (REX2, EVEX map 4), 3DNow! and PadLock are refused: their opcodes raise #UD on
// the processors we run on.
//
// Sources of the facts: Intel SDM volumes 2A-2D, AMD APM volumes 3-5.
//
// The library is freestanding: no libc, allocation, exceptions, static constructors, thread-local storage or
// vector registers. It holds no state, so any thread may call it at any time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace detrec::guest {

/// Processors refuse anything longer (Intel SDM 2A 2.3.11).
inline constexpr std::size_t kMaxInsnLength = 15;

enum class DecodeStatus : std::uint8_t {
  kOk,
  kTruncated,  ///< the instruction needs more bytes than are available
  kInvalid,    ///< executing it raises #UD
  kTooLong,  ///< it is longer than 15 bytes: executing it raises #GP(0), not #UD. What is invalid anyway (REX
             ///< before VEX, say) is called so whatever its length
};

enum class Encoding : std::uint8_t { kLegacy, kVex, kEvex, kXop };

enum class OpcodeMap : std::uint8_t { k1Byte, k0F, k0F38, k0F3A, kMap5, kMap6, kMap7, kXop8, kXop9, kXopA };

/// How an instruction changes the flow of control. The classes decide what the translator emits.
enum class Branch : std::uint8_t {
  kNone,
  kJccRel,        ///< 70..7F, 0F 80..8F; the condition is Insn::cc
  kLoopRel,       ///< loopne, loope, loop, jrcxz (E0..E3): 8-bit displacement only
  kJmpRel,        ///< EB, E9
  kCallRel,       ///< E8
  kJmpIndirect,   ///< FF /4
  kCallIndirect,  ///< FF /2
  kRet,           ///< near return, C3 or C2 (whose immediate is Insn::imm)
  kFarJmp,        ///< FF /5
  kFarCall,       ///< FF /3
  kFarRet,        ///< CB, CA
  kIret,          ///< CF
  kSyscall,       ///< 0F 05
  kXbegin,        ///< C7 F8: falls through, or goes to its target when the transaction aborts
};

/// Instructions that must not simply be copied, or that raise a fault whatever their operands.
enum class Special : std::uint8_t {
  kNone,
  // Read something from outside the program.
  kCpuid,
  kRdtsc,
  kRdtscp,
  kRdrand,
  kRdseed,
  kRdpid,
  kRdpmc,
  kRdpru,
  kLsl,
  kLar,
  kVerr,
  kVerw,
  kSgdt,
  kSidt,
  kSldt,
  kStr,
  kSmsw,
  kXgetbv,
  // Wait for something outside the program.
  kUmonitor,
  kUmwait,
  kTpause,
  kMonitorx,
  kMwaitx,
  // Transactions.
  kXbegin,
  kXend,
  kXabort,
  kXtest,
  kXsusldtrk,  ///< xsusldtrk, xresldtrk
  // Store or load processor state in memory.
  kFnstenv,
  kFnsave,
  kFldenv,
  kFrstor,
  kFxsave,   ///< fxsave, fxsave64
  kFxrstor,  ///< fxrstor, fxrstor64
  kXsave,    ///< xsave, xsavec, xsaveopt, and their 64 forms
  kXrstor,   ///< xrstor, xrstor64
  // Raise a fault or trap.
  kInt3,        ///< CC
  kIntN,        ///< CD ib; the vector is the immediate (zero-extended in Insn::imm)
  kInt1,        ///< F1
  kUd,          ///< ud0, ud1, ud2
  kHlt,         ///< F4
  kPrivileged,  ///< in, out, cli, sti, mov cr, mov dr, lgdt, wrmsr, sysret, vm*, monitor ...: #GP or #UD
  // Enter the kernel.
  kSyscall,
  kSysenter,
  // Segments and their bases.
  kRdfsbase,
  kRdgsbase,
  kWrfsbase,
  kWrgsbase,
  kMovSeg,  ///< loads a segment register: mov sreg, pop fs, lfs ...
  // Features the cpu model leaves out.
  kRdpkru,
  kWrpkru,
  kAmx,
  kShadowStack,  ///< incssp, saveprevssp, rstorssp, wrss: #UD without CET (rdssp and endbr are plain nops)
  kUintr,        ///< clui, stui, testui, uiret, senduipi
  kKeyLocker,    ///< aesenc128kl ..., encodekey128 ...
  kEnqcmd,       ///< enqcmd
  kEnclu,        ///< enclu: #UD without SGX
};

/// Numbers of general registers in MemOperand::base and index: 0..15 as the hardware encodes them, or one of
/// these.
inline constexpr std::uint8_t kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;
inline constexpr std::uint8_t kRip = 0x40;
inline constexpr std::uint8_t kNoReg = 0xff;

/// Only FS and GS have a base in 64-bit mode; overrides to other segments are ignored.
enum class Segment : std::uint8_t { kNone, kFs, kGs };

/// Where a memory operand comes from.
enum class MemKind : std::uint8_t {
  kExplicit,   ///< the ModRM byte
  kStack,      ///< what push, call, enter store and pop, ret, leave load; base is rsp (rbp for leave)
  kStringSrc,  ///< [rsi], FS or GS override applies
  kStringDst,  ///< [rdi], never overridden
  kXlat,       ///< [rbx + al]: base rbx, index rax of which only the low byte counts
  kMaskMov,    ///< [rdi] of maskmovq, maskmovdqu: the bytes that the mask selects
  kMoffs,      ///< 64-bit (with 67: 32-bit) absolute address in disp
  kRegister,   ///< the address is a register's value: movdir64b's and enqcmd's destination, clzero, umonitor
  kFrame,      ///< enter's reads of the enclosing frames; base is rbp
};

/// A memory operand. Its address is
///     segment base + base + index * scale + disp
/// with the register values from *before* the instruction (pop's and push's adjustment of rsp is in disp),
/// the sum without the segment base truncated to 32 bits if address32 is set. If base is kRip, disp is
/// relative to the next instruction.
struct MemOperand {
  std::int64_t disp;
  std::uint16_t size;  ///< bytes accessed, of one element for rep strings; 0: depends on state (xsave, tiles)
  std::uint8_t base;   ///< 0..15, kRip or kNoReg
  std::uint8_t index;  ///< 0..15 (vsib: vector register 0..31) or kNoReg
  std::uint8_t scale;  ///< 1, 2, 4, 8
  Segment segment;
  MemKind kind;
  bool read;
  bool write;
  bool vsib;  ///< index is a vector: size is that of one element, and the mask decides which are accessed
  bool address32;  ///< 67 prefix
  bool is_agen;    ///< the address is computed or hinted at, not accessed: lea, nop, prefetch, invlpg
};

/// Prefix bits of Insn::prefixes. All that appear are noted, whether or not they mean anything to the
/// instruction.
inline constexpr std::uint16_t kPrefix66 = 1 << 0;
inline constexpr std::uint16_t kPrefix67 = 1 << 1;
inline constexpr std::uint16_t kPrefixLock = 1 << 2;
inline constexpr std::uint16_t kPrefixF2 = 1 << 3;
inline constexpr std::uint16_t kPrefixF3 = 1 << 4;
inline constexpr std::uint16_t kPrefixCs = 1 << 5;  ///< with a conditional branch: hint "not taken"
inline constexpr std::uint16_t kPrefixDs = 1 << 6;  ///< with a conditional branch: hint "taken"; also notrack
inline constexpr std::uint16_t kPrefixEs = 1 << 7;
inline constexpr std::uint16_t kPrefixSs = 1 << 8;
inline constexpr std::uint16_t kPrefixFs = 1 << 9;
inline constexpr std::uint16_t kPrefixGs = 1 << 10;

/// Flag masks use the bit positions of EFLAGS.
inline constexpr std::uint16_t kFlagCf = 1 << 0;
inline constexpr std::uint16_t kFlagPf = 1 << 2;
inline constexpr std::uint16_t kFlagAf = 1 << 4;
inline constexpr std::uint16_t kFlagZf = 1 << 6;
inline constexpr std::uint16_t kFlagSf = 1 << 7;
inline constexpr std::uint16_t kFlagDf = 1 << 10;
inline constexpr std::uint16_t kFlagOf = 1 << 11;
inline constexpr std::uint16_t kFlagsStatus = kFlagCf | kFlagPf | kFlagAf | kFlagZf | kFlagSf | kFlagOf;
inline constexpr std::uint16_t kFlagsAll = kFlagsStatus | kFlagDf;

/// The repeat prefix of a string instruction (and of no other).
enum class Rep : std::uint8_t {
  kNone,
  kRep /* F3; also F2 where it means the same */,
  kRepne /* F2 cmps, scas */
};

/// A decoded instruction. Byte offsets count from the instruction's first byte.
struct Insn {
  std::uint8_t length;  ///< 1..15
  Encoding encoding;
  OpcodeMap map;
  std::uint8_t opcode;  ///< last opcode byte

  std::uint16_t prefixes;  ///< kPrefix...
  std::uint8_t rex;        ///< the REX byte in effect (0x40..0x4f) or 0
  std::uint8_t opcode_offset;

  bool has_modrm;
  std::uint8_t modrm;
  std::uint8_t modrm_offset;
  bool has_sib;

  std::uint8_t sib;
  std::uint8_t disp_offset;  ///< valid if disp_size is not 0
  std::uint8_t disp_size;    ///< 0, 1, 4; 8 (or 4) for a moffs address
  std::uint8_t imm_offset;   ///< valid if imm_size is not 0

  std::uint8_t imm_size;  ///< all immediate bytes: 0, 1, 2, 3 (enter), 4, 8; includes branch displacements
  std::uint8_t imm2;      ///< second immediate byte of enter (nesting level), extrq, insertq
  std::uint8_t operand_size;   ///< effective operand size of integer instructions in bytes: 1, 2, 4, 8
  std::uint8_t vector_length;  ///< bytes: 0 (none), 16, 32, 64; VEX and EVEX only

  Branch branch;
  Special special;
  std::uint8_t cc;  ///< condition code 0..15 of jcc, setcc, cmovcc (the low opcode bits); kNoReg: none
  Rep rep;

  bool lock;           ///< a LOCK prefix is in effect
  bool rip_relative;   ///< the ModRM operand is rip-relative: disp_offset is where its disp32 stands
  bool is_string;      ///< movs, cmps, stos, lods, scas, ins, outs
  bool is_bit_string;  ///< bt, btc, btr, bts of memory by a register: the bit index in that (signed) register
                       ///< also moves the address, by (index >> log2(8 * size)) * size bytes
  std::uint8_t mem_count;  ///< 0..2; see mem

  // General registers as bit masks (bit 4 = rsp), implicit ones and address registers included. ah, ch, dh,
  // bh count as rax .. rbx. Writes that keep a part of the old value (8 and 16 bits wide) or may not happen
  // (cmov, cmpxchg's rax, rep strings without an iteration) count as both read and written.
  std::uint16_t gpr_read;
  std::uint16_t gpr_written;

  // Status flags and DF.
  std::uint16_t flags_read;
  std::uint16_t flags_written;    ///< may have a new value afterwards, be it defined or undefined
  std::uint16_t flags_undefined;  ///< the part of flags_written whose new value is undefined
  /// The part of flags_written that surely loses its old value: not by a shift by cl or a rep scas, whose
  /// count may be 0, and of the undefined ones only those that processors do overwrite (AF of and, or, xor,
  /// test; AF and OF of shifts).
  std::uint16_t flags_must_written;

  /// Immediate or branch displacement, sign-extended (of int n, enter, ret n, in, out, shifts:
  /// zero-extended).
  std::int64_t imm;
  /// Displacement of the ModRM operand, sign-extended and scaled (EVEX disp8*N); or a moffs address.
  std::int64_t disp;

  /// The memory operands, of which mem_count are valid: an explicit one comes first, string source before
  /// destination.
  MemOperand mem[2];
};

/// Decodes the instruction at `code`, of which `avail` bytes may be read (15 always suffice). `out` is
/// complete if the result is kOk, and unspecified otherwise.
DecodeStatus decode(const std::uint8_t* code, std::size_t avail, Insn& out) noexcept;

/// The target of a direct branch (kJccRel, kLoopRel, kJmpRel, kCallRel, kXbegin) located at `pc`.
constexpr std::uint64_t branch_target(const Insn& insn, std::uint64_t pc) noexcept {
  return pc + insn.length + static_cast<std::uint64_t>(insn.imm);
}

/// Whether a memory operand, perhaps an implicit one, is written.
constexpr bool writes_memory(const Insn& insn) noexcept {
  for (int i = 0; i < insn.mem_count; ++i) {
    if (insn.mem[i].write) return true;
  }
  return false;
}

/// Whether the branch's target is in the instruction itself.
constexpr bool is_direct_branch(const Insn& insn) noexcept {
  switch (insn.branch) {
    case Branch::kJccRel:
    case Branch::kLoopRel:
    case Branch::kJmpRel:
    case Branch::kCallRel:
    case Branch::kXbegin:
      return true;
    default:
      return false;
  }
}

/// Whether execution can go on at the next instruction without a return having led there: false for
/// unconditional jumps, returns and instructions that always fault. Calls and system calls fall through in
/// this sense.
constexpr bool has_fallthrough(const Insn& insn) noexcept {
  switch (insn.branch) {
    case Branch::kJmpRel:
    case Branch::kJmpIndirect:
    case Branch::kRet:
    case Branch::kFarJmp:
    case Branch::kFarRet:
    case Branch::kIret:
      return false;
    default:
      break;
  }
  switch (insn.special) {
    case Special::kUd:
    case Special::kHlt:
    case Special::kPrivileged:
      return false;
    default:
      return true;
  }
}

/// The memory operand that the ModRM byte names, or nullptr.
constexpr const MemOperand* explicit_mem(const Insn& insn) noexcept {
  return insn.mem_count != 0 && insn.mem[0].kind == MemKind::kExplicit ? &insn.mem[0] : nullptr;
}

}  // namespace detrec::guest
