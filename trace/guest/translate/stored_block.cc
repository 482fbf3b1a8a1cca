#include "trace/guest/translate/stored_block.h"

#include "trace/guest/base/probe.h"
#include "trace/guest/run/exits.h"
#include "trace/guest/translate/block_translator.h"

namespace detrec::guest::translate {
namespace {

template <class T>
T* take(u8*& at, u64 n) {
  T* begin = reinterpret_cast<T*>(at);
  at += n * sizeof(T);
  return begin;
}

u32 read32(u64 at) {
  u32 v;
  memcpy(&v, reinterpret_cast<const void*>(at), sizeof v);
  return v;
}
void write32(u8* at, u32 v) { memcpy(at, &v, sizeof v); }

}  // namespace

bool all_steady(GuestAddr begin, GuestAddr end, GuestAddr known) {
  for (GuestAddr page = page_down(begin); page < end; page += kPageSize) {
    if (page != known && !is_steady_code(page)) return false;
  }
  return true;
}

StoredBlock::StoredBlock(u8* room) {
  u8* at = room;
  record = take<wire::TranslationRecord>(at, 1);
  shape = take<StoredShape>(at, 1);
  sites = take<StoredSite>(at, shape->sites);
  ranges = take<StoredRange>(at, shape->ranges);
  links = take<StoredLink>(at, shape->links);
  misses = take<StoredMiss>(at, shape->misses);
  landings = take<StoredLanding>(at, shape->landings);
  ticks = take<StoredTick>(at, shape->ticks);
  copies = take<StoredCopy>(at, shape->copies);
  lengths = take<InsnLengths>(at, shape->lengths);
  absolutes = take<u16>(at, shape->absolutes);
  site_fields = take<u16>(at, shape->site_fields);
  code = take<u8>(at, shape->code_bytes);
  guest_code = take<u8>(at, shape->guest_bytes);
  range_code = take<u8>(at, shape->range_bytes);
  end = at;
}

// What of the code read elsewhere lies in the block itself needs no range; it must be what the block was made
// from, though.
bool BlockTranslator::outside(const CodeRead::Range& r, bool& differs) const {
  if (r.begin < start_ || r.begin + r.length > start_ + bytes_) return true;
  differs = memcmp(read_.bytes(r), reader_.bytes_at(r.begin), r.length) != 0;
  return false;
}

bool BlockTranslator::describe(StoredShape& shape) const {
  if (!read_.complete() || !reader_.has(start_, bytes_)) return false;
  for (int i = 0; i < read_.count(); ++i) {
    bool differs = false;
    const CodeRead::Range& r = read_.range(i);
    if (outside(r, differs))
      ++shape.ranges, shape.range_bytes = static_cast<u16>(shape.range_bytes + r.length);
    if (differs) return false;
  }
  const Block& block = block_index().block(block_);
  shape.code_bytes = from_begin(end());
  shape.body = from_begin(body_);
  shape.body_end = from_begin(static_cast<CacheAddr>(block.body_end));
  shape.guest_bytes = static_cast<u16>(bytes_);
  shape.insn_count = count_;
  shape.has_entry = has_entry();
  shape.sites = static_cast<u16>(first_link_site_ - first_site_);
  shape.links = static_cast<u16>(link_count_);
  shape.misses = static_cast<u16>(miss_count_);
  shape.landings = static_cast<u16>(landing_count_);
  shape.ticks = static_cast<u16>(tick_count_);
  shape.copies = static_cast<u16>(copy_count_);
  shape.lengths = static_cast<u16>(insns_end_ - first_insn_);
  shape.absolutes = static_cast<u16>(absolute_count_);
  shape.site_fields = static_cast<u16>(site_field_count_);
  return true;
}

bool BlockTranslator::save(u8* room) const {
  memset(room, 0, sizeof(wire::TranslationRecord) + sizeof(StoredShape));
  auto& shape = *reinterpret_cast<StoredShape*>(room + sizeof(wire::TranslationRecord));
  constexpr u64 kUnit = wire::kTranslationUnit;
  if (raw(end()) - raw(begin_) > wire::kMaxTranslationBytes || !describe(shape)) return false;
  StoredBlock to(room);
  u64 bytes = (to.bytes() + kUnit - 1) & ~(kUnit - 1);
  if (bytes > wire::kMaxTranslationBytes) return false;
  memset(to.end, 0, bytes - to.bytes());
  to.record->bytes = static_cast<u32>(bytes);
  to.record->pc = start_;
  memcpy(to.guest_code, reader_.bytes_at(start_), bytes_);
  memcpy(&to.record->code, to.guest_code, bytes_ < 8 ? bytes_ : 8);
  save_code(to);
  return save_bindings(to) && save_ranges(to);
}

void BlockTranslator::save_code(const StoredBlock& to) const {
  u32 base = static_cast<u32>(raw(begin_));
  memcpy(to.code, reinterpret_cast<const void*>(raw(begin_)), to.shape->code_bytes);
  for (int i = 0; i < absolute_count_; ++i) {
    to.absolutes[i] = from_begin(absolutes_[i]);
    write32(to.code + to.absolutes[i], read32(raw(absolutes_[i])) + base);
  }
  for (int i = 0; i < site_field_count_; ++i) {
    to.site_fields[i] = from_begin(site_fields_[i]);
    write32(to.code + to.site_fields[i], read32(raw(site_fields_[i])) - first_site_);
  }
  memcpy(to.lengths, block_index().insns(first_insn_), to.shape->lengths * sizeof(InsnLengths));
  for (int i = 0; i < copy_count_; ++i) {
    const Block& c = block_index().block(copies_[i]);
    to.copies[i] = {static_cast<u16>(c.pc - start_),
                    from_begin(static_cast<CacheAddr>(c.body)),
                    from_begin(static_cast<CacheAddr>(c.body_end)),
                    static_cast<u16>(c.insns - first_insn_),
                    c.insn_count,
                    c.guest_bytes};
  }
}

bool BlockTranslator::save_bindings(const StoredBlock& to) const {
  for (u32 i = 0; i < to.shape->sites; ++i) {
    const Site& s = block_index().site(first_site_ + i);
    u16 cache = s.cache == 0 ? u16{0} : from_begin(static_cast<CacheAddr>(s.cache));
    to.sites[i] = {s.pc, s.stub, cache, static_cast<u16>(s.kind)};
  }
  for (int i = 0; i < link_count_; ++i) {
    if (links_[i].target >> 48 != 0) return false;
    to.links[i] = {links_[i].target << 16 | from_begin(links_[i].field)};
  }
  for (int i = 0; i < tick_count_; ++i) {
    to.ticks[i].field = from_begin(ticks_[i].field);
    to.ticks[i].site = static_cast<u16>(ticks_[i].site - first_site_) & 0x7fff;
    to.ticks[i].spilled = ticks_[i].spilled;
  }
  for (int i = 0; i < miss_count_; ++i) {
    const PendingMiss& m = misses_[i];
    to.misses[i] = {static_cast<u32>(address_of(m.exit)), from_begin(m.field),
                    static_cast<u16>(m.arg - first_site_)};
  }
  for (int i = 0; i < landing_count_; ++i)
    to.landings[i] = {from_begin(landings_[i].at), static_cast<u16>(landings_[i].return_pc - start_)};
  return true;
}

bool BlockTranslator::save_ranges(const StoredBlock& to) const {
  StoredRange* range = to.ranges;
  u8* bytes = to.range_code;
  for (int i = 0; i < read_.count(); ++i) {
    const CodeRead::Range& r = read_.range(i);
    bool differs;
    if (!outside(r, differs)) continue;
    if (!all_steady(r.begin, r.begin + r.length, page_down(start_))) return false;
    *range++ = {r.begin, r.length};
    memcpy(bytes, read_.bytes(r), r.length);
    bytes += r.length;
  }
  return all_steady(start_, start_ + bytes_, page_down(start_));
}

}  // namespace detrec::guest::translate
