#include "trace/guest/translate/page_protection.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::translate {
namespace {

constexpr int kProtWrite = 2;

/// After so many write faults a page's blocks are checked instead of protected.
constexpr u16 kVolatileAfter = 16;

/// A page through which the guest can write code of another page (the same file mapped twice).
struct Alias {
  GuestAddr page;  ///< write-protected
  GuestAddr code;
};
constexpr u64 kMaxAliases = 1u << 20;
constexpr int kMaxAliasesOfPage = 16;

struct Protection {
  StableArray<Alias> aliases;
  u64 protected_pages = 0;  ///< pages with Page::write_protected, aliases included
};

Protection& protection_state() {
  static Protection instance;
  if (instance.aliases.capacity() == 0) instance.aliases.reserve(kMaxAliases);
  return instance;
}

void set_kernel_protection(GuestAddr page, int prot) {
  raw_syscall(__NR_mprotect, page, kPageSize, memory::kernel_protection(static_cast<u32>(prot)));
}

void protect(GuestAddr page, int prot) {
  Page& p = block_index().make_page(page);
  if (p.write_protected) return;
  set_kernel_protection(page, prot & ~kProtWrite);
  p.write_protected = true;
  memory::forget_quiet_page();
  ++protection_state().protected_pages;
}

void unprotect(Page& p) {
  if (!p.write_protected) return;
  p.write_protected = false;
  --protection_state().protected_pages;
  int prot = memory::protection(p.number * kPageSize);
  if (prot >= 0) set_kernel_protection(p.number * kPageSize, prot);
}

/// What is kept of the page may be of use again.
void look_again(Page& p) {
  p.seen_record = 0;
  p.seen_old = false;
}

void drop_blocks(Page& p) {
  look_again(p);
  // drop_block edits the lists: take the first until none is left.
  for (u32& head : p.region_head) {
    while (head != kNone) drop_block(block_index().block(head));
  }
  while (p.page2_head != kNone) drop_block(block_index().block(p.page2_head));
}

/// Drops the code of pages that `page` aliases.
void drop_aliased(GuestAddr page) {
  StableArray<Alias>& aliases = protection_state().aliases;
  for (u64 i = 0; i < aliases.size();) {
    if (aliases[i].page != page) {
      ++i;
      continue;
    }
    if (Page* code = block_index().page(aliases[i].code)) drop_blocks(*code);
    aliases[i] = aliases[aliases.size() - 1];
    aliases.resize(aliases.size() - 1);
  }
}

template <class F>
void for_each_known_page(GuestAddr begin, GuestAddr end, F f) {
  // By number: the last page's end is no address.
  for (u64 n = begin / kPageSize; n <= (end - 1) / kPageSize; ++n) {
    if (Page* p = block_index().page(n * kPageSize)) f(*p);
  }
}

/// Calls f for the pages of [begin, end) that the index knows. For ranges larger than the index, walks the
/// index instead.
template <class F>
void for_each_page(GuestAddr begin, GuestAddr end, F f) {
  if (begin >= end) return;
  u64 wanted = (end - begin) / kPageSize;
  if (wanted <= block_index().page_count()) {
    for_each_known_page(begin, end, f);
    return;
  }
  for (u64 i = 1; i < block_index().page_count(); ++i) {
    Page& p = block_index().page_by_index(i);
    GuestAddr address = p.number * kPageSize;
    if (address >= page_down(begin) && address < end) f(p);
  }
}

}  // namespace

void protect_code_page(Turn&, GuestAddr address) {
  GuestAddr page = page_down(address);
  const memory::Mapping* m = memory::find(page);
  if (m == nullptr) return;
  if ((m->prot & kProtWrite) != 0) protect(page, static_cast<int>(m->prot));
  GuestAddr found[kMaxAliasesOfPage];
  int n = memory::writable_aliases(page, found, kMaxAliasesOfPage);
  for (int i = 0; i < n; ++i) {
    protect(found[i], memory::protection(found[i]));
    StableArray<Alias>& aliases = protection_state().aliases;
    bool known = false;
    for (const Alias& a : aliases) known = known || (a.page == found[i] && a.code == page);
    if (!known) aliases.push({found[i], page});
  }
}

void unprotect_all(Turn&) {
  for (u64 i = 1; i < block_index().page_count(); ++i) unprotect(block_index().page_by_index(i));
  protection_state().aliases.resize(0);
}

void invalidate(Turn&, GuestAddr begin, GuestAddr end) {
  for_each_page(begin, end, [](Page& p) {
    look_again(p);
    if (p.block_count != 0) {
      drop_blocks(p);
      ++statistics().invalidations;
    }
    if (p.write_protected) {
      drop_aliased(p.number * kPageSize);
      unprotect(p);
    }
    p.write_faults = 0;
    p.is_volatile = false;
  });
}

bool has_code(GuestAddr begin, GuestAddr end) {
  bool found = false;
  for_each_page(begin, end, [&found](Page& p) { found = found || p.block_count != 0; });
  return found;
}

bool on_write_fault(Turn&, GuestAddr address) {
  Page* p = block_index().page(address);
  if (p == nullptr || !p->write_protected) return false;
  if ((memory::protection(address) & kProtWrite) == 0) return false;
  drop_aliased(page_down(address));
  drop_blocks(*p);
  unprotect(*p);
  ++statistics().invalidations;
  if (++p->write_faults >= kVolatileAfter) p->is_volatile = true;
  return true;
}

void before_write(Turn& turn, GuestAddr begin, GuestAddr end) {
  if (protection_state().protected_pages == 0 || begin >= end) return;
  for_each_page(begin, end, [&turn](Page& p) {
    if (p.write_protected) on_write_fault(turn, p.number * kPageSize);
  });
}

void on_mapping_changed(Turn& turn, GuestAddr begin, GuestAddr end) { invalidate(turn, begin, end); }

}  // namespace detrec::guest::translate
