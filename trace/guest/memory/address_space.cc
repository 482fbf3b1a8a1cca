#include "trace/guest/memory/address_space.h"

#include <asm/errno.h>
#include <asm/statfs.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <linux/posix_types.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/load/file_status.h"
#include "trace/guest/procfs/procfs.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::memory {

AddressSpace& address_space() {
  static AddressSpace instance;
  return instance;
}

SysResult describe_file(i32 fd, u32 prot, Object& object) {
  constexpr long kStNoExec = 8;  // statfs(2): ST_NOEXEC
  if (procfs::syscall_hidden_fd(fd)) return -EBADF;
  struct stat st;
  SysResult r = raw_syscall(__NR_fstat, static_cast<u64>(fd), arg(&st));
  if (failed(r)) return r;
  object.device = st.st_dev;
  object.inode = st.st_ino;
  object.regular = load::is_regular(st);
  bool maybe_huge = object.regular && st.st_blksize >= 0x20'0000;
  if (maybe_huge || (prot & PROT_EXEC) != 0) {
    struct statfs fs;
    if (!failed(raw_syscall(__NR_fstatfs, static_cast<u64>(fd), arg(&fs)))) {
      object.no_exec = (fs.f_flags & kStNoExec) != 0;
      if (static_cast<u64>(fs.f_type) == HUGETLBFS_MAGIC) object.huge_page = static_cast<u64>(st.st_blksize);
    }
  }
  char link[32], path[4096];
  format(link, sizeof link, "/proc/thread-self/fd/%d", fd);
  r = raw_syscall(__NR_readlink, arg(link), arg(path), sizeof path - 1);
  path[failed(r) ? 0 : r] = 0;
  AddressSpace& space = address_space();
  if (space.names.full()) {
    for (const Region* m = space.map.at_or_after(0); m != nullptr; m = space.map.at_or_after(m->end))
      space.names.mark(m->name);
    space.names.sweep();
  }
  object.name = space.names.intern(path);
  return 0;
}

Object shared_anonymous() {
  // The kernel keeps such memory in files of an internal tmpfs, device 0:1; our inode numbers never meet real
  // ones.
  constexpr u64 kOurs = 1ull << 63;
  Object object;
  object.device = 1;
  object.inode = kOurs | address_space().next_object++;
  return object;
}

bool limits_allow(u64 total, u64 data) {
  const AddressSpace& space = address_space();
  auto within = [](u64 used, u64 more, u64 limit) {
    return limit == kUnlimited || (used <= limit && more <= limit - used);
  };
  if (total != 0 && !within(space.map.total_bytes(), total, space.as.soft)) return false;
  return data == 0 || within(space.map.data_bytes(), data, space.data.soft);
}

namespace {

bool mapped_in_kernel(GuestAddr page) {
  u8 resident;
  return raw_syscall(__NR_mincore, page, kPageSize, arg(&resident)) != -ENOMEM;
}

/// How far the kernel has extended the region at `begin` downwards; growth is contiguous, so this is a binary
/// search.
GuestAddr grown_begin(GuestAddr begin, GuestAddr lowest) {
  if (begin <= lowest || !mapped_in_kernel(begin - kPageSize)) return begin;
  u64 known = 1;  // pages below `begin` known to be mapped
  u64 most = (begin - lowest) / kPageSize;
  u64 step = 1;
  u64 missing = most + 1;
  while (known < most) {
    u64 next = known + step < missing ? known + step : known + (missing - known) / 2;
    if (next == known) break;
    if (mapped_in_kernel(begin - next * kPageSize)) {
      known = next;
      step *= 2;
    } else {
      missing = next;
      step = 1;
    }
  }
  return begin - known * kPageSize;
}

}  // namespace

void sync_growth(GuestAddr begin, GuestAddr end) {
  AddressSpace& space = address_space();
  for (GuestAddr at = begin;;) {
    const Region* r = space.map.at_or_after(at);
    if (r == nullptr) return;
    at = r->end;
    bool last = r->begin >= end;
    if (r->grows_down) {
      u64 limit = space.stack_limit < kGuestWindowBegin ? space.stack_limit + kPageSize : kGuestWindowBegin;
      GuestAddr lowest = r->end > limit ? r->end - limit : kPageSize;
      const Region* below = space.map.before(r->begin);
      if (below != nullptr && below->end > lowest) lowest = below->end;
      if (end > lowest && begin < r->begin) {
        GuestAddr grown = grown_begin(r->begin, page_up(lowest));
        if (grown < r->begin) space.map.grow_down(r->begin, grown);
      }
    }
    if (last) return;
  }
}

SysResult unmap_in_kernel(GuestAddr begin, GuestAddr end) {
  if (!touches_table(begin, end)) return raw_syscall(__NR_munmap, begin, end - begin);
  SysResult r = 0;
  if (begin < kTableBase) r = raw_syscall(__NR_munmap, begin, kTableBase - begin);
  if (!failed(r) && end > kTableEnd) r = raw_syscall(__NR_munmap, kTableEnd, end - kTableEnd);
  if (failed(r)) return r;
  GuestAddr low = begin > kTableBase ? begin : kTableBase, high = end < kTableEnd ? end : kTableEnd;
  AddressSpace& space = address_space();
  for (const Region* m = space.map.at_or_after(low); m != nullptr && m->begin < high;
       m = space.map.at_or_after(m->end)) {
    if (m->has(kTableBacked)) continue;
    GuestAddr from = m->begin > low ? m->begin : low, to = m->end < high ? m->end : high;
    r = raw_syscall(__NR_mmap, from, to - from, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, ~0ull, 0);
    if (failed(r)) DETREC_PANIC("cannot put back the branch table at %lx: error %ld", from, -r);
  }
  return 0;
}

SysResult check_table(GuestAddr begin, GuestAddr end, bool exec) {
  const RegionMap& map = address_space().map;
  PcRange pcs = pcs_of_table(begin, end);
  for (const Region* m = map.at_or_after(pcs.pc_begin); m != nullptr && m->begin < pcs.pc_end;
       m = map.at_or_after(m->end)) {
    if ((m->prot & PROT_EXEC) != 0) return -ENOMEM;
  }
  if (!exec) return 0;
  ForeignRanges::Range entries = table_of_pcs(begin, end);
  for (const Region* m = map.at_or_after(entries.begin); m != nullptr && m->begin < entries.end;
       m = map.at_or_after(m->end)) {
    if (!m->has(kTableBacked)) return -ENOMEM;
  }
  return 0;
}

void drop_code(Turn& turn, GuestAddr begin, GuestAddr end) {
  // Not only where has_code(): a page without code may be protected as an alias of one.
  translate::invalidate(turn, begin, end);
}

void announce(Turn& turn, GuestAddr begin, GuestAddr end) {
  const RegionMap& map = address_space().map;
  bool changed = false;
  for (const Region* m = map.at_or_after(begin); m != nullptr && m->begin < end;
       m = map.at_or_after(m->end)) {
    if ((m->prot & PROT_WRITE) == 0) continue;
    bool alias = m->shared && m->is_file();
    changed = changed || alias || (m->prot & PROT_EXEC) != 0;
    if (!alias) continue;
    // Code translated from another mapping of this file can now change through this one: have it translated
    // afresh, which protects the new alias.
    for (const Region* x = map.at_or_after(0); x != nullptr; x = map.at_or_after(x->end)) {
      if ((x->prot & PROT_EXEC) == 0 || x->inode != m->inode || x->device != m->device) continue;
      u64 low = x->file_offset > m->file_offset ? x->file_offset : m->file_offset;
      u64 x_high = x->file_offset + x->bytes(), m_high = m->file_offset + m->bytes();
      u64 high = x_high < m_high ? x_high : m_high;
      if (low < high) drop_code(turn, x->begin + (low - x->file_offset), x->begin + (high - x->file_offset));
    }
  }
  if (changed) translate::on_mapping_changed(turn, begin, end);
}

void resync(GuestAddr begin, GuestAddr end) {
  RegionMap& map = address_space().map;
  for (GuestAddr at = begin; at < end;) {
    const Region* m = map.at_or_after(at);
    if (m == nullptr || m->begin >= end) return;
    GuestAddr from = m->begin > begin ? m->begin : begin, to = m->end < end ? m->end : end;
    at = to;
    if (!m->has(kTableBacked) && !mapped_in_kernel(from)) map.erase(from, to);
  }
}

SysResult reserve_place(const Choice& choice) {
  return place(choice, [&](GuestAddr at) {
    return raw_syscall(__NR_mmap, at, choice.length, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ~0ull, 0);
  });
}

void record(GuestAddr begin, GuestAddr end, u32 prot, bool shared, bool grows_down, u32 attributes,
            const Object& object, u64 file_offset) {
  Region region;
  region.begin = begin;
  region.end = end;
  region.prot = prot;
  region.shared = shared;
  region.grows_down = grows_down;
  region.device = object.device;
  region.inode = object.inode;
  region.file_offset = object.inode != 0 ? file_offset : 0;
  region.name = object.name;
  region.attributes = attributes;
  RegionMap& map = address_space().map;
  map.erase(begin, end);
  map.insert(region);
}

}  // namespace detrec::guest::memory
