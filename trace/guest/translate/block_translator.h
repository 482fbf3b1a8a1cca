// Translates one block: the decode loop and the forms it emits.
#pragma once

#include "trace/guest/translate/emitter.h"
#include "trace/guest/translate/stored_block.h"
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

  /// Writes the block that run() has emitted to `room` of wire::kMaxTranslationBytes. False when it is not
  /// one to be kept.
  bool save(u8* room) const;
  bool has_entry() const { return entry_ != CacheAddr::kNone; }

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
  struct Landing {
    CacheAddr at;
    GuestAddr return_pc;
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
  void note_absolute(CacheAddr field) { absolutes_[absolute_count_++] = field; }
  u16 from_begin(CacheAddr a) const { return static_cast<u16>(raw(a) - raw(begin_)); }
  bool outside(const CodeRead::Range& r, bool& differs) const;
  bool describe(StoredShape& shape) const;
  void save_code(const StoredBlock& to) const;
  bool save_bindings(const StoredBlock& to) const;
  bool save_ranges(const StoredBlock& to) const;

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
  u32 first_site_;
  u32 first_link_site_ = 0;  ///< behind those that the body has
  u32 insns_end_ = 0;
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

  // For save(). An instruction has at most two displacements to fixed addresses.
  CacheAddr absolutes_[kMaxPending];    ///< 32-bit displacements to what does not move with the block
  CacheAddr site_fields_[kMaxPending];  ///< immediates that are the number of a site
  Landing landings_[kMaxBlockInsns];
  u32 copies_[kMaxLoops * kLoopCopies];  ///< indices of blocks
  int absolute_count_ = 0, site_field_count_ = 0, landing_count_ = 0, copy_count_ = 0;
  u32 block_ = kNone;
  CodeRead read_;
};

/// Address of an entry point of exits.S.
inline u64 address_of(void (*f)()) { return reinterpret_cast<u64>(f); }

/// Code out of line, to which the emitted code goes for an exit.
void link_stub(Emitter& cold, u32 site);
void tick_stub(Emitter& cold, u32 site, bool spilled);
void miss_stub(Emitter& cold, u32 site, u64 exit);

/// Puts `landing` into the indirect-branch table for a pc below 2 GiB.
void set_table(GuestAddr pc, CacheAddr landing);
CacheAddr table_entry(GuestAddr pc);
/// The same for the first landing of a pc only.
void land(GuestAddr pc, CacheAddr landing);

}  // namespace detrec::guest::translate
