#include "tests/unit/decode/oracle/known_differences.h"

namespace detrec::guest::test {
namespace {

/// Zydis 4.0 takes base 5 without displacement for r13d if the address size is 32 bits and REX.B is set;
/// processors do not look at REX.B there (SDM 2A table 2-5), as Zydis agrees for 64-bit addresses.
bool is_r13d_without_disp(const Reference& ref, DecodeStatus, const Insn&) {
  const auto& raw = ref.insn.raw;
  return ref.insn.address_width == 32 && raw.modrm.mod == 0 && raw.modrm.rm == 4 && raw.sib.base == 5;
}

bool faults(const Reference&, DecodeStatus, const Insn& insn) {
  return insn.special == Special::kPrivileged || insn.special == Special::kSysenter;
}

bool is_uiret(const Reference& ref, DecodeStatus, const Insn&) {
  return ref.insn.mnemonic == ZYDIS_MNEMONIC_UIRET;
}

bool is_lwp(const Reference& ref, DecodeStatus, const Insn&) {
  return ref.insn.mnemonic == ZYDIS_MNEMONIC_LLWPCB || ref.insn.mnemonic == ZYDIS_MNEMONIC_LWPINS ||
         ref.insn.mnemonic == ZYDIS_MNEMONIC_LWPVAL;
}

/// RAO-INT, AVX-IFMA, AVX-VNNI-INT8 and -INT16, AVX-NE-CONVERT, SHA512, SM3, SM4, CMPccXADD, AMX-FP16,
/// AMX-COMPLEX.
bool is_newer_extension(const Reference& ref, DecodeStatus status, const Insn& insn) {
  if (ref.status != ZYDIS_STATUS_DECODING_ERROR || status != DecodeStatus::kOk) return false;
  const unsigned op = insn.opcode;
  if (insn.encoding == Encoding::kLegacy) return insn.map == OpcodeMap::k0F38 && op == 0xfc;
  if (insn.encoding != Encoding::kVex) return false;
  if (insn.map == OpcodeMap::k0F3A) return op == 0xde;
  if (insn.map != OpcodeMap::k0F38) return false;
  return op == 0x50 || op == 0x51 || op == 0x5c || op == 0x6c || op == 0x72 || op == 0xb0 || op == 0xb1 ||
         op == 0xb4 || op == 0xb5 || (op >= 0xcb && op <= 0xcd) || op == 0xd2 || op == 0xd3 || op == 0xda ||
         (op >= 0xe0 && op <= 0xef);
}

constexpr KnownDifference kKnown[] = {
    {Property::kValidity,
     "3DNow! is refused: no processor since AMD's family 10h (Intel's: none) executes it",
     [](const Reference& ref, DecodeStatus status, const Insn&) {
       return ref.ok() && status == DecodeStatus::kInvalid && ref.insn.meta.isa_set == ZYDIS_ISA_SET_AMD3DNOW;
     }},
    {Property::kGprWritten,
     "Zydis lists the address registers of string instructions only in some of its rows",
     [](const Reference&, DecodeStatus, const Insn& insn) { return insn.is_string; }},
    {Property::kGprRead, "leave does not need the old rsp",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_LEAVE;
     }},
    {Property::kFlags, "sbb defines AF (SDM 2B)",
     [](const Reference& ref, DecodeStatus, const Insn&) { return ref.insn.mnemonic == ZYDIS_MNEMONIC_SBB; }},
    {Property::kFlags, "shifts and rotates by 1 define OF (SDM 2B)",
     [](const Reference&, DecodeStatus, const Insn& insn) {
       const bool by_1 = insn.opcode == 0xd0 || insn.opcode == 0xd1;
       const bool by_imm =
           insn.opcode == 0xc0 || insn.opcode == 0xc1 || insn.opcode == 0xa4 || insn.opcode == 0xac;
       const bool group =
           insn.map == OpcodeMap::k1Byte || (insn.map == OpcodeMap::k0F && insn.opcode >= 0xa0);
       return group && (by_1 || (by_imm && (insn.imm & (insn.operand_size == 8 ? 63 : 31)) == 1));
     }},
    {Property::kFlags, "syscall saves the flags in r11",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
     }},
    {Property::kMemory, "Zydis takes a missing base for r13d", is_r13d_without_disp},
    {Property::kGprRead, "Zydis takes a missing base for r13d", is_r13d_without_disp},
    {Property::kGprRead, "bsf, bsr leave the destination alone if the source is 0",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_BSF || ref.insn.mnemonic == ZYDIS_MNEMONIC_BSR;
     }},
    {Property::kFlags, "repe, repne test the ZF that the comparison made, not the one before",
     [](const Reference&, DecodeStatus, const Insn& insn) {
       return insn.is_string && insn.rep != Rep::kNone;
     }},
    {Property::kFlags, "clrssbsy sets CF and clears the others (SDM 2A)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_CLRSSBSY;
     }},
    {Property::kMemory, "clzero writes the cache line at rax (APM 3)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_CLZERO;
     }},
    {Property::kMemory, "enqcmd writes 64 bytes to the address in its register operand (SDM 2A)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_ENQCMD || ref.insn.mnemonic == ZYDIS_MNEMONIC_ENQCMDS;
     }},
    {Property::kMemory, "a moffs address of 32 bits is zero-extended (SDM 2A, MOV)",
     [](const Reference&, DecodeStatus, const Insn& insn) {
       return insn.map == OpcodeMap::k1Byte && (insn.opcode & 0xfc) == 0xa0 && insn.disp_size == 4;
     }},
    {Property::kGprRead, "mwaitx takes a timeout from ebx (APM 3)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_MWAITX;
     }},
    {Property::kFlags, "rdpru, testui, rstorssp set CF and clear the other status flags (APM 3, SDM 2B)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_RDPRU || ref.insn.mnemonic == ZYDIS_MNEMONIC_TESTUI ||
              ref.insn.mnemonic == ZYDIS_MNEMONIC_RSTORSSP;
     }},
    {Property::kValidity, "PadLock is refused: only VIA's processors have it",
     [](const Reference& ref, DecodeStatus status, const Insn&) {
       return ref.ok() && status == DecodeStatus::kInvalid &&
              (ref.insn.meta.isa_set == ZYDIS_ISA_SET_PADLOCK_ACE ||
               ref.insn.meta.isa_set == ZYDIS_ISA_SET_PADLOCK_PHE ||
               ref.insn.meta.isa_set == ZYDIS_ISA_SET_PADLOCK_PMM ||
               ref.insn.meta.isa_set == ZYDIS_ISA_SET_PADLOCK_RNG);
     }},
    {Property::kFlags, "effects of instructions that always fault are not kept", faults},
    {Property::kGprRead, "effects of instructions that always fault are not kept", faults},
    {Property::kGprWritten, "effects of instructions that always fault are not kept", faults},
    {Property::kValidity, "instructions of the first Xeon Phi (KNC) are refused: that was a coprocessor",
     [](const Reference& ref, DecodeStatus status, const Insn&) {
       if (!ref.ok() || status != DecodeStatus::kInvalid) return false;
       switch (ref.insn.meta.isa_set) {
         case ZYDIS_ISA_SET_KNCE:
         case ZYDIS_ISA_SET_KNCJKBR:
         case ZYDIS_ISA_SET_KNCSTREAM:
         case ZYDIS_ISA_SET_KNCV:
         case ZYDIS_ISA_SET_KNC_MISC:
         case ZYDIS_ISA_SET_KNC_PF_HINT:
           return true;
         default:
           return false;
       }
     }},
    {Property::kFlags, "bextr clears CF and OF (SDM 2A)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_BEXTR;
     }},
    {Property::kFlags, "vptest, vtestps, vtestpd clear the other status flags (SDM 2C)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_VPTEST || ref.insn.mnemonic == ZYDIS_MNEMONIC_VTESTPS ||
              ref.insn.mnemonic == ZYDIS_MNEMONIC_VTESTPD;
     }},
    {Property::kMemory, "uiret pops from the stack (SDM 2D)", is_uiret},
    {Property::kGprRead, "uiret pops from the stack (SDM 2D)", is_uiret},
    {Property::kGprWritten, "uiret pops from the stack (SDM 2D)", is_uiret},
    {Property::kFlags, "uiret pops all flags (SDM 2D)", is_uiret},
    {Property::kGprRead, "llwpcb, lwpins, lwpval read their register operand (APM 3)", is_lwp},
    {Property::kGprWritten, "llwpcb, lwpins, lwpval do not write their register operand (APM 3)", is_lwp},
    {Property::kValidity, "extensions newer than Zydis 4.0", is_newer_extension},
    {Property::kValidity, "ptwrite refuses a 66 prefix (SDM 2B, and a processor)",
     [](const Reference& ref, DecodeStatus, const Insn&) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_PTWRITE;
     }},
    {Property::kMemory, "movsxd to 16 bits loads 2 bytes (SDM 2B, and a processor)",
     [](const Reference& ref, DecodeStatus, const Insn& insn) {
       return ref.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD && insn.operand_size == 2;
     }},
};

}  // namespace

std::span<const KnownDifference> known_differences() { return kKnown; }

}  // namespace detrec::guest::test
