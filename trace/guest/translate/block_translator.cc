#include "trace/guest/translate/block_translator.h"

#include "trace/guest/base/print.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/run/exits.h"

namespace detrec::guest::translate {
namespace {

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

}  // namespace

BlockTranslator::BlockTranslator(CacheAddr at, CacheAddr cold, GuestAddr pc, Mode mode)
    : emit_(at),
      cold_(cold),
      start_(pc),
      pc_(pc),
      mode_(mode),
      reader_(pc),
      begin_(at),
      first_insn_(block_index().insn_count()),
      first_site_(block_index().site_count()) {}

bool BlockTranslator::run(bool indirect_entry, FetchFault& fault) {
  Insn insn;
  if (!reader_.decode_at(pc_, insn, fault)) return false;
  if (indirect_entry) entry_prefix(pc_);
  body_ = emit_.here();
  page_ = block_index().page(start_);
  for (;;) {
    CacheAddr insn_begin = emit_.here();
    bool goes_on = translate_insn(insn);
    advance(insn.length, insn_begin);
    if (!goes_on) break;
    bool stop = ends_here() || (mode_ == Mode::kVolatile && writes_memory(insn));
    while (!stop && copy_plain()) stop = ends_here();
    FetchFault later;
    if (stop || !reader_.decode_at(pc_, insn, later)) {
      link(pc_);
      break;
    }
  }
  finish();
  return true;
}

/// Notes the instruction at pc_, whose code begins at `begin`, and goes on to the next.
void BlockTranslator::advance(u32 length, CacheAddr begin) {
  if (mode_ != Mode::kStep) block_index().add_insn(length, static_cast<u32>(raw(emit_.here()) - raw(begin)));
  ++count_;
  bytes_ += length;
  pc_ += length;
}

bool BlockTranslator::ends_here() const {
  int limit = mode_ == Mode::kStep ? 1 : kMaxBlockInsns;
  return count_ >= limit || bytes_ + kMaxInsnLength > kMaxBlockBytes || page_down(pc_) != page_down(start_) ||
         (mode_ == Mode::kNormal && BlockIndex::starts_insn(page_, pc_));
}

void BlockTranslator::run_entry_only(CacheAddr body) {
  entry_prefix(start_);
  emit_.jmp(raw(body));
  emit_ticks_and_misses();
}

bool BlockTranslator::translate_insn(const Insn& insn) {
  GuestAddr next = pc_ + insn.length;
  if (debug::attached && mode_ != Mode::kStep) debug_checks(insn);
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
    block_ = block_index().add_block(b);
    emit_loop_copies(block_);
    insns_end_ = block_index().insn_count();
    first_link_site_ = block_index().site_count();
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
    if (!dispatched()) {
      link_stub(cold_, site);
      continue;
    }
    cold_.set_context32(offsetof(Context, exit_arg), site);
    cold_.jmp(address_of(::exit_resume));
  }
}

void BlockTranslator::emit_ticks_and_misses() {
  for (int i = 0; i < tick_count_; ++i) {
    const PendingTick& t = ticks_[i];
    Emitter::patch_rel32(t.field, raw(cold_.here()));
    tick_stub(cold_, t.site, t.spilled);
  }
  for (int i = 0; i < miss_count_; ++i) {
    const PendingMiss& m = misses_[i];
    Emitter::patch_rel32(m.field, raw(cold_.here()));
    miss_stub(cold_, m.arg, address_of(m.exit));
  }
}

void link_stub(Emitter& cold, u32 site) {
  cold.set_context32(offsetof(Context, exit_arg), site);
  cold.jmp(address_of(::exit_link));
}

void tick_stub(Emitter& cold, u32 site, bool spilled) {
  cold.set_context32(offsetof(Context, exit_arg), site);
  cold.jmp(address_of(spilled ? ::exit_tick_spilled : ::exit_tick));
}

void miss_stub(Emitter& cold, u32 site, u64 exit) {
  cold.load_context(kRcx, offsetof(Context, spill_rcx));
  cold.set_context32(offsetof(Context, exit_arg), site);
  cold.jmp(exit);
}

}  // namespace detrec::guest::translate
