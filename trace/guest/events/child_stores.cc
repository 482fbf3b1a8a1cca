#include "trace/guest/events/child_stores.h"

#include <asm/unistd_64.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/address_space.h"
#include "trace/guest/memory/guest_memory.h"

namespace detrec::guest::events {
namespace {

/// More would be more than a call's event can name (changes.cc).
constexpr u32 kMostPages = 1000;

/// Shared by the two processes while the parent waits.
struct Area {
  u32 pages;
  u32 lost;  ///< 1: there were more
  GuestAddr address[kMostPages];
  alignas(kPageSize) u8 content[kMostPages][kPageSize];
};

Area* area = nullptr;
bool is_child = false;

Area* map_area(u32 sharing, void* at) {
  SysResult r = raw_syscall(__NR_mmap, arg(at), page_up(sizeof(Area)), PROT_READ | PROT_WRITE,
                            sharing | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, ~0ull, 0);
  return failed(r) ? nullptr : reinterpret_cast<Area*>(r);
}

// An entry of /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst).
constexpr u64 kPresent = 1ull << 63, kOfFile = 1ull << 61, kExclusive = 1ull << 56;

/// The parent stands still, and everything of its was shared at the fork: a page that this process has alone
/// was written here.
bool is_own(u64 entry) { return (entry & (kPresent | kOfFile | kExclusive)) == (kPresent | kExclusive); }

void leave_page(GuestAddr page) {
  if (area->pages == kMostPages) {
    area->lost = 1;
  } else if (read_guest(area->content[area->pages], page, kPageSize)) {
    area->address[area->pages++] = page;
  }
}

void leave_range(i32 pagemap, GuestAddr begin, GuestAddr end) {
  static u64 entries[4096];
  constexpr u64 kBatch = sizeof entries / sizeof entries[0];
  for (GuestAddr at = begin; at < end; at += kBatch * kPageSize) {
    u64 count = (end - at) / kPageSize < kBatch ? (end - at) / kPageSize : kBatch;
    SysResult r = raw_syscall(__NR_pread64, static_cast<u64>(pagemap), arg(entries),
                              count * sizeof entries[0], at / kPageSize * sizeof entries[0]);
    if (failed(r)) return;
    for (u64 i = 0; i < static_cast<u64>(r) / sizeof entries[0]; ++i) {
      if (is_own(entries[i])) leave_page(at + i * kPageSize);
    }
  }
}

/// The words of one page that differ, from the first to the last.
void take_page(Turn& turn, GuestAddr page, const u8* content) {
  static u64 now[kPageSize / 8];
  constexpr u64 kWords = kPageSize / 8;
  const auto* then = reinterpret_cast<const u64*>(content);
  if (!read_guest(now, page, kPageSize)) return;
  u64 first = 0, last = kWords;
  while (first < kWords && now[first] == then[first]) ++first;
  while (last > first && now[last - 1] == then[last - 1]) --last;
  if (first == last) return;
  GuestAddr begin = page + first * 8, end = page + last * 8;
  if (memory::write_guest(turn, begin, then + first, end - begin)) note_memory_change(begin, end);
}

}  // namespace

void expect_child_stores() {
  void* place = engine_reserve(sizeof(Area));
  area = map_area(MAP_SHARED, place);
  is_child = false;
  if (area == nullptr) engine_release(place, sizeof(Area));
}

void begin_child_stores() {
  if (is_child) area = nullptr;  // a child's child
  is_child = area != nullptr;
}

void leave_child_stores() {
  if (!is_child) return;
  area->pages = area->lost = 0;
  SysResult pagemap = raw_syscall(__NR_openat, AT_FDCWD, arg("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC);
  if (failed(pagemap)) return;
  const memory::RegionMap& map = memory::address_space().map;
  for (const memory::Region* m = map.at_or_after(0); m != nullptr; m = map.at_or_after(m->end)) {
    if (!m->shared && (m->prot & PROT_WRITE) != 0) leave_range(static_cast<i32>(pagemap), m->begin, m->end);
  }
  raw_syscall(__NR_close, static_cast<u64>(pagemap));
}

void take_child_stores(Turn& turn) {
  if (area == nullptr) return;
  for (u32 i = 0; i < area->pages && i < kMostPages; ++i) take_page(turn, area->address[i], area->content[i]);
  if (area->lost != 0) warn("a vfork child has changed much memory; some of it is lost to its parent");
  void* place = area;
  area = nullptr;
  if (map_area(MAP_PRIVATE, place) != nullptr) engine_release(place, sizeof(Area));
}

}  // namespace detrec::guest::events
