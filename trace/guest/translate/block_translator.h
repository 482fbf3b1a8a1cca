// Translates one block: the decode loop and the forms it emits.
#pragma once

#include "trace/guest/translate/emitter.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::translate {

enum class Mode {
  kNormal,    ///< linked, entered in the index
  kVolatile,  ///< code that changes often: every way out goes through the dispatcher, ends after a store
  kStep,      ///< one instruction, every way out goes through the dispatcher, not in the index
};

class BlockTranslator {
 public:
  /// `at`: where the block's body goes; `cold`: where its rarely executed stubs go, apart so that hot code
  /// stays dense.
  BlockTranslator(CacheAddr at, CacheAddr cold, GuestAddr pc, Mode mode);

  /// Emits the block; with `indirect_entry` its first instruction gets an entry for indirect transfers. False
  /// with `fault` when there is no instruction at pc.
  bool run(bool indirect_entry, FetchFault& fault);

  CacheAddr body() const { return body_; }
  CacheAddr entry() const { return entry_; }  ///< landing of the indirect entry
  CacheAddr end() const { return emit_.here(); }
  u32 guest_bytes() const { return bytes_; }
  CacheAddr cold_end() const { return cold_.here(); }

  /// Emits only an indirect entry that jumps to `body` (already translated).
  void run_entry_only(CacheAddr body);

 private:
  struct PendingLink {
    CacheAddr field;
    GuestAddr target;
  };
  struct PendingTick {
    CacheAddr field;
    u32 site;
    bool spilled;
  };
  struct PendingThunk {
    CacheAddr field;
    GuestAddr return_pc;
    GuestAddr target;  ///< direct calls
    bool indirect;
    bool counted;
  };
  /// A short loop at whose back edge the block goes to a copy of the loop (see emit_loop_copies).
  struct Loop {
    CacheAddr field;
    GuestAddr head;
    GuestAddr back_edge;
  };
  struct PendingMiss {
    CacheAddr field;
    void (*exit)();
    u32 arg;
  };

  bool low(GuestAddr pc) const { return pc < 0x8000'0000; }
  bool dispatched() const { return mode_ != Mode::kNormal; }

  bool translate_insn(const Insn& insn);  ///< true: the block goes on
  void debug_checks(const Insn& insn);
  void address_into_rcx(const Insn& insn, const MemOperand& mem);
  void advance(u32 length, CacheAddr begin);
  bool ends_here() const;
  bool copy_plain();
  void copy(const Insn& insn);
  void copy_far(const Insn& insn, Reg scratch);
  void copy_opcode_with_base(const Insn& insn, Reg base);

  void tick(GuestAddr target);
  void tick_by_decrement(GuestAddr target);
  void tick_through_rcx(GuestAddr target);
  void link(GuestAddr target);
  void counted_link(GuestAddr target);  ///< with a tick when target <= the current instruction
  void entry_prefix(GuestAddr pc);
  void push_return(GuestAddr return_pc);
  void exit_with_site(void (*exit)(), GuestAddr pc, u32 stub = 0);

  void jcc(const Insn& insn);
  void loop(const Insn& insn);
  bool call(const Insn& insn);
  void ret(const Insn& insn);
  bool indirect(const Insn& insn);
  void load_target(const Insn& insn);
  bool call_landing(GuestAddr return_pc);

  void finish();
  void emit_thunks();
  bool short_loop(GuestAddr head) const;
  bool calls_since(GuestAddr head) const;
  void emit_loop_copies(u32 main_block);
  void emit_links();
  void emit_ticks_and_misses();

  Emitter emit_;
  Emitter cold_;
  GuestAddr start_;
  GuestAddr pc_;
  Mode mode_;
  const Page* page_ = nullptr;  ///< of start_, if the index knows it already
  CodeReader reader_;
  CacheAddr begin_;
  CacheAddr body_ = CacheAddr::kNone;
  CacheAddr entry_ = CacheAddr::kNone;
  u32 first_insn_;
  u16 count_ = 0;
  u32 bytes_ = 0;
  GuestAddr last_call_ = 0;  ///< the last instruction that is neither copied nor a direct jump

  static constexpr int kLoopInsns = 12;  ///< longer loops hide the latency of their tick
  static constexpr int kLoopCopies = 3;
  static constexpr int kMaxLoops = 2;
  // A counted call has a tick at its landing and one in its thunk.
  static constexpr int kMaxPending = 2 * kMaxBlockInsns + 8 + 2 * kMaxLoops * kLoopCopies * kLoopInsns;
  PendingLink links_[kMaxPending];
  PendingTick ticks_[kMaxPending];
  PendingThunk thunks_[kMaxPending];
  PendingMiss misses_[kMaxPending];
  Loop loops_[kMaxLoops];
  int loop_count_ = 0;
  bool copying_ = false;  ///< emitting a loop's copy: its back edge is noted in copy_field_
  GuestAddr copy_back_edge_ = 0;
  CacheAddr copy_field_ = CacheAddr::kNone;
  int link_count_ = 0, tick_count_ = 0, thunk_count_ = 0, miss_count_ = 0;
};

/// Address of an entry point of exits.S.
inline u64 address_of(void (*f)()) { return reinterpret_cast<u64>(f); }

/// Puts `landing` into the indirect-branch table for a pc below 2 GiB.
void set_table(GuestAddr pc, CacheAddr landing);
CacheAddr table_entry(GuestAddr pc);

}  // namespace detrec::guest::translate
