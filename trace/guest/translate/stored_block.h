// A block as the store of translations keeps it: what BlockTranslator::run has emitted, so described that
// load() can put it anywhere in any process whose guest has the same code there.
//
// Behind wire::TranslationRecord come a StoredShape, which says how many there are of everything, and the
// arrays in the order of StoredBlock. Cache addresses are offsets from the block's beginning, sites are
// numbered from the block's first, and 32-bit displacements to what does not move are as if the block began
// at 0. Links, ticks and misses are bound anew by whoever loads the block.
#pragma once

#include "trace/guest/translate/block_index.h"
#include "trace/guest/translate/code_notes.h"
#include "trace/wire/translations.h"

namespace detrec::guest::translate {

struct StoredShape {
  u16 code_bytes;  ///< in the cache
  u16 body, body_end;
  u16 guest_bytes;
  u16 insn_count;  ///< of the block itself
  u16 has_entry;
  u16 sites, links, misses, ranges;
  u16 landings, ticks, copies;
  u16 lengths;  ///< of the instructions of the block and its copies
  u16 absolutes, site_fields;
  u16 range_bytes;  ///< of all ranges together
  u16 reserved[3];
};
static_assert(sizeof(StoredShape) % 8 == 0);

struct StoredSite {
  u64 pc;
  u32 stub;
  u16 cache;  ///< 0: none
  u16 kind;
};
/// `where` >> 16 is the target, the rest the field.
struct StoredLink {
  u64 where;
};
struct StoredMiss {
  u32 exit;  ///< of exits.S, which every process of the same build has at the same place
  u16 field, site;
};
/// Guest code outside of the block; its bytes follow the block's own.
struct StoredRange {
  u64 begin;
  u64 length;
};
struct StoredLanding {
  u16 at, return_pc;  ///< the latter from the block's pc
};
struct StoredTick {
  u16 field, site : 15, spilled : 1;
};
struct StoredCopy {
  u16 pc, cache, body_end, lengths, insn_count, guest_bytes;
};

/// A record's parts.
struct StoredBlock {
  wire::TranslationRecord* record;
  StoredShape* shape;
  StoredSite* sites;
  StoredRange* ranges;
  StoredLink* links;
  StoredMiss* misses;
  StoredLanding* landings;
  StoredTick* ticks;
  StoredCopy* copies;
  InsnLengths* lengths;
  u16* absolutes;
  u16* site_fields;
  u8* code;
  u8* guest_code;  ///< of the block
  u8* range_code;
  u8* end;

  /// Finds the parts of the record in `room`, whose shape is there already.
  explicit StoredBlock(u8* room);
  u64 bytes() const { return static_cast<u64>(end - reinterpret_cast<u8*>(record)); }
};

/// Whether all pages of [begin, end) are steady (is_steady_code); `known` is one that is.
bool all_steady(GuestAddr begin, GuestAddr end, GuestAddr known);

}  // namespace detrec::guest::translate
