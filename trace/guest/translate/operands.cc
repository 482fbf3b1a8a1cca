// Plain instructions: copied, with what depends on their place mended.
#include "trace/guest/base/print.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/decode/plain.h"
#include "trace/guest/translate/block_translator.h"

namespace detrec::guest::translate {

Reg scratch_for(const Insn& insn) {
  u32 used = insn.gpr_read | insn.gpr_written;
  for (Reg r : {kRax, kRcx, kRdx, kRbx, kRsi, kRdi}) {
    if ((used >> r & 1) == 0) return r;
  }
  DETREC_PANIC("no register is free beside a rip-relative operand, opcode %x",
               static_cast<unsigned>(insn.opcode));
}

namespace {
/// Within reach from anywhere in the cache?
bool reachable(u64 target) { return target < kCacheBegin + 0x7f00'0000; }
}  // namespace

bool has_far_operand(const Insn& insn, GuestAddr pc) {
  if (!insn.rip_relative) return false;
  if ((insn.prefixes & kPrefix67) != 0) return true;
  return !reachable(pc + insn.length + static_cast<u64>(insn.disp));
}

/// Copies the instruction at pc_ if the short way of decoding knows it.
bool BlockTranslator::copy_plain() {
  PlainInsn plain;
  if (dispatched() || debug::attached || !reader_.ready(pc_)) return false;
  const u8* code = reader_.bytes_at(pc_);
  if (!decode_plain(code, plain)) return false;
  CacheAddr begin = emit_.here();
  if (plain.rip_disp == 0) {
    emit_.instruction(code, plain.length);
  } else {
    i32 disp;
    memcpy(&disp, code + plain.rip_disp, sizeof disp);
    u64 target = pc_ + plain.length + static_cast<u64>(static_cast<i64>(disp));
    if (!reachable(target)) return false;
    u32 after = plain.rip_disp + 4u;
    emit_.bytes(code, plain.rip_disp);
    note_absolute(emit_.here());
    emit_.rel32(target, plain.length - after);
    emit_.bytes(code + after, plain.length - after);
  }
  advance(plain.length, begin);
  return true;
}

void BlockTranslator::copy(const Insn& insn) {
  const u8* code = reader_.bytes_at(pc_);
  if (!insn.rip_relative) {
    emit_.instruction(code, insn.length);
    return;
  }
  u64 target = pc_ + insn.length + static_cast<u64>(insn.disp);
  if (has_far_operand(insn, pc_)) {
    bool is_lea64 = insn.map == OpcodeMap::k1Byte && insn.encoding == Encoding::kLegacy &&
                    insn.opcode == 0x8d && insn.operand_size == 8 && (insn.prefixes & kPrefix67) == 0;
    if (is_lea64) {
      emit_.load_imm64(static_cast<Reg>((insn.modrm >> 3 & 7) | ((insn.rex & 4) << 1)), target);
    } else {
      copy_far(insn, scratch_for(insn));
    }
    return;
  }
  emit_.bytes(code, insn.disp_offset);
  note_absolute(emit_.here());
  emit_.rel32(target, insn.length - insn.disp_offset - 4u);
  emit_.bytes(code + insn.disp_offset + 4, insn.length - insn.disp_offset - 4u);
}

void BlockTranslator::copy_far(const Insn& insn, Reg scratch) {
  u64 target = pc_ + insn.length + static_cast<u64>(insn.disp);
  if ((insn.prefixes & kPrefix67) != 0) target = static_cast<u32>(target);
  emit_.store_context(scratch, offsetof(Context, spill_scratch));
  emit_.load_imm64(scratch, target);
  copy_opcode_with_base(insn, scratch);
  emit_.load_context(scratch, offsetof(Context, spill_scratch));
}

/// The instruction with [rip + disp32] replaced by [base], base being one of the eight old registers other
/// than rsp and rbp.
void BlockTranslator::copy_opcode_with_base(const Insn& insn, Reg base) {
  const u8* code = reader_.bytes_at(pc_);
  for (u32 i = 0; i < insn.modrm_offset; ++i) {
    u8 b = code[i];
    switch (insn.encoding) {
      case Encoding::kLegacy:
        if (insn.rex != 0 && i + 1u == insn.opcode_offset && b == insn.rex) b &= 0xfe;  // REX.B
        if (insn.rex != 0 && insn.map != OpcodeMap::k1Byte && b == insn.rex && code[i + 1] == 0x0f) b &= 0xfe;
        break;
      case Encoding::kVex:
        if (i > 0 && code[i - 1] == 0xc4 && i + 2u < insn.modrm_offset) b |= 0x20;  // VEX.B, inverted
        break;
      case Encoding::kXop:
        if (i > 0 && code[i - 1] == 0x8f && i + 2u < insn.modrm_offset) b |= 0x20;
        break;
      case Encoding::kEvex:
        if (i > 0 && code[i - 1] == 0x62 && i + 3u < insn.modrm_offset) b |= 0x20;  // EVEX.B, inverted
        break;
    }
    emit_.byte(b);
  }
  emit_.byte(static_cast<u8>((insn.modrm & 0x38) | base));
  u32 after = insn.disp_offset + 4u;
  emit_.bytes(code + after, insn.length - after);
}

}  // namespace detrec::guest::translate
