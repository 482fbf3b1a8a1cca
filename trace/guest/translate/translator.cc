#include "trace/guest/translate/translator.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"
#include "trace/guest/run/exits.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/translate/block_translator.h"
#include "trace/guest/translate/page_loader.h"
#include "trace/guest/translate/page_protection.h"
#include "trace/guest/translate/target_check.h"
#include "trace/guest/translate/translation_store.h"

namespace detrec::guest::translate {
namespace {

constexpr u64 kProtRead = 1, kProtWrite = 2, kProtExec = 4;
constexpr u64 kMapPrivateAnonFixed = 0x02 | 0x20 | 0x10'0000, kMapNoReserve = 0x4000;
constexpr u64 kMadvDontNeed = 4, kMadvHugePage = 14;

/// Stubs, which run once or rarely, lie apart from the bodies.
constexpr u64 kColdBegin = kCacheBegin + (kCacheEnd - kCacheBegin) / 8 * 5;
constexpr u64 kColdEnd = kCheckPage;
/// Room that a block with all its stubs never exceeds.
constexpr u64 kMaxBlockCache = 64 * 1024;

// AddressSanitizer's low shadow lies where the table entries of pcs 0xffdc00-0x4ffe000 would be (layout.h).
constexpr u64 kTableHoleBegin = 0x7fff'7000, kTableHoleEnd = 0x8fff'8000;

/// Entries of indirect transfers to pcs above 2 GiB: direct-mapped; a collision costs a new entry.
struct HighEntry {
  GuestAddr pc;
  u32 landing;
};
constexpr u64 kHighEntries = 1u << 16;

struct Cache {
  u64 next = kCacheBegin + kStepArea;
  u64 cold = kColdBegin;
  u64 epoch = 1;
  HighEntry* high = nullptr;
};

Cache& cache() {
  static Cache instance;
  return instance;
}

HighEntry& high_entry(GuestAddr pc) { return cache().high[(pc * 0x9e3779b97f4a7c15ull) >> (64 - 16)]; }

void map_fixed(u64 begin, u64 end, u64 prot) {
  SysResult r =
      raw_syscall(__NR_mmap, begin, end - begin, prot, kMapPrivateAnonFixed | kMapNoReserve, ~0ull, 0);
  if (failed(r) || static_cast<u64>(r) != begin) {
    DETREC_PANIC("cannot reserve the engine's memory at 0x%lx: error %ld", begin, -r);
  }
}

bool page_is_volatile(GuestAddr address) {
  Page* p = block_index().page(address);
  return p != nullptr && p->is_volatile;
}

Mode mode_for(GuestAddr pc) {
  return page_is_volatile(pc) || page_is_volatile(pc + kMaxBlockBytes) ? Mode::kVolatile : Mode::kNormal;
}

void flush_when_full(Turn& turn) {
  bool full = cache().next + kMaxBlockCache > kColdBegin || cache().cold + kMaxBlockCache > kColdEnd;
  if (full || block_index().nearly_full()) flush(turn);
}

/// Keeps what `t` has emitted. Bodies begin aligned; the gap traps should anything ever run into it.
void take(const BlockTranslator& t) {
  constexpr u64 kAlignment = 16;
  constexpr u8 kTrap = 0xcc;
  u64 end = raw(t.end());
  cache().next = (end + kAlignment - 1) & ~(kAlignment - 1);
  memset(reinterpret_cast<void*>(end), kTrap, cache().next - end);
  cache().cold = raw(t.cold_end());
}

/// Small programs pay for few small pages; once a program proves large, what it touches from then on comes in
/// huge ones.
void use_huge_pages_when_large() {
  constexpr u64 kLarge = 1500;  // blocks
  static bool done = false;
  if (done || block_index().block_total() < kLarge) return;
  done = true;
  raw_syscall(__NR_madvise, kCacheBegin, kCacheEnd - kCacheBegin, kMadvHugePage);
  raw_syscall(__NR_madvise, kTableBase, kTableHoleBegin - kTableBase, kMadvHugePage);
  raw_syscall(__NR_madvise, kTableHoleEnd, kTableEnd - kTableHoleEnd, kMadvHugePage);
}

/// Loads what is kept of the page. True when that is something.
bool load(u32 chain, Page& page) {
  bool room = cache().next + kMaxPageCode <= kColdBegin && cache().cold + kMaxPageStubs <= kColdEnd;
  if (!room || !block_index().has_room(kMaxPageBlocks, kMaxPageInsns, kMaxPageSites, 2)) return false;
  i64 started = syscall::host_monotonic_ns();
  auto at = static_cast<CacheAddr>(cache().next), cold = static_cast<CacheAddr>(cache().cold);
  u32 loaded = load_page(chain, page, at, cold);
  cache().next = raw(at);
  cache().cold = raw(cold);
  if (loaded != 0) statistics().load_ns += static_cast<u64>(syscall::host_monotonic_ns() - started);
  return loaded != 0;
}

/// Makes code for the block at pc. kNone with `fault` when there is none.
CacheAddr translate(Turn& turn, GuestAddr pc, bool indirect_entry_wanted, FetchFault& fault,
                    CacheAddr* landing) {
  flush_when_full(turn);
  use_huge_pages_when_large();
  Mode mode = mode_for(pc);
  if (mode == Mode::kVolatile) indirect_entry_wanted = false;
  u32 chain = 0;
  Page* kept = nullptr;
  if (mode == Mode::kNormal && find_chain(pc, chain)) {
    kept = &block_index().make_page(pc);
    if (load(chain, *kept)) {
      if (CacheAddr body = block_index().find(pc); body != CacheAddr::kNone) return body;
    }
  }
  i64 started = syscall::host_monotonic_ns();
  if (mode == Mode::kNormal) protect_code_page(turn, pc);
  u64 begin = cache().next, cold_begin = cache().cold;
  BlockTranslator t(static_cast<CacheAddr>(begin), static_cast<CacheAddr>(cold_begin), pc, mode);
  if (!t.run(indirect_entry_wanted, fault)) return CacheAddr::kNone;
  take(t);
  Block* block = block_index().block_at(pc);
  if (mode == Mode::kNormal) {
    GuestAddr last = pc + block->guest_bytes - 1;
    if (page_down(last) != page_down(pc)) protect_code_page(turn, last);
  } else {
    u8 bytes[kMaxBlockBytes + kMaxInsnLength];
    if (!read_guest(bytes, pc, block->guest_bytes)) return CacheAddr::kNone;
    block->copy = block_index().add_copy(bytes, block->guest_bytes);
  }
  if (indirect_entry_wanted && landing != nullptr) *landing = t.entry();
  if (kept != nullptr) store_block(chain, *kept, t);
  wire::EngineStats& s = statistics();
  ++s.blocks_translated;
  s.translate_ns += static_cast<u64>(syscall::host_monotonic_ns() - started);
  s.guest_instructions += block->insn_count;
  s.guest_bytes += block->guest_bytes;
  s.cache_bytes += cache().next - begin + cache().cold - cold_begin;
  return t.body();
}

/// A volatile block still says what the guest's memory says?
bool unchanged(const Block& block) {
  u8 now[kMaxBlockBytes + kMaxInsnLength];
  return read_guest(now, block.pc, block.guest_bytes) &&
         memcmp(now, block_index().copies(block.copy), block.guest_bytes) == 0;
}

}  // namespace

void start() {
  map_fixed(kCacheBegin, kCacheEnd, kProtRead | kProtWrite | kProtExec);
  map_fixed(kTableBase, kTableEnd, kProtRead | kProtWrite);
  open_check_gaps();
  cache().high = static_cast<HighEntry*>(engine_reserve(kHighEntries * sizeof(HighEntry)));
  block_index().start();
  start_stores();
}

u64 epoch() { return cache().epoch; }

void set_table(GuestAddr pc, CacheAddr landing) {
  u32* entry = reinterpret_cast<u32*>(kTableBase + 4 * pc);
  u32 value = static_cast<u32>(raw(landing));
  if (*entry != value) *entry = value;  // clearing what was never set must not touch the page
}

void land(GuestAddr pc, CacheAddr landing) {
  // One access that writes: to read first would have two page faults where the table has not been touched
  // yet.
  u32* entry = reinterpret_cast<u32*>(kTableBase + 4 * pc);
  u32 none = 0;
  asm volatile("cmpxchg %2, %0" : "+m"(*entry), "+a"(none) : "r"(static_cast<u32>(raw(landing))) : "cc");
}

CacheAddr table_entry(GuestAddr pc) {
  return static_cast<CacheAddr>(*reinterpret_cast<u32*>(kTableBase + 4 * pc));
}

CacheAddr body_of(Turn& turn, GuestAddr pc, FetchFault& fault) {
  if (CacheAddr found = block_index().find(pc); found != CacheAddr::kNone) return found;
  if (Block* block = block_index().block_at(pc); block != nullptr && block->is_volatile) {
    if (unchanged(*block)) return static_cast<CacheAddr>(block->body);
    drop_block(*block);
  }
  return translate(turn, pc, false, fault, nullptr);
}

CacheAddr indirect_entry(Turn& turn, GuestAddr pc, FetchFault& fault) {
  bool is_low = pc < 0x8000'0000;
  CacheAddr known = is_low                    ? table_entry(pc)
                    : high_entry(pc).pc == pc ? static_cast<CacheAddr>(high_entry(pc).landing)
                                              : CacheAddr::kNone;
  flush_when_full(turn);
  CacheAddr body = block_index().find(pc);
  if (known != CacheAddr::kNone && body != CacheAddr::kNone) return body;
  CacheAddr landing = CacheAddr::kNone;
  if (mode_for(pc) == Mode::kVolatile) return body_of(turn, pc, fault);  // never entered without a check
  if (body == CacheAddr::kNone) {
    body = translate(turn, pc, true, fault, &landing);
    if (body == CacheAddr::kNone) return body;
  }
  if (landing == CacheAddr::kNone && is_low) landing = table_entry(pc);
  if (landing == CacheAddr::kNone) {
    BlockTranslator t(static_cast<CacheAddr>(cache().next), static_cast<CacheAddr>(cache().cold), pc,
                      Mode::kNormal);
    t.run_entry_only(body);
    landing = t.entry();
    take(t);
  }
  if (is_low) {
    set_table(pc, landing);
  } else {
    high_entry(pc) = {pc, static_cast<u32>(raw(landing))};
  }
  return body;
}

CacheAddr high_entry_of(GuestAddr pc) {
  const HighEntry& entry = high_entry(pc);
  if (pc < 0x1'0000'0000 || entry.pc != pc) return CacheAddr::kNone;
  return offset(static_cast<CacheAddr>(entry.landing), kLandingLength);
}

namespace {
/// Whether the processor notes the instruction's address in the x87 state, where it stays visible.
bool notes_address(GuestAddr pc) {
  CodeReader reader(pc, kMaxInsnLength);
  Insn insn;
  FetchFault fault;
  return reader.decode_at(pc, insn, fault) && insn.encoding == Encoding::kLegacy &&
         insn.map == OpcodeMap::k1Byte && (insn.opcode & 0xf8) == 0xd8;
}

/// Single-step code that `locate` knows for as long as the cache lasts.
CacheAddr lasting_step_code(GuestAddr pc, FetchFault& fault) {
  BlockTranslator t(static_cast<CacheAddr>(cache().next), static_cast<CacheAddr>(cache().cold), pc,
                    Mode::kStep);
  if (!t.run(false, fault)) return CacheAddr::kNone;
  Block block{};
  block.pc = pc;
  block.cache_begin = block.body = static_cast<u32>(raw(t.body()));
  block.body_end = static_cast<u32>(raw(t.end()));
  block.insns = block_index().insn_count();
  block.insn_count = 1;
  block.guest_bytes = static_cast<u16>(t.guest_bytes());
  block_index().add_insn(t.guest_bytes(), block.body_end - block.body);
  block_index().add_copy_block(block);
  take(t);
  return t.body();
}
}  // namespace

CacheAddr step_code(Turn& turn, GuestAddr pc, FetchFault& fault) {
  flush_when_full(turn);
  if (notes_address(pc)) return lasting_step_code(pc, fault);
  constexpr u64 kStepStubs = kCacheBegin + kStepArea / 2;
  BlockTranslator t(static_cast<CacheAddr>(kCacheBegin), static_cast<CacheAddr>(kStepStubs), pc, Mode::kStep);
  if (!t.run(false, fault)) return CacheAddr::kNone;
  DETREC_CHECK(raw(t.end()) <= kStepStubs && raw(t.cold_end()) <= kCacheBegin + kStepArea);
  return t.body();
}

CacheAddr follow_link(Turn& turn, u32 index, FetchFault& fault) {
  u64 before = epoch();
  GuestAddr pc = block_index().site(index).pc;
  CacheAddr body = body_of(turn, pc, fault);
  if (body == CacheAddr::kNone || epoch() != before) return body;
  if (mode_for(pc) == Mode::kVolatile) return body;
  Site& site = block_index().site(index);
  Emitter::patch_rel32(static_cast<CacheAddr>(site.cache), raw(body));
  block_index().add_incoming(index);
  return body;
}

CacheAddr cold_room(u64 bytes) {
  if (cache().cold + bytes > kColdEnd) DETREC_PANIC("the code cache is full between two flushes");
  CacheAddr at = static_cast<CacheAddr>(cache().cold);
  cache().cold += bytes;
  return at;
}

namespace {
constexpr u64 kExitStubLength = 11 + 5;

/// Gives a link back its exit stub.
void unlink(Site& site, void*) {
  if (site.stub == 0) {
    CacheAddr stub = cold_room(kExitStubLength);
    site.stub = static_cast<u32>(raw(stub));
    Emitter e(stub);
    link_stub(e, static_cast<u32>(&site - &block_index().site(0)));
  }
  Emitter::patch_rel32(static_cast<CacheAddr>(site.cache), site.stub);
  site.next_incoming = kNone;
}
}  // namespace

void drop_block(Block& block) {
  for (u64 i = 0; i < block.guest_bytes; ++i) {
    GuestAddr pc = block.pc + i;
    if (pc < 0x8000'0000) {
      if (table_entry(pc) != CacheAddr::kNone) set_table(pc, CacheAddr::kNone);
    } else if (high_entry(pc).pc == pc) {
      high_entry(pc) = {};
    }
  }
  block_index().kill(block, unlink, nullptr);
  ++cache().epoch;
}

void flush(Turn& turn) {
  unprotect_all(turn);
  block_index().clear();
  cache().next = kCacheBegin + kStepArea;
  cache().cold = kColdBegin;
  ++cache().epoch;
  memset(cache().high, 0, kHighEntries * sizeof(HighEntry));
  memory::for_each_table_part([](GuestAddr begin, GuestAddr end,
                                 void*) { raw_syscall(__NR_madvise, begin, end - begin, kMadvDontNeed); },
                              nullptr);
}

bool locate(u64 cache_pc, CachePosition& position) {
  if (cache_pc < kCacheBegin + kStepArea) {
    // A single step: it is the instruction at the pc the step was asked for.
    position.pc = context().regs.pc;
    position.insn_cache = kCacheBegin;
  } else if (block_index().find_by_cache(cache_pc, position.pc, position.insn_cache) == nullptr) {
    return false;
  }
  CodeReader reader(position.pc);
  FetchFault fault;
  return reader.decode_at(position.pc, position.insn, fault);
}

}  // namespace detrec::guest::translate
