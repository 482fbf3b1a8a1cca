// mmap(2), munmap(2), mprotect(2).
#include <asm/errno.h>
#include <linux/mman.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/load/elf_image.h"
#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {
namespace {

constexpr u32 kProtBits = PROT_READ | PROT_WRITE | PROT_EXEC;
constexpr u64 kHugePageSize = 0x20'0000;

/// An mmap call, checked and completed.
struct Request {
  GuestAddr addr;
  u64 length;  ///< whole pages
  u32 prot;
  u32 flags;  ///< as the guest gave them, without MAP_FIXED*, MAP_32BIT
  i32 fd;
  u64 offset;
  Object object;
  u64 align = kPageSize;

  bool shared() const { return (flags & MAP_TYPE) != MAP_PRIVATE; }
  bool anonymous() const { return (flags & MAP_ANONYMOUS) != 0; }
  u64 data_bytes() const {
    return (prot & PROT_WRITE) != 0 && !shared() && (flags & MAP_GROWSDOWN) == 0 ? length : 0;
  }
  u32 attributes() const {
    u32 a = 0;
    if ((flags & MAP_NORESERVE) != 0) a |= kNoReserve;
    if ((flags & MAP_LOCKED) != 0) a |= kLocked;
    if (align > kPageSize && ((flags & MAP_HUGETLB) != 0 || object.huge_page != 0)) a |= kHugeTlb;
    return a;
  }
};

SysResult kernel_map(const Request& q, GuestAddr at, u32 fixed) {
  return raw_syscall(__NR_mmap, at, q.length, kernel_protection(q.prot), q.flags | fixed,
                     static_cast<u64>(q.fd), q.offset);
}

/// True when the mapping is that of a whole library: its length is what the file's program headers span, and
/// some of it is code.
bool maps_whole_library(const Request& q) {
  if (q.anonymous() || q.shared() || !q.object.regular || q.offset != 0 || (q.prot & PROT_WRITE) != 0)
    return false;
  u8 head[2048];
  SysResult n = raw_syscall(__NR_pread64, static_cast<u64>(q.fd), arg(head), sizeof head, 0);
  return !failed(n) && load::spans_code(head, static_cast<u64>(n), q.length);
}

Area area_for(Turn& turn, const Request& q, bool below_2gib) {
  if (below_2gib) return Area::kLow32;
  if ((q.prot & PROT_EXEC) != 0 || maps_whole_library(q)) return Area::kCode;
  // glibc's dynamic linker reserves a library with big alignment by one anonymous inaccessible mapping; it
  // makes none for other purposes.
  const AddressSpace& space = address_space();
  GuestAddr pc = turn.regs().pc;
  if (q.anonymous() && !q.shared() && q.prot == 0 && pc >= space.linker_begin && pc < space.linker_end)
    return Area::kCode;
  return Area::kData;
}

void record(Turn& turn, const Request& q, GuestAddr at, u64 length, u32 more_attributes = 0) {
  record(at, at + length, q.prot, q.shared(), (q.flags & MAP_GROWSDOWN) != 0,
         q.attributes() | more_attributes, q.object, q.offset);
  if (events::recording() && !q.anonymous())
    events::record_file_mapping(turn, {at, length, q.prot, q.flags, q.fd, q.offset, &q.object});
  announce(turn, at, at + length);
}

SysResult map_anywhere(Turn& turn, Request& q, bool below_2gib) {
  AddressSpace& space = address_space();
  if (!limits_allow(q.length, q.data_bytes())) return -ENOMEM;

  constexpr u64 kLowestHint = 0x1'0000;  // vm.mmap_min_addr, which the kernel raises hints to
  GuestAddr hint = page_down(q.addr);
  if (hint != 0 && hint < kLowestHint) hint = kLowestHint;
  if (hint != 0 && hint % q.align == 0 && hint <= kUserEnd - q.length) {
    sync_growth(hint, hint + q.length);
    if (is_free(space.map, space.foreign, hint, hint + q.length) &&
        ((q.prot & PROT_EXEC) == 0 || check_table(hint, hint + q.length, true) == 0)) {
      SysResult r = kernel_map(q, hint, MAP_FIXED_NOREPLACE);
      if (r == static_cast<SysResult>(hint)) {
        record(turn, q, hint, q.length);
        return r;
      }
      if (!failed(r)) raw_syscall(__NR_munmap, static_cast<u64>(r), q.length);
    }
  }

  Choice choice{.length = q.length,
                .align = q.align,
                .area = area_for(turn, q, below_2gib),
                .ceiling = window_ceiling(space.stack_limit)};
  if (choice.area == Area::kData && q.anonymous() && choice.align < kHugePageSize &&
      q.length % kHugePageSize == 0)
    choice.align = kHugePageSize;  // as the kernel does, for transparent huge pages
  SysResult r = place(choice, [&](GuestAddr at) { return kernel_map(q, at, MAP_FIXED_NOREPLACE); });
  if (failed(r) && choice.align == kHugePageSize && q.align < kHugePageSize) {
    choice.align = q.align;
    r = place(choice, [&](GuestAddr at) { return kernel_map(q, at, MAP_FIXED_NOREPLACE); });
  }
  if (!failed(r)) record(turn, q, static_cast<u64>(r), q.length);
  return r;
}

/// A private inaccessible anonymous mapping over the branch table (AddressSanitizer's shadow gap): the table
/// stays, the map says it is the guest's.
SysResult map_gap_over_table(Turn& turn, const Request& q) {
  GuestAddr begin = q.addr, end = q.addr + q.length;
  GuestAddr low = begin > kTableBase ? begin : kTableBase, high = end < kTableEnd ? end : kTableEnd;
  Request part = q;
  auto map_part = [&](GuestAddr from, GuestAddr to) -> SysResult {
    if (from >= to) return 0;
    part.length = to - from;
    SysResult r = kernel_map(part, from, MAP_FIXED);
    if (!failed(r)) record(turn, part, from, to - from);
    return r;
  };
  drop_code(turn, begin, end);
  SysResult r = map_part(begin, low);
  if (!failed(r)) r = map_part(high, end);
  if (!failed(r)) r = unmap_in_kernel(low, high);
  if (failed(r)) return r;
  record(turn, q, low, high - low, kTableBacked);
  return static_cast<SysResult>(begin);
}

SysResult map_fixed(Turn& turn, const Request& q, bool replace) {
  AddressSpace& space = address_space();
  if (q.length > kUserEnd || q.addr > kUserEnd - q.length) return -ENOMEM;
  if (q.addr % kPageSize != 0) return -EINVAL;
  GuestAddr begin = q.addr, end = q.addr + q.length;
  sync_growth(begin, end);
  bool taken = is_engine_range(begin, end) || space.foreign.overlapping(begin, end) != nullptr;
  if (!replace && (taken || space.map.overlaps(begin, end))) return -EEXIST;
  if (taken) return -ENOMEM;

  u64 replaced = 0, replaced_data = 0;
  for (const Region* m = space.map.at_or_after(begin); m != nullptr && m->begin < end;
       m = space.map.at_or_after(m->end)) {
    u64 bytes = (m->end < end ? m->end : end) - (m->begin > begin ? m->begin : begin);
    replaced += bytes;
    if (m->is_data()) replaced_data += bytes;
  }
  u64 data = q.data_bytes();
  if (!limits_allow(q.length > replaced ? q.length - replaced : 0,
                    data > replaced_data ? data - replaced_data : 0))
    return -ENOMEM;

  bool over_table = touches_table(begin, end);
  if (over_table && q.prot == 0 && q.anonymous() && !q.shared()) return map_gap_over_table(turn, q);
  bool exec = (q.prot & PROT_EXEC) != 0;
  if ((over_table || exec) && check_table(begin, end, exec) != 0) return -ENOMEM;

  drop_code(turn, begin, end);
  SysResult r = kernel_map(q, begin, replace || over_table ? MAP_FIXED : MAP_FIXED_NOREPLACE);
  if (failed(r)) {
    resync(begin, end);
    return r;
  }
  if (static_cast<u64>(r) !=
      begin) {  // only from a kernel before 4.17, which does not know MAP_FIXED_NOREPLACE
    raw_syscall(__NR_munmap, static_cast<u64>(r), q.length);
    return -EEXIST;
  }
  record(turn, q, begin, q.length);
  return r;
}

/// Rounds the length and alignment of huge page mappings. 0 or -errno.
SysResult apply_huge_pages(Request& q) {
  u64 size = q.object.huge_page;
  if ((q.flags & MAP_HUGETLB) != 0) {
    if (!q.anonymous() && size == 0) return -EINVAL;
    if (size == 0) size = huge_page_size(q.flags);
  }
  if (size > kPageSize) {
    q.align = size;
    q.length = (q.length + size - 1) & ~(size - 1);
    if (q.length == 0) return -ENOMEM;
  }
  return 0;
}

}  // namespace

u64 huge_page_size(u32 flags) {
  u32 shift = (flags >> MAP_HUGE_SHIFT) & MAP_HUGE_MASK;
  return shift != 0 ? 1ull << shift : kHugePageSize;
}

SysResult mmap(Turn& turn, GuestAddr addr, u64 length, u32 prot, u32 flags, i32 fd, u64 offset) {
  if (offset % kPageSize != 0) return -EINVAL;
  Request q{.addr = addr,
            .length = length,
            .prot = prot & kProtBits,
            .flags = flags,
            .fd = fd,
            .offset = offset,
            .object = {}};
  q.flags &= ~static_cast<u32>(MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT);
  u32 type = flags & MAP_TYPE;
  if (!q.anonymous()) {
    SysResult r = describe_file(fd, q.prot, q.object);
    if (failed(r)) return r;
  }
  if (length == 0 || (type != MAP_SHARED && type != MAP_PRIVATE && type != MAP_SHARED_VALIDATE))
    return -EINVAL;
  if (q.anonymous() && q.shared()) q.object = shared_anonymous();
  if (q.object.no_exec && (q.prot & PROT_EXEC) != 0) return -EPERM;
  q.length = page_up(length);
  if (q.length == 0 || q.length > kUserEnd || !address_space().map.room(8)) return -ENOMEM;
  SysResult r = apply_huge_pages(q);
  if (failed(r)) return r;
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0)
    return map_fixed(turn, q, (flags & MAP_FIXED_NOREPLACE) == 0);
  return map_anywhere(turn, q, (flags & MAP_32BIT) != 0);
}

SysResult munmap(Turn& turn, GuestAddr addr, u64 length) {
  if (addr % kPageSize != 0 || addr > kUserEnd || length > kUserEnd - addr || page_up(length) == 0)
    return -EINVAL;
  GuestAddr end = addr + page_up(length);
  AddressSpace& space = address_space();
  if (!space.map.room(8)) return -ENOMEM;
  sync_growth(addr, end);
  for (GuestAddr at = addr; at < end;) {
    // One kernel call for each run of mappings without holes.
    const Region* first = space.map.at_or_after(at);
    if (first == nullptr || first->begin >= end) break;
    GuestAddr from = first->begin > addr ? first->begin : addr, to = first->end;
    while (to < end) {
      const Region* next = space.map.find(to);
      if (next == nullptr) break;
      to = next->end;
    }
    if (to > end) to = end;
    drop_code(turn, from, to);
    SysResult r = unmap_in_kernel(from, to);
    if (failed(r)) {
      resync(from, to);
      return r;
    }
    space.map.erase(from, to);
    at = to;
  }
  return 0;
}

namespace {

/// Changes one region's part [from, to). 0 or -errno.
SysResult protect_part(Turn& turn, const Region& region, GuestAddr from, GuestAddr to, u32 prot) {
  bool adds_exec = (prot & PROT_EXEC) != 0 && (region.prot & PROT_EXEC) == 0;
  bool adds_write = (prot & PROT_WRITE) != 0 && (region.prot & PROT_WRITE) == 0;
  if (adds_exec && check_table(from, to, true) != 0) return -ENOMEM;
  if (adds_write && !region.shared && !region.grows_down && !limits_allow(0, to - from)) return -ENOMEM;
  // Code stays valid only where it stays executable and cannot be written. Dropped first: that may set
  // protections, too.
  if ((prot & PROT_EXEC) == 0 || (prot & PROT_WRITE) != 0) drop_code(turn, from, to);
  if (region.has(kTableBacked)) {
    if (prot == 0) return 0;
    // The guest takes the place into use after all: give it real memory there.
    if (check_table(from, to, (prot & PROT_EXEC) != 0) != 0) return -ENOMEM;
    SysResult r = raw_syscall(__NR_mmap, from, to - from, kernel_protection(prot),
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, ~0ull, 0);
    return failed(r) ? r : 0;
  }
  if (adds_exec && region.is_file()) {  // the kernel refuses it on a file system mounted noexec
    SysResult r = raw_syscall(__NR_mprotect, from, to - from, prot);
    if (failed(r)) return r;
  }
  return raw_syscall(__NR_mprotect, from, to - from, kernel_protection(prot));
}

}  // namespace

SysResult mprotect(Turn& turn, GuestAddr addr, u64 length, u32 prot) {
  constexpr u32 kGrows = PROT_GROWSDOWN | PROT_GROWSUP;
  bool grows_down = (prot & PROT_GROWSDOWN) != 0;
  if ((prot & kGrows) == kGrows) return -EINVAL;
  prot &= ~kGrows;
  if (addr % kPageSize != 0) return -EINVAL;
  if (length == 0) return 0;
  GuestAddr end = addr + page_up(length);
  if (end <= addr) return -ENOMEM;
  if ((prot & ~(kProtBits | PROT_SEM)) != 0) return -EINVAL;
  prot &= kProtBits;

  AddressSpace& space = address_space();
  if (!space.map.room(8)) return -ENOMEM;
  sync_growth(addr, end);
  const Region* first = space.map.at_or_after(addr);
  if (first == nullptr) return -ENOMEM;
  if (grows_down) {
    if (first->begin >= end) return -ENOMEM;
    if (!first->grows_down) return -EINVAL;
    addr = first->begin;
  }
  SysResult result = 0;
  GuestAddr at = addr;
  while (at < end) {
    const Region* m = space.map.find(at);
    if (m == nullptr) {
      result = -ENOMEM;
      break;
    }
    GuestAddr to = m->end < end ? m->end : end;
    u32 cleared = prot == 0 ? 0u : kTableBacked;
    result = protect_part(turn, *m, at, to, prot);
    if (failed(result)) break;
    space.map.update(at, to, [&](Region& r) {
      r.prot = prot;
      r.attributes &= ~cleared;
    });
    at = to;
  }
  if (at > addr) announce(turn, addr, at);
  return result;
}

SysResult reserve_image(Turn& turn, u64 length, u64 align, bool program) {
  Choice choice{.length = page_up(length),
                .align = align,
                .area = program ? Area::kImage : Area::kCode,
                .ceiling = window_ceiling(address_space().stack_limit)};
  Request q{.addr = 0,
            .length = choice.length,
            .prot = 0,
            .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            .fd = -1,
            .offset = 0,
            .object = {}};
  if (choice.length == 0 || !limits_allow(choice.length, 0)) return -ENOMEM;
  SysResult r = place(choice, [&](GuestAddr at) { return kernel_map(q, at, MAP_FIXED_NOREPLACE); });
  if (!failed(r)) record(turn, q, static_cast<u64>(r), q.length);
  return r;
}

SysResult map_image(Turn& turn, GuestAddr addr, u64 length, u32 prot, u32 flags, i32 fd, u64 offset,
                    bool code, const char* name) {
  AddressSpace& space = address_space();
  Request q{.addr = addr,
            .length = page_up(length),
            .prot = prot & kProtBits,
            .flags = flags,
            .fd = fd,
            .offset = offset,
            .object = {}};
  bool replace = (flags & MAP_FIXED) != 0;
  q.flags &= ~static_cast<u32>(MAP_FIXED | MAP_FIXED_NOREPLACE);
  if (q.length == 0) return -EINVAL;
  if (!q.anonymous()) {
    SysResult r = describe_file(fd, q.prot, q.object);
    if (failed(r)) return r;
    if (name != nullptr) q.object.name = space.names.intern(name);
    if (q.object.no_exec && (q.prot & PROT_EXEC) != 0) return -EPERM;
  }
  if (addr != 0) return map_fixed(turn, q, replace);
  Choice choice{.length = q.length,
                .align = q.align,
                .area = code ? Area::kImage : Area::kData,
                .ceiling = window_ceiling(space.stack_limit)};
  SysResult r = place(choice, [&](GuestAddr at) { return kernel_map(q, at, MAP_FIXED_NOREPLACE); });
  if (!failed(r)) record(turn, q, static_cast<u64>(r), q.length);
  return r;
}

}  // namespace detrec::guest::memory
