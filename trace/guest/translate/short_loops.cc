// Short loops are laid out once per tick stripe.
#include "trace/guest/base/print.h"
#include "trace/guest/translate/block_translator.h"

namespace detrec::guest::translate {

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
      copies_[copy_count_++] = block_index().add_copy_block(copy);
    }
    Emitter::patch_rel32(field, raw(block_index().insn_cache(main_block, loop.head)));
  }
  copying_ = false;
}

}  // namespace detrec::guest::translate
