// Counted transfers, direct links and the entries of indirect transfers.
#include "trace/guest/run/exits.h"
#include "trace/guest/translate/block_translator.h"

namespace detrec::guest::translate {
namespace {

/// Sites take turns over the stripes, so that neighbouring counted transfers do not wait for each other's
/// decrement.
u64 next_stripe() {
  static u32 next = 0;
  return offsetof(Context, stripe) + 4 * (next++ % kStripes);
}

}  // namespace

void BlockTranslator::tick(GuestAddr target) {
  if (status_flags_dead(reader_, target, start_, read_)) {
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
  CacheAddr field = emit_.jrcxz_far();
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
  if (status_flags_dead(reader_, pc, start_, read_)) {
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
  site_fields_[site_field_count_++] = offset(emit_.here(), -4);
  note_absolute(emit_.jmp(address_of(exit)));
}

}  // namespace detrec::guest::translate
