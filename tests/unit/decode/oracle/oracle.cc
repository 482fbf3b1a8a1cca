#include "tests/unit/decode/oracle/oracle.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/unit/decode/oracle/expected_special.h"
#include "tests/unit/decode/oracle/known_differences.h"

namespace detrec::guest::test {
namespace {

bool reads(const ZydisDecodedOperand& op) { return (op.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0; }
bool writes(const ZydisDecodedOperand& op) { return (op.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }

/// The number of a general register of any width, ah..bh as rax..rbx; -1 for other registers.
int gpr_number(ZydisRegister reg) {
  const ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return wide >= ZYDIS_REGISTER_RAX && wide <= ZYDIS_REGISTER_R15 ? wide - ZYDIS_REGISTER_RAX : -1;
}

bool operands_unused(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
      return true;
    default:
      return false;
  }
}

/// Instructions whose memory operand is computed, hinted at or flushed, never read or written.
bool memory_unused(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_CLDEMOTE:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_UMONITOR:
    case ZYDIS_MNEMONIC_PREFETCH:
    case ZYDIS_MNEMONIC_PREFETCHNTA:
    case ZYDIS_MNEMONIC_PREFETCHT0:
    case ZYDIS_MNEMONIC_PREFETCHT1:
    case ZYDIS_MNEMONIC_PREFETCHT2:
    case ZYDIS_MNEMONIC_PREFETCHW:
    case ZYDIS_MNEMONIC_VGATHERPF0DPD:
    case ZYDIS_MNEMONIC_VGATHERPF0DPS:
    case ZYDIS_MNEMONIC_VGATHERPF0QPD:
    case ZYDIS_MNEMONIC_VGATHERPF0QPS:
    case ZYDIS_MNEMONIC_VGATHERPF1DPD:
    case ZYDIS_MNEMONIC_VGATHERPF1DPS:
    case ZYDIS_MNEMONIC_VGATHERPF1QPD:
    case ZYDIS_MNEMONIC_VGATHERPF1QPS:
    case ZYDIS_MNEMONIC_VSCATTERPF0DPD:
    case ZYDIS_MNEMONIC_VSCATTERPF0DPS:
    case ZYDIS_MNEMONIC_VSCATTERPF0QPD:
    case ZYDIS_MNEMONIC_VSCATTERPF0QPS:
    case ZYDIS_MNEMONIC_VSCATTERPF1DPD:
    case ZYDIS_MNEMONIC_VSCATTERPF1DPS:
    case ZYDIS_MNEMONIC_VSCATTERPF1QPD:
    case ZYDIS_MNEMONIC_VSCATTERPF1QPS:
    case ZYDIS_MNEMONIC_PREFETCHWT1:
      return true;
    default:
      return operands_unused(m);
  }
}

bool state_sized(ZydisMnemonic m) {
  switch (m) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XSAVES:
    case ZYDIS_MNEMONIC_XSAVES64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_XRSTORS:
    case ZYDIS_MNEMONIC_XRSTORS64:
      return true;
    default:
      return false;
  }
}

/// A memory operand in the terms that both sides have.
struct Mem {
  int base = -1, index = -1, scale = 1, segment = 0;
  std::int64_t disp = 0;
  unsigned size = 0;
  bool read = false, write = false, agen = false, address32 = false;

  auto operator<=>(const Mem&) const = default;
  std::string text() const {
    return fmt::format("[seg{} base {} index {}*{} disp {:#x} size {}{}{}{}{}]", segment, base, index, scale,
                       disp, size, read ? " r" : "", write ? " w" : "", agen ? " agen" : "",
                       address32 ? " a32" : "");
  }
};

int register_code(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return -1;
  if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP) return kRip;
  const int gpr = gpr_number(reg);
  if (gpr >= 0) return gpr;
  return 100 + ZydisRegisterGetId(reg);  // a vector index
}

bool is_address32(const Reference& ref, const ZydisDecodedOperand& op) {
  const ZydisRegister reg = op.mem.base != ZYDIS_REGISTER_NONE ? op.mem.base : op.mem.index;
  const ZydisRegisterClass cls = ZydisRegisterGetClass(reg);
  if (reg == ZYDIS_REGISTER_EIP || cls == ZYDIS_REGCLASS_GPR32) return true;
  if (reg == ZYDIS_REGISTER_RIP || cls == ZYDIS_REGCLASS_GPR64) return false;
  return ref.insn.address_width == 32;
}

std::vector<Mem> reference_memory(const Reference& ref) {
  std::vector<Mem> list;
  for (const ZydisDecodedOperand& op : ref.all_operands()) {
    if (op.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    Mem m;
    m.base = register_code(op.mem.base);
    m.index = register_code(op.mem.index);
    m.scale = op.mem.index == ZYDIS_REGISTER_NONE || op.mem.scale == 0 ? 1 : op.mem.scale;
    m.segment = op.mem.segment == ZYDIS_REGISTER_FS ? 1 : op.mem.segment == ZYDIS_REGISTER_GS ? 2 : 0;
    m.disp = op.mem.disp.has_displacement ? op.mem.disp.value : 0;
    m.size = op.size / 8u;
    m.read = reads(op);
    m.write = writes(op);
    if (op.mem.type == ZYDIS_MEMOP_TYPE_AGEN || memory_unused(ref.insn.mnemonic)) {
      m.agen = true;
      m.read = m.write = false;
      m.size = 0;
    }
    if (state_sized(ref.insn.mnemonic)) m.size = 0;
    m.address32 = is_address32(ref, op);
    list.push_back(m);
  }
  std::sort(list.begin(), list.end());
  return list;
}

/// Our operands as Zydis shows them: it gives implicit stack operands with the stack pointer after a push
/// (and without a displacement), one slot for enter, xlat without its index, pop's operand as encoded.
std::vector<Mem> our_memory(const Insn& insn) {
  std::vector<Mem> list;
  for (unsigned i = 0; i < insn.mem_count; ++i) {
    const MemOperand& from = insn.mem[i];
    Mem m;
    m.base = from.base == kNoReg ? -1 : from.base;
    m.index = from.index == kNoReg ? -1 : from.vsib ? 100 + from.index : from.index;
    m.scale = m.index < 0 ? 1 : from.scale;
    m.segment = static_cast<int>(from.segment);
    m.disp = from.disp;
    m.size = from.size;
    m.read = from.read;
    m.write = from.write;
    m.agen = from.is_agen;
    m.address32 = from.address32;
    if (m.agen) m.size = 0;
    if (from.kind == MemKind::kFrame) continue;
    if (from.kind == MemKind::kStack) {
      m.disp = 0;
      if (insn.map == OpcodeMap::k1Byte && insn.opcode == 0xc8) m.size = insn.operand_size;
    }
    if (from.kind == MemKind::kXlat) m.index = -1;
    if (from.kind == MemKind::kExplicit && insn.opcode == 0x8f && insn.map == OpcodeMap::k1Byte &&
        from.base == kRsp)
      m.disp -= insn.operand_size;
    list.push_back(m);
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string text(const std::vector<Mem>& list) {
  std::string s;
  for (const Mem& m : list) s += m.text();
  return s.empty() ? "none" : s;
}

struct GprMasks {
  std::uint16_t read = 0, written = 0;
};

GprMasks reference_gprs(const Reference& ref) {
  GprMasks masks;
  const auto add_read = [&masks](ZydisRegister reg) {
    const int n = gpr_number(reg);
    if (n >= 0) masks.read = static_cast<std::uint16_t>(masks.read | 1u << n);
  };
  for (const ZydisDecodedOperand& op : ref.all_operands()) {
    if (op.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      add_read(op.mem.base);
      add_read(op.mem.index);
    }
    if (op.type != ZYDIS_OPERAND_TYPE_REGISTER || operands_unused(ref.insn.mnemonic)) continue;
    const int n = gpr_number(op.reg.value);
    if (n < 0) continue;
    const auto mask = static_cast<std::uint16_t>(1u << n);
    const bool conditional = (op.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
    if (reads(op) || (writes(op) && (op.size < 32 || conditional))) masks.read |= mask;
    if (writes(op)) masks.written |= mask;
  }
  return masks;
}

Branch reference_branch(const Reference& ref) {
  const bool immediate = ref.insn.operand_count != 0 && ref.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  const bool far = ref.insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (ref.insn.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
      return far ? Branch::kFarCall : immediate ? Branch::kCallRel : Branch::kCallIndirect;
    case ZYDIS_MNEMONIC_JMP:
      return far ? Branch::kFarJmp : immediate ? Branch::kJmpRel : Branch::kJmpIndirect;
    case ZYDIS_MNEMONIC_RET:
      return far ? Branch::kFarRet : Branch::kRet;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return Branch::kIret;
    case ZYDIS_MNEMONIC_SYSCALL:
      return Branch::kSyscall;
    case ZYDIS_MNEMONIC_XBEGIN:
      return Branch::kXbegin;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
      return Branch::kLoopRel;
    default:
      return ref.insn.meta.category == ZYDIS_CATEGORY_COND_BR && ref.insn.raw.imm[0].is_relative
                 ? Branch::kJccRel
                 : Branch::kNone;
  }
}

}  // namespace

const char* name(Property property) {
  static constexpr const char* kNames[] = {"validity", "length", "layout",   "immediate",   "branch",
                                           "special",  "memory", "gpr read", "gpr written", "flags"};
  return kNames[static_cast<int>(property)];
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string s;
  for (const std::uint8_t b : bytes) s += fmt::format("{:02x}", b);
  return s;
}

void Tally::add(const Tally& other) {
  compared += other.compared;
  valid += other.valid;
  mismatches += other.mismatches;
  known.resize(std::max(known.size(), other.known.size()));
  for (std::size_t i = 0; i < other.known.size(); ++i) known[i] += other.known[i];
  examples.insert(other.examples.begin(), other.examples.end());
}

std::string Tally::summary() const {
  std::string s = fmt::format("{} patterns compared, {} valid, {} mismatches\n", compared, valid, mismatches);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == 0) continue;
    const KnownDifference& k = known_differences()[i];
    s += fmt::format("  known difference: {} {} x {}\n", known[i], name(k.property), k.reason);
  }
  constexpr std::size_t kMaxShown = 100;
  std::size_t shown = 0;
  for (const auto& [key, example] : examples) {
    if (++shown > kMaxShown) break;
    s += fmt::format("  {}\n", example);
  }
  if (examples.size() > kMaxShown) s += fmt::format("  ... {} kinds in all\n", examples.size());
  return s;
}

Oracle::Oracle() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  // The extensions that the cpu model leaves out and that are nops without them.
  ZydisDecoderEnableMode(&decoder_, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
  ZydisDecoderEnableMode(&decoder_, ZYDIS_DECODER_MODE_CET, ZYAN_FALSE);
  ZydisFormatterInit(&formatter_, ZYDIS_FORMATTER_STYLE_INTEL);
}

Reference Oracle::reference(std::span<const std::uint8_t> code) const {
  Reference ref;
  ref.status = ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &ref.insn, ref.operands.data());
  return ref;
}

std::string Oracle::disassemble(const Reference& ref) const {
  if (!ref.ok()) return fmt::format("invalid ({:#x})", ref.status & 0xfffff);
  char buffer[256];
  ZydisFormatterFormatInstruction(&formatter_, &ref.insn, ref.operands.data(), ref.insn.operand_count_visible,
                                  buffer, sizeof buffer, 0, nullptr);
  return buffer;
}

std::vector<Difference> Oracle::differences(const Reference& ref, DecodeStatus status,
                                            const Insn& insn) const {
  std::vector<Difference> list;
  const auto add = [&list](Property p, std::string detail) { list.push_back({p, std::move(detail)}); };
  const bool ours_ok = status == DecodeStatus::kOk;
  // Of too few bytes of something invalid either may be said.
  if (ours_ok != ref.ok()) {
    add(Property::kValidity,
        fmt::format("ours status {} theirs {:#x}", static_cast<int>(status), ref.status));
    return list;
  }
  if (!ours_ok) return list;
  if (insn.length != ref.insn.length) {
    add(Property::kLength, fmt::format("{} expected {}", insn.length, ref.insn.length));
    return list;
  }

  const auto& raw = ref.insn.raw;
  const bool has_modrm = (ref.insn.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
  const unsigned imm_size = (raw.imm[0].size + raw.imm[1].size) / 8u;
  const bool rip = raw.modrm.mod == 0 && raw.modrm.rm == 5 && has_modrm && raw.disp.size == 32;
  if (insn.has_modrm != has_modrm || (has_modrm && insn.modrm_offset != raw.modrm.offset) ||
      insn.disp_size != raw.disp.size / 8 || (insn.disp_size != 0 && insn.disp_offset != raw.disp.offset) ||
      insn.imm_size != imm_size || (imm_size != 0 && insn.imm_offset != raw.imm[0].offset) ||
      insn.rip_relative != rip || insn.opcode != ref.insn.opcode) {
    add(Property::kLayout,
        fmt::format(
            "opcode {:02x} modrm {}@{} disp {}@{} imm {}@{} rip {}; expected {:02x} {}@{} {}@{} {}@{} {}",
            insn.opcode, insn.has_modrm, insn.modrm_offset, insn.disp_size, insn.disp_offset, insn.imm_size,
            insn.imm_offset, insn.rip_relative, ref.insn.opcode, has_modrm, raw.modrm.offset,
            raw.disp.size / 8, raw.disp.offset, imm_size, raw.imm[0].offset, rip));
  }
  if (imm_size != 0) {
    // Whether a byte is sign-extended is compared only where Zydis calls it signed.
    std::int64_t expected = raw.imm[0].value.s;
    std::int64_t ours = insn.imm;
    if (!raw.imm[0].is_signed && raw.imm[0].size < 64) {
      const std::int64_t mask = (std::int64_t{1} << raw.imm[0].size) - 1;
      expected &= mask;
      ours &= mask;
    }
    const bool second = raw.imm[1].size != 0;
    if (ours != expected || (second && insn.imm2 != raw.imm[1].value.u))
      add(Property::kImmediate, fmt::format("{:#x} expected {:#x}", ours, expected));
  }

  const Branch branch = reference_branch(ref);
  if (insn.branch != branch) {
    add(Property::kBranch,
        fmt::format("{} expected {}", static_cast<int>(insn.branch), static_cast<int>(branch)));
  } else if (is_direct_branch(insn)) {
    ZyanU64 target = 0;
    const std::uint64_t pc = 0x12345678;
    ZydisCalcAbsoluteAddress(&ref.insn, &ref.operands[0], pc, &target);
    if (branch_target(insn, pc) != target)
      add(Property::kBranch, fmt::format("target {:#x} expected {:#x}", branch_target(insn, pc), target));
  }

  const Special special = expected_special(ref);
  if (insn.special != special)
    add(Property::kSpecial,
        fmt::format("{} expected {}", static_cast<int>(insn.special), static_cast<int>(special)));

  const std::vector<Mem> mem = our_memory(insn);
  const std::vector<Mem> ref_mem = reference_memory(ref);
  if (mem != ref_mem) add(Property::kMemory, text(mem) + " expected " + text(ref_mem));

  const GprMasks gprs = reference_gprs(ref);
  if (insn.gpr_read != gprs.read)
    add(Property::kGprRead, fmt::format("{:#x} expected {:#x}", insn.gpr_read, gprs.read));
  if (insn.gpr_written != gprs.written)
    add(Property::kGprWritten, fmt::format("{:#x} expected {:#x}", insn.gpr_written, gprs.written));

  unsigned tested = 0, changed = 0, undefined = 0;
  if (ref.insn.cpu_flags != nullptr) {
    const ZydisAccessedFlags& f = *ref.insn.cpu_flags;
    tested = f.tested & kFlagsAll;
    undefined = f.undefined & kFlagsAll;
    changed = (f.modified | f.set_0 | f.set_1 | f.undefined) & kFlagsAll;
  }
  if (insn.flags_read != tested || insn.flags_written != changed || insn.flags_undefined != undefined ||
      (insn.flags_must_written & ~insn.flags_written) != 0) {
    add(Property::kFlags,
        fmt::format("read {:#x} written {:#x} undefined {:#x} must {:#x} expected {:#x} {:#x} {:#x}",
                    insn.flags_read, insn.flags_written, insn.flags_undefined, insn.flags_must_written,
                    tested, changed, undefined));
  }
  return list;
}

std::size_t Oracle::compare(std::span<const std::uint8_t> code, Tally& tally) const {
  const Reference ref = reference(code);
  Insn insn;
  const DecodeStatus status = decode(code.data(), code.size(), insn);
  ++tally.compared;
  const std::size_t length = status == DecodeStatus::kOk ? insn.length : 0;
  if (length != 0) ++tally.valid;

  const std::span<const KnownDifference> known = known_differences();
  tally.known.resize(known.size());
  bool mismatch = false;
  std::string message, kinds;
  for (const Difference& d : differences(ref, status, insn)) {
    const auto match = std::find_if(known.begin(), known.end(), [&](const KnownDifference& k) {
      return k.property == d.property && k.applies(ref, status, insn);
    });
    if (match != known.end()) {
      ++tally.known[static_cast<std::size_t>(match - known.begin())];
      continue;
    }
    mismatch = true;
    message += fmt::format(" | {}: {}", name(d.property), d.detail);
    kinds += fmt::format(" {}", name(d.property));
  }
  if (mismatch) {
    ++tally.mismatches;
    const char* mnemonic = ref.ok() ? ZydisMnemonicGetString(ref.insn.mnemonic) : "invalid";
    std::string key = fmt::format("{}{}", mnemonic, kinds);
    if (!ref.ok()) key += fmt::format(" {} {:02x}", static_cast<int>(insn.map), insn.opcode);
    if (!tally.examples.contains(key)) {
      const std::size_t shown = ref.ok()      ? ref.insn.length
                                : length != 0 ? length
                                              : std::min<std::size_t>(code.size(), 15);
      tally.examples.emplace(key, hex(code.first(shown)) + " " + disassemble(ref) + message);
    }
  }
  return length;
}

}  // namespace detrec::guest::test
