#include "trace/guest/memory/guest_map.h"

#include <linux/mman.h>

#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {

const Mapping* find(GuestAddr address) {
  AddressSpace& space = address_space();
  const Region* r = space.map.at_or_after(address);
  if (r == nullptr || r->begin <= address) return r;
  if (!r->grows_down) return nullptr;
  sync_growth(page_down(address), page_down(address) + kPageSize);
  return space.map.find(address);
}

int protection(GuestAddr address) {
  const Mapping* m = find(address);
  return m == nullptr ? -1 : static_cast<int>(m->prot);
}

void for_each(void (*visit)(const Mapping&, const char* path, void* arg), void* arg) {
  AddressSpace& space = address_space();
  sync_growth(0, kUserEnd);
  for (const Region* m = space.map.at_or_after(0); m != nullptr; m = space.map.at_or_after(m->end)) {
    const char* path = space.names.text(m->name);
    // The kernel names these by address, whatever was mapped there (fs/proc/task_mmu.c).
    if (!m->is_file() && m->begin < space.brk && m->end > space.brk_start) path = "[heap]";
    if (!m->is_file() && m->begin <= space.stack_start && m->end >= space.stack_start) path = "[stack]";
    visit(*m, path, arg);
  }
}

int writable_aliases(GuestAddr page, GuestAddr* out, int max) {
  const RegionMap& map = address_space().map;
  if (map.shared_writable() == 0) return 0;
  const Region* own = map.find(page);
  if (own == nullptr || !own->is_file() || !map.may_share_writable(own->device, own->inode)) return 0;
  u64 offset = own->file_offset + (page_down(page) - own->begin);
  int found = 0;
  for (const Region* m = map.at_or_after(0); m != nullptr && found < max; m = map.at_or_after(m->end)) {
    if (!m->shared || (m->prot & PROT_WRITE) == 0 || m->inode != own->inode || m->device != own->device)
      continue;
    if (offset < m->file_offset || offset - m->file_offset >= m->bytes()) continue;
    GuestAddr alias = m->begin + (offset - m->file_offset);
    if (alias != page_down(page)) out[found++] = alias;
  }
  return found;
}

bool touches_engine(GuestAddr begin, GuestAddr end) {
  if (begin >= end) return false;
  if (is_engine_range(begin, end)) return true;
  AddressSpace& space = address_space();
  if (space.foreign.overlapping(begin, end) != nullptr) return true;
  if (!touches_table(begin, end)) return false;
  // Of the table, only what the guest really mapped over it is the guest's.
  GuestAddr at = begin > kTableBase ? begin : kTableBase, high = end < kTableEnd ? end : kTableEnd;
  while (at < high) {
    const Region* m = space.map.find(at);
    if (m == nullptr || m->has(kTableBacked)) return true;
    at = m->end;
  }
  return false;
}

void for_each_table_part(void (*visit)(GuestAddr begin, GuestAddr end, void* arg), void* arg) {
  const RegionMap& map = address_space().map;
  GuestAddr at = kTableBase;
  for (const Region* m = map.at_or_after(at); m != nullptr && m->begin < kTableEnd;
       m = map.at_or_after(m->end)) {
    if (m->has(kTableBacked)) continue;
    if (m->begin > at) visit(at, m->begin, arg);
    at = m->end;
  }
  if (at < kTableEnd) visit(at, kTableEnd, arg);
}

void set_brk_start(GuestAddr start) {
  AddressSpace& space = address_space();
  space.brk_start = space.brk = start;
}

GuestAddr stack_top() { return kStackEnd; }
void set_stack_start(GuestAddr sp) { address_space().stack_start = sp; }
u64 stack_limit() { return address_space().stack_limit; }
GuestAddr default_brk_start() { return kHeapBegin; }

void set_linker_range(GuestAddr begin, GuestAddr end) {
  address_space().linker_begin = begin;
  address_space().linker_end = end;
}

Totals totals() {
  sync_growth(0, kUserEnd);
  const RegionMap& map = address_space().map;
  Totals t{map.total_bytes(), map.peak_bytes(), map.data_bytes(), 0, 0};
  for (const Region* m = map.at_or_after(0); m != nullptr; m = map.at_or_after(m->end)) {
    if (m->grows_down) t.stack += m->bytes();
    if ((m->prot & (PROT_EXEC | PROT_WRITE)) == PROT_EXEC) t.code += m->bytes();
  }
  return t;
}

void after_fork(Turn&) {
  if (!address_space().keeps_from_children) return;
  RegionMap& map = address_space().map;
  for (const Region* m = map.at_or_after(0); m != nullptr;) {
    GuestAddr begin = m->begin, end = m->end;
    if (m->has(kDontFork)) map.erase(begin, end);
    m = map.at_or_after(end);
  }
}

}  // namespace detrec::guest::memory
