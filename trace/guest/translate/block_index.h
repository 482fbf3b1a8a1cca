// What has been translated: blocks, instruction addresses in both directions, and the exit sites of generated
// code.
//
// A block is a run of guest instructions within one page (the last one may reach into the next). No
// instruction is translated twice while its block lives, except when two decodings overlap. All of it belongs
// to the turn holder.
#pragma once

#include "trace/guest/base/arena.h"
#include "trace/guest/run/turn.h"

namespace detrec::guest::translate {

inline constexpr u32 kNone = 0;  ///< index 0 of every array is a placeholder

inline constexpr int kMaxBlockInsns = 96;
inline constexpr u64 kMaxBlockBytes = 480;  ///< must stay below two search regions
inline constexpr u64 kRegionBytes = 256;    ///< blocks of a page are listed by the region of their first byte
inline constexpr int kRegions = static_cast<int>(kPageSize / kRegionBytes);

struct Block {
  GuestAddr pc;
  u32 cache_begin;  ///< entry prefix, if any
  u32 body;         ///< first instruction
  u32 body_end;     ///< stubs follow
  u32 insns;        ///< index of its first InsnLengths
  u16 insn_count;
  u16 guest_bytes;
  u32 next_in_region;
  u32 next_in_page2;  ///< list of blocks that reach into the following page
  bool dead;
  bool is_volatile;  ///< checked against `copy` before each run, never linked
  u32 copy;          ///< index into the byte copies, for volatile blocks
};

/// Length of one instruction in the guest (4 bits) and in the cache (12 bits).
struct InsnLengths {
  u16 guest : 4;
  u16 cache : 12;
};

enum class SiteKind : u32 { kLink, kTick, kExit };

/// A place in generated code that enters the engine.
struct Site {
  GuestAddr pc;       ///< link: target; tick: where the guest stands when stopped; exit: see ExitKind
  u32 cache;          ///< link: the rel32 field to bind; else where to go on
  u32 stub;           ///< link: its exit stub (0: none emitted yet)
  u32 next_incoming;  ///< link: chain of links into the target's page
  SiteKind kind;
};

struct Page {
  u64 number;  ///< guest address >> 12
  u32 region_head[kRegions];
  u32 page2_head;  ///< blocks of the page before that reach in here
  u32 incoming;    ///< links bound to code of this page
  u32 block_count;
  u16 write_faults;
  bool write_protected;  ///< the kernel's protection lacks PROT_WRITE because of us
  bool is_volatile;      ///< written too often: blocks are checked instead
  u32 seen_record;       ///< of the run's store of translations: it and those before it have been looked at
  bool seen_old;         ///< the store of earlier runs has been looked at
  u64 starts[kPageSize / 64];  ///< bit per byte: an instruction of a live block starts here
};

class BlockIndex {
 public:
  void start();

  /// Where the instruction at pc is in the cache (its body: no tick), or kNone. Not for volatile blocks.
  CacheAddr find(GuestAddr pc) const;
  /// The live block that starts at pc, volatile or not; nullptr if none.
  Block* block_at(GuestAddr pc);
  /// The same for a pc in `page`, which may be nullptr.
  static bool starts_insn(const Page* page, GuestAddr pc) {
    u64 o = pc & (kPageSize - 1);
    return page != nullptr && (page->starts[o / 64] >> (o % 64) & 1) != 0;
  }

  /// The block and instruction that `cache` belongs to (stubs belong to none), dead blocks included.
  /// Sets pc to the instruction's guest address and insn_cache to its cache address.
  const Block* find_by_cache(u64 cache, GuestAddr& pc, u64& insn_cache) const;

  Page* page(GuestAddr address);
  Page& make_page(GuestAddr address);
  /// All pages ever seen since the last clear: indices 1 to page_count() - 1.
  u64 page_count() const { return pages_.size(); }
  Page& page_by_index(u64 i) { return pages_[i]; }

  u32 add_site(const Site& site) { return static_cast<u32>(sites_.push(site), sites_.size() - 1); }
  u32 site_count() const { return static_cast<u32>(sites_.size()); }
  Site& site(u32 index) { return sites_[index]; }

  /// Appends lengths of the block under construction.
  void add_insn(u32 guest, u32 cache) {
    InsnLengths l{};
    l.guest = static_cast<u16>(guest & 15);
    l.cache = static_cast<u16>(cache & 4095);
    insns_.push(l);
  }
  u32 insn_length(u32 index) const { return insns_[index].guest; }
  InsnLengths* insns(u32 index) { return &insns_[index]; }
  /// Appends n lengths of a block that is being loaded.
  void add_insns(const InsnLengths* lengths, u32 n) {
    u64 at = insns_.size();
    insns_.resize(at + n);
    __builtin_memcpy(&insns_[at], lengths, n * sizeof(InsnLengths));
  }
  /// Where the instruction at pc of a block is in the cache; kNone when none starts there.
  CacheAddr insn_cache(u32 block, GuestAddr pc) const;
  u32 insn_count() const { return static_cast<u32>(insns_.size()); }

  /// Enters a finished block (lengths already added) into its pages.
  u32 add_block(const Block& block);
  /// The same where the page of the block's first byte is known.
  u32 add_block(const Block& block, Page& first);
  /// Notes a copy of part of a block, which only find_by_cache knows.
  u32 add_copy_block(const Block& block) { return static_cast<u32>(blocks_.push(block), blocks_.size() - 1); }
  /// Notes that link `site` is bound to code in the page of its target.
  void add_incoming(u32 site);

  /// Takes the block out of lookups. Links to it are given to `unlink`.
  void kill(Block& block, void (*unlink)(Site&, void*), void* arg);

  Block& block(u32 index) { return blocks_[index]; }
  u64 block_total() const { return blocks_.size(); }
  u8* copies(u32 index) { return &copies_[index]; }
  u32 add_copy(const u8* bytes, u64 n);

  /// True when the arrays are nearly full: flush.
  bool nearly_full() const { return !has_room(64, 4096, 4096, 16); }
  bool has_room(u64 blocks, u64 insns, u64 sites, u64 pages) const;
  /// Forgets everything.
  void clear();

  /// Visits the live blocks with a byte in the page.
  template <class F>
  void for_each_block(Page& p, F f) {
    for (u32 head : p.region_head) {
      for (u32 b = head; b != kNone; b = blocks_[b].next_in_region) f(blocks_[b]);
    }
    for (u32 b = p.page2_head; b != kNone; b = blocks_[b].next_in_page2) f(blocks_[b]);
  }

 private:
  u64 slot(u64 number) const;
  u32 find_page(u64 number) const;
  void mark_starts(const Block& block, Page& page, bool on);

  StableArray<Block> blocks_;
  StableArray<InsnLengths> insns_;
  StableArray<Site> sites_;
  StableArray<Page> pages_;
  StableArray<u8> copies_;
  u32* page_slots_ = nullptr;  ///< open addressing over page numbers
};

inline constinit BlockIndex the_block_index;
inline BlockIndex& block_index() { return the_block_index; }

}  // namespace detrec::guest::translate
