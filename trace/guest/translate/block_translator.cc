#include "trace/guest/translate/block_translator.h"

#include "trace/guest/base/print.h"
#include "trace/guest/run/exits.h"

namespace detrec::guest::translate {
namespace {

u64 address_of(void (*f)()) { return reinterpret_cast<u64>(f); }

/// Sites take turns over the stripes, so that neighbouring counted transfers do not wait for each other's
/// decrement.
u64 next_stripe() {
  static u32 next = 0;
  return offsetof(Context, stripe) + 4 * (next++ % kStripes);
}

/// Instructions that run as they are but store something of the host that must be mended at once
/// (docs/engine.md).
bool mended_after(Special s) {
  return s == Special::kFnstenv || s == Special::kFnsave || s == Special::kFxsave || s == Special::kXsave;
}

/// Instructions that are simply copied although the decoder marks them: harmless, or fault by themselves as
/// they should.
bool copied(Special s) {
  switch (s) {
    case Special::kNone:
    case Special::kHlt:
    case Special::kPrivileged:
    case Special::kMovSeg:
    case Special::kFldenv:
    case Special::kFrstor:
    case Special::kFxrstor:
    case Special::kXrstor:
      return true;
    default:
      return mended_after(s);
  }
}

bool writes_memory(const Insn& insn) {
  for (int i = 0; i < insn.mem_count; ++i) {
    if (insn.mem[i].write) return true;
  }
  return false;
}

}  // namespace

BlockTranslator::BlockTranslator(CacheAddr at, CacheAddr cold, GuestAddr pc, Mode mode)
    : emit_(at),
      cold_(cold),
      start_(pc),
      pc_(pc),
      mode_(mode),
      reader_(pc),
      begin_(at),
      first_insn_(block_index().insn_count()) {}

bool BlockTranslator::run(bool indirect_entry, FetchFault& fault) {
  Insn insn;
  if (!reader_.decode_at(pc_, insn, fault)) return false;
  if (indirect_entry) entry_prefix(pc_);
  body_ = emit_.here();
  int limit = mode_ == Mode::kStep ? 1 : kMaxBlockInsns;
  for (;;) {
    CacheAddr insn_begin = emit_.here();
    bool goes_on = translate_insn(insn);
    if (mode_ != Mode::kStep) {
      block_index().add_insn(insn.length, static_cast<u32>(raw(emit_.here()) - raw(insn_begin)));
    }
    ++count_;
    bytes_ += insn.length;
    pc_ += insn.length;
    if (!goes_on) break;
    bool stop = count_ >= limit || bytes_ + kMaxInsnLength > kMaxBlockBytes ||
                page_down(pc_) != page_down(start_) || (mode_ == Mode::kVolatile && writes_memory(insn)) ||
                (mode_ == Mode::kNormal && block_index().starts_insn(pc_));
    FetchFault later;
    if (stop || !reader_.decode_at(pc_, insn, later)) {
      link(pc_);
      break;
    }
  }
  finish();
  return true;
}

void BlockTranslator::run_entry_only(CacheAddr body) {
  entry_prefix(start_);
  emit_.jmp(raw(body));
  emit_ticks_and_misses();
}

bool BlockTranslator::translate_insn(const Insn& insn) {
  GuestAddr next = pc_ + insn.length;
  bool plain = (insn.branch == Branch::kNone && copied(insn.special)) || insn.branch == Branch::kJccRel ||
               insn.branch == Branch::kLoopRel || insn.branch == Branch::kJmpRel;
  if (!plain) last_call_ = pc_;
  switch (insn.branch) {
    case Branch::kNone:
      break;
    case Branch::kJccRel:
      jcc(insn);
      return true;
    case Branch::kLoopRel:
      loop(insn);
      return true;
    case Branch::kJmpRel:
      counted_link(branch_target(insn, pc_));
      return false;
    case Branch::kCallRel:
      return call(insn);
    case Branch::kJmpIndirect:
    case Branch::kCallIndirect:
      return indirect(insn);
    case Branch::kRet:
      ret(insn);
      return false;
    case Branch::kSyscall:
      exit_with_site(::exit_syscall, next);
      return true;
    case Branch::kFarJmp:
    case Branch::kFarCall:
    case Branch::kFarRet:
    case Branch::kIret:
    case Branch::kXbegin:
      exit_with_site(::exit_emulate, pc_);
      return false;
  }
  if (copied(insn.special)) {
    copy(insn);
    if (mended_after(insn.special)) exit_with_site(::exit_emulate, pc_);
  } else {
    exit_with_site(::exit_emulate, pc_);
  }
  return has_fallthrough(insn);
}

// ---- Plain instructions
// -----------------------------------------------------------------------------------------

Reg scratch_for(const Insn& insn) {
  u32 used = insn.gpr_read | insn.gpr_written;
  for (Reg r : {kRax, kRcx, kRdx, kRbx, kRsi, kRdi}) {
    if ((used >> r & 1) == 0) return r;
  }
  DETREC_PANIC("no register is free beside a rip-relative operand, opcode %x",
               static_cast<unsigned>(insn.opcode));
}

bool has_far_operand(const Insn& insn, GuestAddr pc) {
  if (!insn.rip_relative) return false;
  if ((insn.prefixes & kPrefix67) != 0) return true;
  // Within reach from anywhere in the cache.
  u64 target = pc + insn.length + static_cast<u64>(insn.disp);
  return target >= kCacheBegin + 0x7f00'0000;
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

// ---- Ticks, links, entries
// --------------------------------------------------------------------------------------

void BlockTranslator::tick(GuestAddr target) {
  if (status_flags_dead(reader_, target, start_)) {
    tick_by_decrement(target);
  } else {
    emit_.store_context(kRcx, offsetof(Context, spill_rcx));
    tick_through_rcx(target);
  }
}

/// A tick at a place where the flags that `dec` writes are dead.
void BlockTranslator::tick_by_decrement(GuestAddr target) {
  emit_.dec_context32(next_stripe());
  CacheAddr field = emit_.jcc(kCcZero, 0);
  u32 site = block_index().add_site({target, static_cast<u32>(raw(emit_.here())), 0, 0, SiteKind::kTick});
  ticks_[tick_count_++] = {field, site, false};
}

/// A tick that leaves the flags alone. The guest's rcx is in the spill slot; it is loaded at the end.
void BlockTranslator::tick_through_rcx(GuestAddr target) {
  u64 stripe = next_stripe();
  emit_.load_context32(kRcx, stripe);
  emit_.byte(0x8d), emit_.byte(0x49), emit_.byte(0xff);  // lea ecx, [rcx - 1]
  emit_.store_context32(kRcx, stripe);
  // jrcxz reaches only a few bytes, and a jump around the way out would cost every tick a taken branch. So
  // the way out is the immediate operand of an instruction that does nothing of use: mov rcx, imm64, two
  // bytes of opcode.
  emit_.byte(0xe3), emit_.byte(2);     // jrcxz into the immediate
  emit_.byte(0x48), emit_.byte(0xb9);  // mov rcx, imm64 = { jmp stub; 3 bytes }
  CacheAddr field = emit_.jmp(0);
  emit_.byte(0), emit_.byte(0), emit_.byte(0);
  emit_.load_context(kRcx, offsetof(Context, spill_rcx));
  u32 site = block_index().add_site({target, static_cast<u32>(raw(emit_.here())), 0, 0, SiteKind::kTick});
  ticks_[tick_count_++] = {field, site, true};
}

void BlockTranslator::link(GuestAddr target) { links_[link_count_++] = {emit_.jmp(0), target}; }

void BlockTranslator::counted_link(GuestAddr target) {
  if (target > pc_) {
    link(target);
    return;
  }
  tick(target);
  if (copying_ && pc_ == copy_back_edge_) {
    copy_field_ = emit_.jmp(0);
  } else if (!copying_ && short_loop(target)) {
    loops_[loop_count_++] = {emit_.jmp(0), target, pc_};
  } else {
    link(target);
  }
}

void BlockTranslator::entry_prefix(GuestAddr pc) {
  if (low(pc)) {
    entry_ = emit_.here();
    emit_.byte(0x48), emit_.byte(0xc7), emit_.byte(0x44), emit_.byte(0x24),
        emit_.byte(0xf8);  // mov qword [rsp-8], imm32
    emit_.imm32(static_cast<u32>(pc));
  } else {
    entry_ = offset(emit_.here(), -static_cast<i64>(kLandingLength));  // nothing lands here by a real ret
  }
  if (status_flags_dead(reader_, pc, start_)) {
    emit_.load_context(kRcx, offsetof(Context, spill_rcx));
    tick_by_decrement(pc);
  } else {
    tick_through_rcx(pc);
  }
}

void BlockTranslator::push_return(GuestAddr return_pc) {
  emit_.byte(0x68);  // push imm32, sign-extended
  emit_.imm32(static_cast<u32>(return_pc));
  if (!low(return_pc)) {
    emit_.byte(0xc7), emit_.byte(0x44), emit_.byte(0x24), emit_.byte(0x04);  // mov dword [rsp+4], imm32
    emit_.imm32(static_cast<u32>(return_pc >> 32));
  }
}

void BlockTranslator::exit_with_site(void (*exit)(), GuestAddr pc, u32 stub) {
  // The site's resume address is behind the jump, whose length is known.
  constexpr u32 kExitLength = 11 + 5;
  u32 after = static_cast<u32>(raw(emit_.here())) + kExitLength;
  emit_.set_context32(offsetof(Context, exit_arg),
                      block_index().add_site({pc, after, stub, 0, SiteKind::kExit}));
  emit_.jmp(address_of(exit));
}

// ---- Branches
// ---------------------------------------------------------------------------------------------------

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
  if (table_entry(return_pc) == CacheAddr::kNone) set_table(return_pc, landing);
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
  CacheAddr is_low = emit_.short_branch(0xe3);
  CacheAddr miss = emit_.here();
  misses_[miss_count_++] = {emit_.jmp(0), ::exit_ret, site};
  emit_.bind_short(is_low);
  emit_.byte(0x8b), emit_.byte(0x0c), emit_.byte(0x24);  // mov ecx, [rsp]
  emit_.byte(0x8b), emit_.byte(0x0c), emit_.byte(0x8d);  // mov ecx, [rcx*4 + table]
  emit_.imm32(static_cast<u32>(kTableBase));
  emit_.jrcxz_back(miss);
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
  load_target(insn);
  emit_.store_context(kRcx, offsetof(Context, target));
  if (mode_ == Mode::kStep) {
    misses_[miss_count_++] = {emit_.jmp(0), exit, site};
    return false;
  }
  emit_.load_context32(kRcx, offsetof(Context, target) + 4);
  CacheAddr is_low = emit_.short_branch(0xe3);
  CacheAddr miss = emit_.here();
  misses_[miss_count_++] = {emit_.jmp(0), exit, site};
  emit_.bind_short(is_low);
  emit_.load_context32(kRcx, offsetof(Context, target));
  emit_.byte(0x8b), emit_.byte(0x0c), emit_.byte(0x8d);  // mov ecx, [rcx*4 + table]
  emit_.imm32(static_cast<u32>(kTableBase));
  emit_.jrcxz_back(miss);
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

// ---- The block's end
// --------------------------------------------------------------------------------------------

void BlockTranslator::finish() {
  CacheAddr body_end = emit_.here();
  emit_thunks();
  if (mode_ != Mode::kStep) {
    Block b{};
    b.pc = start_;
    b.cache_begin = static_cast<u32>(raw(begin_));
    b.body = static_cast<u32>(raw(body_));
    b.body_end = static_cast<u32>(raw(body_end));
    b.insns = first_insn_;
    b.insn_count = count_;
    b.guest_bytes = static_cast<u16>(bytes_);
    b.is_volatile = mode_ == Mode::kVolatile;
    u32 index = block_index().add_block(b);
    emit_loop_copies(index);
  }
  emit_links();
  emit_ticks_and_misses();
}

void BlockTranslator::emit_thunks() {
  for (int i = 0; i < thunk_count_; ++i) {
    const PendingThunk& t = thunks_[i];
    Emitter::patch_rel32(t.field, raw(emit_.here()));
    emit_.byte(0x48), emit_.byte(0xc7), emit_.byte(0x04), emit_.byte(0x24);  // mov qword [rsp], imm32
    emit_.imm32(static_cast<u32>(t.return_pc));
    if (t.indirect) {
      emit_.byte(0xff), emit_.byte(0xe1);  // jmp rcx
      continue;
    }
    if (t.counted) tick(t.target);
    link(t.target);
  }
}

// A loop of a few instructions has one tick, and each decrement of its stripe waits for the one before: five
// cycles a round. So the loop is laid out once per stripe, each copy going on to the next.

bool BlockTranslator::short_loop(GuestAddr head) const {
  if (dispatched() || loop_count_ == kMaxLoops || head < start_) return false;
  int insns = 1;  // the back edge itself
  GuestAddr pc = start_;
  for (int i = 0; i < count_; ++i) {
    if (pc == head) return count_ - i + insns <= kLoopInsns && !calls_since(head);
    pc += block_index().insn_length(first_insn_ + static_cast<u32>(i));
  }
  return head == pc_ && pc == head;  // a jump to itself
}

/// True when an instruction from `head` on leaves the block other than by a direct jump.
bool BlockTranslator::calls_since(GuestAddr head) const { return last_call_ != 0 && last_call_ >= head; }

void BlockTranslator::emit_loop_copies(u32 main_block) {
  copying_ = true;
  for (int l = 0; l < loop_count_; ++l) {
    const Loop& loop = loops_[l];
    CacheAddr field = loop.field;
    copy_back_edge_ = loop.back_edge;
    for (int k = 0; k < kLoopCopies; ++k) {
      Emitter::patch_rel32(field, raw(emit_.here()));
      Block copy{};
      copy.pc = loop.head;
      copy.cache_begin = copy.body = static_cast<u32>(raw(emit_.here()));
      copy.insns = block_index().insn_count();
      for (pc_ = loop.head; pc_ <= loop.back_edge;) {
        Insn insn;
        FetchFault fault;
        DETREC_CHECK(reader_.decode_at(pc_, insn, fault));
        CacheAddr begin = emit_.here();
        translate_insn(insn);
        block_index().add_insn(insn.length, static_cast<u32>(raw(emit_.here()) - raw(begin)));
        ++copy.insn_count;
        pc_ += insn.length;
      }
      field = copy_field_;
      copy.guest_bytes = static_cast<u16>(pc_ - loop.head);
      link(pc_);
      copy.body_end = static_cast<u32>(raw(emit_.here()));
      block_index().add_copy_block(copy);
    }
    Emitter::patch_rel32(field, raw(block_index().insn_cache(main_block, loop.head)));
  }
  copying_ = false;
}

void BlockTranslator::emit_links() {
  for (int i = 0; i < link_count_; ++i) {
    const PendingLink& l = links_[i];
    bool inside = l.target >= start_ && l.target < start_ + bytes_;
    CacheAddr found = dispatched() ? CacheAddr::kNone : block_index().find(l.target);
    u32 site = block_index().add_site({l.target, static_cast<u32>(raw(l.field)), 0, 0, SiteKind::kLink});
    if (found != CacheAddr::kNone) {
      Emitter::patch_rel32(l.field, raw(found));
      if (!inside) block_index().add_incoming(site);
      continue;
    }
    block_index().site(site).stub = static_cast<u32>(raw(cold_.here()));
    Emitter::patch_rel32(l.field, raw(cold_.here()));
    cold_.set_context32(offsetof(Context, exit_arg), site);
    cold_.jmp(address_of(dispatched() ? ::exit_resume : ::exit_link));
  }
}

void BlockTranslator::emit_ticks_and_misses() {
  for (int i = 0; i < tick_count_; ++i) {
    const PendingTick& t = ticks_[i];
    Emitter::patch_rel32(t.field, raw(cold_.here()));
    cold_.set_context32(offsetof(Context, exit_arg), t.site);
    cold_.jmp(address_of(t.spilled ? ::exit_tick_spilled : ::exit_tick));
  }
  for (int i = 0; i < miss_count_; ++i) {
    const PendingMiss& m = misses_[i];
    Emitter::patch_rel32(m.field, raw(cold_.here()));
    cold_.load_context(kRcx, offsetof(Context, spill_rcx));
    cold_.set_context32(offsetof(Context, exit_arg), m.arg);
    cold_.jmp(address_of(m.exit));
  }
}

}  // namespace detrec::guest::translate
