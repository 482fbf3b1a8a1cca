// What branches, calls and returns become.
#include "trace/guest/run/exits.h"
#include "trace/guest/translate/block_translator.h"

namespace detrec::guest::translate {

void BlockTranslator::jcc(const Insn& insn) {
  GuestAddr target = branch_target(insn, pc_);
  if (target > pc_) {
    links_[link_count_++] = {emit_.jcc(insn.cc, 0), target};
    return;
  }
  CacheAddr skip = emit_.short_branch(static_cast<u8>(0x70 | (insn.cc ^ 1)));
  counted_link(target);
  emit_.bind_short(skip);
}

void BlockTranslator::loop(const Insn& insn) {
  if ((insn.prefixes & kPrefix67) != 0) emit_.byte(0x67);
  CacheAddr taken = emit_.short_branch(insn.opcode);
  CacheAddr skip = emit_.short_branch(0xeb);
  emit_.bind_short(taken);
  counted_link(branch_target(insn, pc_));
  emit_.bind_short(skip);
}

bool BlockTranslator::call(const Insn& insn) {
  GuestAddr target = branch_target(insn, pc_);
  GuestAddr next = pc_ + insn.length;
  if (dispatched() || !low(next) || target == next) {
    push_return(next);
    if (target == next && !dispatched()) return true;  // "call next": only the push
    counted_link(target);
    return !dispatched();
  }
  CacheAddr field = emit_.call(0);
  thunks_[thunk_count_++] = {field, next, target, false, target <= pc_};
  return call_landing(next);
}

/// Where a call's hardware return address leads: the landing of an ordinary indirect entry of the next
/// instruction.
bool BlockTranslator::call_landing(GuestAddr return_pc) {
  CacheAddr outer = entry_;
  CacheAddr landing = emit_.here();
  entry_prefix(return_pc);
  entry_ = outer;
  landings_[landing_count_++] = {landing, return_pc};
  land(return_pc, landing);
  return true;
}

void BlockTranslator::ret(const Insn& insn) {
  u32 pop = static_cast<u32>(insn.imm_size != 0 ? insn.imm & 0xffff : 0);
  u32 site = block_index().add_site({pc_, 0, pop, 0, SiteKind::kExit});
  if (mode_ == Mode::kStep) {
    emit_.set_context32(offsetof(Context, exit_arg), site);
    emit_.jmp(address_of(::exit_ret));
    return;
  }
  emit_.store_context(kRcx, offsetof(Context, spill_rcx));
  emit_.byte(0x8b), emit_.byte(0x4c), emit_.byte(0x24), emit_.byte(0x04);  // mov ecx, [rsp+4]
  emit_.check_upper_half();
  emit_.byte(0x48), emit_.byte(0x8b), emit_.byte(0x0c), emit_.byte(0x24);  // mov rcx, [rsp]
  emit_.look_up_landing();
  CacheAddr miss = emit_.short_branch(0xe3);
  if (pop == 0) {
    emit_.byte(0x48), emit_.byte(0x89), emit_.byte(0x0c), emit_.byte(0x24);  // mov [rsp], rcx
    emit_.byte(0xc3);
  } else {
    // The landing would mend the wrong slot: pop by hand and jump.
    emit_.byte(0x48), emit_.byte(0x8d), emit_.byte(0x49), emit_.byte(kLandingLength);  // lea rcx, [rcx+9]
    emit_.byte(0x48), emit_.byte(0x8d), emit_.byte(0xa4), emit_.byte(0x24);            // lea rsp, [rsp+8+pop]
    emit_.imm32(8 + pop);
    emit_.byte(0xff), emit_.byte(0xe1);  // jmp rcx
  }
  emit_.bind_short(miss);
  misses_[miss_count_++] = {emit_.jmp(0), ::exit_ret, site};
}

/// mov rcx, <operand of an indirect branch>
void BlockTranslator::load_target(const Insn& insn) {
  const u8* code = reader_.bytes_at(pc_);
  bool far = has_far_operand(insn, pc_);
  u64 target = pc_ + insn.length + static_cast<u64>(insn.disp);
  if (far) emit_.load_imm64(kRcx, (insn.prefixes & kPrefix67) != 0 ? static_cast<u32>(target) : target);
  const MemOperand* mem = explicit_mem(insn);
  if (mem != nullptr && mem->segment != Segment::kNone)
    emit_.byte(mem->segment == Segment::kFs ? 0x64 : 0x65);
  if (!far && (insn.prefixes & kPrefix67) != 0) emit_.byte(0x67);
  emit_.byte(static_cast<u8>(0x48 | (far ? 0 : insn.rex & 3)));
  emit_.byte(0x8b);
  if (far) {
    emit_.byte(0x09);  // [rcx]
    return;
  }
  emit_.byte(static_cast<u8>((insn.modrm & 0xc7) | (kRcx << 3)));
  if (insn.rip_relative) {
    note_absolute(emit_.here());
    emit_.rel32(target);
    return;
  }
  u32 rest = insn.modrm_offset + 1u;
  emit_.bytes(code + rest, insn.length - rest);
}

bool BlockTranslator::indirect(const Insn& insn) {
  bool is_call = insn.branch == Branch::kCallIndirect;
  GuestAddr next = pc_ + insn.length;
  u32 site = block_index().add_site({next, 0, insn.length, 0, SiteKind::kExit});
  auto exit = is_call ? ::exit_indirect_call : ::exit_indirect_jmp;
  emit_.store_context(kRcx, offsetof(Context, spill_rcx));
  // A target in a register is looked up from there, so that the way to the jump is short when it was not
  // foreseen.
  Reg target =
      explicit_mem(insn) == nullptr ? static_cast<Reg>((insn.modrm & 7) | (insn.rex & 1) << 3) : kRcx;
  if (target == kRsp) target = kRcx;  // no index
  if (target == kRcx) load_target(insn);
  emit_.store_context(target, offsetof(Context, target));
  if (mode_ == Mode::kStep) {
    misses_[miss_count_++] = {emit_.jmp(0), exit, site};
    return false;
  }
  emit_.load_context32(kRcx, offsetof(Context, target) + 4);
  emit_.check_upper_half();
  if (target == kRcx) emit_.load_context(kRcx, offsetof(Context, target));
  emit_.look_up_landing(target);
  misses_[miss_count_++] = {emit_.jrcxz_far(), exit, site};
  emit_.byte(0x48), emit_.byte(0x8d), emit_.byte(0x49), emit_.byte(kLandingLength);  // lea rcx, [rcx+9]
  if (!is_call) {
    emit_.byte(0xff), emit_.byte(0xe1);  // jmp rcx
    return false;
  }
  if (dispatched() || !low(next)) {
    push_return(next);
    emit_.byte(0xff), emit_.byte(0xe1);
    return !dispatched();
  }
  CacheAddr field = emit_.call(0);
  thunks_[thunk_count_++] = {field, next, 0, true, false};
  return call_landing(next);
}

}  // namespace detrec::guest::translate
