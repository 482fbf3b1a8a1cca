#include "trace/guest/translate/page_loader.h"

#include "trace/guest/base/probe.h"
#include "trace/guest/process.h"
#include "trace/guest/translate/block_translator.h"
#include "trace/guest/translate/translation_store.h"

namespace detrec::guest::translate {
namespace {

constexpr int kMostBlocks = 512;
constexpr u64 kMostBytes = 256 * 1024;
alignas(wire::kTranslationUnit) u8 fetched[kMostBytes];
static_assert(kMostBytes <= kMaxPageCode);

/// Where the code of the page's instructions has been put by the load that is going on.
struct PlacedInsns {
  u32 cache[kPageSize];
  u32 load[kPageSize];  ///< number of the load that `cache` is of
  u32 current;
};
constinit PlacedInsns placed_insns{};

struct PlacedBlock {
  const u8* record;
  u32 begin;
  u32 first_site;
};

/// What one load needs, and too much for a stack: the program's first blocks are loaded on what the kernel
/// gave it, which may be little.
struct Room {
  u8* records[kMostBlocks];
  PlacedBlock placed[kMostBlocks];
  u8 page[kPageSize];   ///< what the guest's memory says now
  u8 other[kPageSize];  ///< the same of code elsewhere
};
constinit Room room{};

bool same_bytes(const u8* a, const u8* b, u64 n) {
  for (; n >= 8; n -= 8, a += 8, b += 8) {
    u64 x, y;
    __builtin_memcpy(&x, a, 8);
    __builtin_memcpy(&y, b, 8);
    if (x != y) return false;
  }
  for (; n != 0; --n) {
    if (*a++ != *b++) return false;
  }
  return true;
}

/// Eight bytes at a time; up to seven behind either end are touched.
void copy_words(u64 to, const u8* from, u64 n) {
  auto* out = reinterpret_cast<u8*>(to);
  for (u64 i = 0; i < n; i += 8) __builtin_memcpy(out + i, from + i, 8);
}

void add_to(u64 field, u32 n) {
  u32 v;
  __builtin_memcpy(&v, reinterpret_cast<const void*>(field), sizeof v);
  v += n;
  __builtin_memcpy(reinterpret_cast<void*>(field), &v, sizeof v);
}

class PageLoader {
 public:
  PageLoader(Page& page, CacheAddr at, CacheAddr cold)
      : page_(page), address_(page.number * kPageSize), next_(static_cast<u32>(raw(at))), cold_(cold) {
    ++placed_insns.current;
  }

  u32 load(u8* const* records, int count);
  CacheAddr end() const { return static_cast<CacheAddr>(next_); }
  CacheAddr cold_end() const { return cold_.here(); }

 private:
  bool is_current(const StoredBlock& block) const;
  bool says(GuestAddr begin, const u8* bytes, u64 n) const;
  void place(const StoredBlock& block);
  void place_code(const StoredBlock& block, u32 begin, u32 first_site);
  void enter(const StoredBlock& block, u32 begin);
  void note_insns(const StoredBlock& block, u32 begin);
  void bind(const PlacedBlock& placed);
  void bind_links(const StoredBlock& block, u32 begin);
  CacheAddr find(GuestAddr target) const;

  Page& page_;
  GuestAddr address_;
  u32 next_;
  Emitter cold_;
  u32 count_ = 0;
};

/// The oldest first: that is the order in which they were translated. What is there already was translated by
/// this process, or was kept by two.
u32 PageLoader::load(u8* const* records, int count) {
  if (count == 0 || !read_guest(room.page, address_, kPageSize)) return 0;
  for (int i = count; i-- > 0;) {
    StoredBlock block(records[i]);
    if (!BlockIndex::starts_insn(&page_, block.record->pc) && is_current(block)) place(block);
  }
  for (u32 i = 0; i < count_; ++i) bind(room.placed[i]);
  return count_;
}

bool PageLoader::says(GuestAddr begin, const u8* bytes, u64 n) const {
  if (begin >= address_ && begin + n <= address_ + kPageSize)
    return same_bytes(room.page + (begin - address_), bytes, n);
  return n <= sizeof room.other && all_steady(begin, begin + n, address_) &&
         read_guest(room.other, begin, n) && same_bytes(room.other, bytes, n);
}

/// Whether the guest's memory says everything that the block was made from.
bool PageLoader::is_current(const StoredBlock& block) const {
  const StoredShape& shape = *block.shape;
  if (!says(block.record->pc, block.guest_code, shape.guest_bytes)) return false;
  const u8* bytes = block.range_code;
  for (u32 i = 0; i < shape.ranges; ++i) {
    const StoredRange& r = block.ranges[i];
    if (!says(r.begin, bytes, r.length)) return false;
    bytes += r.length;
  }
  return true;
}

void PageLoader::place(const StoredBlock& block) {
  u32 begin = next_, first_site = block_index().site_count();
  place_code(block, begin, first_site);
  enter(block, begin);
  for (u32 i = 0; i < block.shape->sites; ++i) {
    const StoredSite& s = block.sites[i];
    block_index().add_site(
        {s.pc, s.cache == 0 ? 0 : begin + s.cache, s.stub, 0, static_cast<SiteKind>(s.kind)});
  }
  ++statistics().blocks_loaded;
  statistics().instructions_loaded += block.shape->insn_count;
  room.placed[count_++] = {reinterpret_cast<const u8*>(block.record), begin, first_site};
}

void PageLoader::place_code(const StoredBlock& block, u32 begin, u32 first_site) {
  constexpr u32 kAlignment = 16;
  constexpr u8 kTrap = 0xcc;
  const StoredShape& shape = *block.shape;
  copy_words(begin, block.code, shape.code_bytes);
  for (u32 i = 0; i < shape.absolutes; ++i) add_to(begin + block.absolutes[i], 0 - begin);
  for (u32 i = 0; i < shape.site_fields; ++i) add_to(begin + block.site_fields[i], first_site);
  u32 end = begin + shape.code_bytes;
  next_ = (end + kAlignment - 1) & ~(kAlignment - 1);
  for (u32 at = end; at < next_; ++at) *reinterpret_cast<u8*>(u64{at}) = kTrap;
}

/// Makes the block and its copies known.
void PageLoader::enter(const StoredBlock& block, u32 begin) {
  const StoredShape& shape = *block.shape;
  u32 first_insn = block_index().insn_count();
  block_index().add_insns(block.lengths, shape.lengths);
  Block b{};
  b.pc = block.record->pc;
  b.cache_begin = begin;
  b.body = begin + shape.body;
  b.body_end = begin + shape.body_end;
  b.insns = first_insn;
  b.insn_count = shape.insn_count;
  b.guest_bytes = shape.guest_bytes;
  block_index().add_block(b, page_);
  note_insns(block, b.body);
  for (u32 i = 0; i < shape.copies; ++i) {
    const StoredCopy& c = block.copies[i];
    Block copy{};
    copy.pc = b.pc + c.pc;
    copy.cache_begin = copy.body = begin + c.cache;
    copy.body_end = begin + c.body_end;
    copy.insns = first_insn + c.lengths;
    copy.insn_count = c.insn_count;
    copy.guest_bytes = c.guest_bytes;
    block_index().add_copy_block(copy);
  }
}

void PageLoader::note_insns(const StoredBlock& block, u32 body) {
  u64 at = block.record->pc - address_;
  for (u32 i = 0; i < block.shape->insn_count; ++i) {
    placed_insns.cache[at] = body;
    placed_insns.load[at] = placed_insns.current;
    at += block.lengths[i].guest;
    body += block.lengths[i].cache;
  }
}

CacheAddr PageLoader::find(GuestAddr target) const {
  u64 at = target - address_;
  if (at < kPageSize && placed_insns.load[at] == placed_insns.current)
    return static_cast<CacheAddr>(placed_insns.cache[at]);
  return block_index().find(target);
}

void PageLoader::bind(const PlacedBlock& placed) {
  StoredBlock block(const_cast<u8*>(placed.record));
  const StoredShape& shape = *block.shape;
  u32 begin = placed.begin;
  auto at = [begin](u32 offset) { return static_cast<CacheAddr>(begin + offset); };
  bind_links(block, begin);
  for (u32 i = 0; i < shape.ticks; ++i) {
    const StoredTick& t = block.ticks[i];
    Emitter::patch_rel32(at(t.field), raw(cold_.here()));
    tick_stub(cold_, placed.first_site + t.site, t.spilled != 0);
  }
  for (u32 i = 0; i < shape.misses; ++i) {
    const StoredMiss& m = block.misses[i];
    Emitter::patch_rel32(at(m.field), raw(cold_.here()));
    miss_stub(cold_, placed.first_site + m.site, m.exit);
  }
  GuestAddr pc = block.record->pc;
  for (u32 i = 0; i < shape.landings; ++i) land(pc + block.landings[i].return_pc, at(block.landings[i].at));
  if (shape.has_entry != 0 && pc < 0x8000'0000) land(pc, at(0));
}

void PageLoader::bind_links(const StoredBlock& block, u32 begin) {
  GuestAddr pc = block.record->pc;
  for (u32 i = 0; i < block.shape->links; ++i) {
    GuestAddr target = block.links[i].where >> 16;
    auto field = static_cast<CacheAddr>(begin + (block.links[i].where & 0xffff));
    CacheAddr found = find(target);
    u32 site = block_index().add_site({target, static_cast<u32>(raw(field)), 0, 0, SiteKind::kLink});
    if (found != CacheAddr::kNone) {
      Emitter::patch_rel32(field, raw(found));
      if (target < pc || target >= pc + block.shape->guest_bytes) block_index().add_incoming(site);
      continue;
    }
    block_index().site(site).stub = static_cast<u32>(raw(cold_.here()));
    Emitter::patch_rel32(field, raw(cold_.here()));
    link_stub(cold_, site);
  }
}

}  // namespace

u32 load_page(u32 chain, Page& page, CacheAddr& at, CacheAddr& cold) {
  int n = fetch_records(chain, page, fetched, kMostBytes - 64, room.records, kMostBlocks);
  if (n == 0) return 0;
  PageLoader loader(page, at, cold);
  u32 loaded = loader.load(room.records, n);
  at = loader.end();
  cold = loader.cold_end();
  return loaded;
}

}  // namespace detrec::guest::translate
