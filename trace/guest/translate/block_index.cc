#include "trace/guest/translate/block_index.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"

namespace detrec::guest::translate {
namespace {

constexpr u64 kMaxBlocks = 4u << 20;
constexpr u64 kMaxInsns = 48u << 20;
constexpr u64 kMaxSites = 16u << 20;
constexpr u64 kMaxPages = 1u << 18;
constexpr u64 kPageSlots = 1u << 19;
constexpr u64 kMaxCopies = 256u << 20;

u64 region_of(GuestAddr pc) { return (pc & (kPageSize - 1)) / kRegionBytes; }

}  // namespace

void BlockIndex::start() {
  blocks_.reserve(kMaxBlocks);
  insns_.reserve(kMaxInsns);
  sites_.reserve(kMaxSites);
  context().sites = arg(sites_.begin());
  pages_.reserve(kMaxPages);
  copies_.reserve(kMaxCopies);
  page_slots_ = static_cast<u32*>(engine_reserve(kPageSlots * sizeof(u32)));
  clear();
}

void BlockIndex::clear() {
  blocks_.resize(0);
  insns_.resize(0);
  sites_.resize(0);
  pages_.resize(0);
  copies_.resize(0);
  constexpr u64 kDontNeed = 4;
  raw_syscall(__NR_madvise, arg(page_slots_), kPageSlots * sizeof(u32), kDontNeed);
  blocks_.push(Block{});
  insns_.push(InsnLengths{});
  sites_.push(Site{});
  pages_.push(Page{});
}

bool BlockIndex::has_room(u64 blocks, u64 insns, u64 sites, u64 pages) const {
  return blocks_.size() + blocks <= kMaxBlocks && insns_.size() + insns <= kMaxInsns &&
         sites_.size() + sites <= kMaxSites && pages_.size() + pages <= kMaxPages &&
         copies_.size() + 4096 <= kMaxCopies;
}

// Neighbouring pages get neighbouring slots: code is clustered, and so are then the pages of this table that
// are touched.
u64 BlockIndex::slot(u64 number) const { return (number ^ number >> 19) % kPageSlots; }

u32 BlockIndex::find_page(u64 number) const {
  for (u64 s = slot(number);; s = (s + 1) % kPageSlots) {
    u32 p = page_slots_[s];
    if (p == kNone || pages_[p].number == number) return p;
  }
}

Page* BlockIndex::page(GuestAddr address) {
  u32 p = find_page(address / kPageSize);
  return p == kNone ? nullptr : &pages_[p];
}

Page& BlockIndex::make_page(GuestAddr address) {
  u64 number = address / kPageSize;
  if (u32 p = find_page(number); p != kNone) return pages_[p];
  Page fresh{};
  fresh.number = number;
  u64 s = slot(number);
  while (page_slots_[s] != kNone) s = (s + 1) % kPageSlots;
  page_slots_[s] = static_cast<u32>(pages_.size());
  return pages_.push(fresh);
}

CacheAddr BlockIndex::find(GuestAddr pc) const {
  u32 p = find_page(pc / kPageSize);
  if (p == kNone) return CacheAddr::kNone;
  const Page& page = pages_[p];
  u64 o = pc & (kPageSize - 1);
  if ((page.starts[o / 64] >> (o % 64) & 1) == 0) return CacheAddr::kNone;
  // A block is shorter than two regions, so it starts in this region or one of the two before.
  u64 last = region_of(pc);
  for (u64 r = last < 2 ? 0 : last - 2; r <= last; ++r) {
    for (u32 b = page.region_head[r]; b != kNone; b = blocks_[b].next_in_region) {
      const Block& block = blocks_[b];
      if (block.is_volatile || pc < block.pc || pc >= block.pc + block.guest_bytes) continue;
      if (CacheAddr found = insn_cache(b, pc); found != CacheAddr::kNone) return found;
    }
  }
  return CacheAddr::kNone;
}

CacheAddr BlockIndex::insn_cache(u32 index, GuestAddr pc) const {
  const Block& block = blocks_[index];
  GuestAddr at = block.pc;
  u32 cache = block.body;
  for (u32 i = block.insns; at <= pc && i < block.insns + block.insn_count; ++i) {
    if (at == pc) return static_cast<CacheAddr>(cache);
    at += insns_[i].guest;
    cache += insns_[i].cache;
  }
  return CacheAddr::kNone;
}

Block* BlockIndex::block_at(GuestAddr pc) {
  u32 p = find_page(pc / kPageSize);
  if (p == kNone) return nullptr;
  for (u32 b = pages_[p].region_head[region_of(pc)]; b != kNone; b = blocks_[b].next_in_region) {
    if (blocks_[b].pc == pc) return &blocks_[b];
  }
  return nullptr;
}

const Block* BlockIndex::find_by_cache(u64 cache, GuestAddr& pc, u64& insn_cache) const {
  // Blocks are emitted at rising cache addresses.
  u64 lo = 1, hi = blocks_.size();
  while (lo < hi) {
    u64 mid = (lo + hi) / 2;
    if (blocks_[mid].cache_begin <= cache) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  if (lo == 1) return nullptr;
  const Block& block = blocks_[lo - 1];
  if (cache >= block.body_end) return nullptr;
  pc = block.pc;
  insn_cache = block.body;
  for (u32 i = block.insns; i < block.insns + block.insn_count; ++i) {
    u64 next = insn_cache + insns_[i].cache;
    if (cache < next) break;
    if (i + 1u == block.insns + block.insn_count) break;
    insn_cache = next;
    pc += insns_[i].guest;
  }
  return &block;
}

void BlockIndex::mark_starts(const Block& block, Page& page, bool on) {
  GuestAddr at = block.pc;
  for (u32 i = block.insns; i < block.insns + block.insn_count; ++i) {
    u64 o = at & (kPageSize - 1);
    u64 bit = 1ull << (o % 64);
    u64& word = page.starts[o / 64];
    word = on ? word | bit : word & ~bit;
    at += insns_[i].guest;
  }
}

u32 BlockIndex::add_block(const Block& block) { return add_block(block, make_page(block.pc)); }

u32 BlockIndex::add_block(const Block& block, Page& first) {
  u32 index = static_cast<u32>(blocks_.size());
  Block& b = blocks_.push(block);
  u32& head = first.region_head[region_of(b.pc)];
  b.next_in_region = head;
  head = index;
  ++first.block_count;
  GuestAddr last = b.pc + b.guest_bytes - 1;
  if (last / kPageSize != b.pc / kPageSize) {
    Page& second = make_page(last);
    b.next_in_page2 = second.page2_head;
    second.page2_head = index;
    ++second.block_count;
  }
  if (!b.is_volatile) mark_starts(b, first, true);
  return index;
}

void BlockIndex::add_incoming(u32 index) {
  Site& s = sites_[index];
  Page& p = make_page(s.pc);
  s.next_incoming = p.incoming;
  p.incoming = index;
}

namespace {
/// Takes `index` out of the singly linked list at `head`, linked through `next`.
template <class Next>
bool unchain(u32& head, u32 index, Next next) {
  for (u32* at = &head; *at != kNone; at = &next(*at)) {
    if (*at == index) {
      *at = next(index);
      return true;
    }
  }
  return false;
}
}  // namespace

void BlockIndex::kill(Block& block, void (*unlink)(Site&, void*), void* arg) {
  u32 index = static_cast<u32>(&block - blocks_.begin());
  Page& first = make_page(block.pc);
  unchain(first.region_head[region_of(block.pc)], index,
          [this](u32 i) -> u32& { return blocks_[i].next_in_region; });
  --first.block_count;
  GuestAddr last = block.pc + block.guest_bytes - 1;
  if (last / kPageSize != block.pc / kPageSize) {
    Page& second = make_page(last);
    unchain(second.page2_head, index, [this](u32 i) -> u32& { return blocks_[i].next_in_page2; });
    --second.block_count;
  }
  if (!block.is_volatile) mark_starts(block, first, false);
  for (u32* at = &first.incoming; *at != kNone;) {
    Site& s = sites_[*at];
    if (s.pc >= block.pc && s.pc < block.pc + block.guest_bytes) {
      *at = s.next_incoming;
      unlink(s, arg);
    } else {
      at = &s.next_incoming;
    }
  }
  block.dead = true;
}

u32 BlockIndex::add_copy(const u8* bytes, u64 n) {
  u32 at = static_cast<u32>(copies_.size());
  copies_.resize(at + n);
  memcpy(&copies_[at], bytes, n);
  return at;
}

}  // namespace detrec::guest::translate
