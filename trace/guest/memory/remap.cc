// mremap(2). The kernel never chooses the place: a move is always MREMAP_FIXED to one that we have reserved.
#include <asm/errno.h>
#include <linux/mman.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {
namespace {

SysResult kernel_mremap(GuestAddr from, u64 old_size, u64 new_size, u64 flags, GuestAddr to) {
  return raw_syscall(__NR_mremap, from, old_size, new_size, flags, to);
}

struct Remap {
  Region region;  ///< that holds the old range
  GuestAddr old_addr;
  u64 old_size, new_size;
  u32 flags;

  u64 data(u64 bytes) const { return region.is_data() ? bytes : 0; }
  u64 file_offset() const { return region.is_file() ? region.file_offset + (old_addr - region.begin) : 0; }
};

/// Enters [begin, begin + size) as a continuation of the old range.
void record_moved(const Remap& q, GuestAddr begin, u64 size) {
  Object object;
  object.device = q.region.device;
  object.inode = q.region.inode;
  object.name = q.region.name;
  record(begin, begin + size, q.region.prot, q.region.shared, q.region.grows_down, q.region.attributes,
         object, q.file_offset());
}

/// A file's mapping that has grown shows more of the file.
void note_new_part(const Remap& q, GuestAddr begin) {
  bool more = q.region.is_file() && q.new_size > q.old_size;
  if (more && events::recording()) events::note_memory_change(begin + q.old_size, begin + q.new_size);
}

SysResult grow_in_place(Turn& turn, const Remap& q) {
  AddressSpace& space = address_space();
  GuestAddr old_end = q.old_addr + q.old_size, new_end = q.old_addr + q.new_size;
  if (old_end != q.region.end || new_end < q.old_addr || !is_free(space.map, space.foreign, old_end, new_end))
    return -ENOMEM;
  SysResult r = kernel_mremap(q.old_addr, q.old_size, q.new_size, 0, 0);
  if (failed(r)) return r;
  record_moved(q, q.old_addr, q.new_size);
  announce(turn, q.old_addr, new_end);
  note_new_part(q, q.old_addr);
  return r;
}

/// Moves to `to`, whose place is reserved in the kernel or may be replaced.
SysResult move_to(Turn& turn, const Remap& q, GuestAddr to) {
  u64 flags = MREMAP_MAYMOVE | MREMAP_FIXED | (q.flags & MREMAP_DONTUNMAP);
  SysResult r = kernel_mremap(q.old_addr, q.old_size, q.new_size, flags, to);
  if (failed(r)) return r;
  bool stays = q.old_size == 0 || (q.flags & MREMAP_DONTUNMAP) != 0;
  if (!stays) address_space().map.erase(q.old_addr, q.old_addr + q.old_size);
  record_moved(q, to, q.new_size);
  announce(turn, to, to + q.new_size);
  note_new_part(q, to);
  return r;
}

SysResult move_anywhere(Turn& turn, const Remap& q) {
  AddressSpace& space = address_space();
  Choice choice{.length = q.new_size,
                .area = (q.region.prot & PROT_EXEC) != 0 ? Area::kCode : Area::kData,
                .ceiling = window_ceiling(space.stack_limit)};
  SysResult at = reserve_place(choice);
  if (failed(at)) return at;
  SysResult r = move_to(turn, q, static_cast<u64>(at));
  if (failed(r)) raw_syscall(__NR_munmap, static_cast<u64>(at), q.new_size);
  return r;
}

/// Checks a place that the guest has chosen, before anything is looked up. 0 or -errno.
SysResult check_target(GuestAddr old_addr, u64 old_size, GuestAddr to, u64 new_size) {
  AddressSpace& space = address_space();
  if (to % kPageSize != 0 || new_size > kUserEnd || to > kUserEnd - new_size) return -EINVAL;
  GuestAddr end = to + new_size;
  if (to < old_addr + old_size && old_addr < end) return -EINVAL;
  if (is_engine_range(to, end) || touches_table(to, end) || space.foreign.overlapping(to, end) != nullptr)
    return -ENOMEM;
  return 0;
}

SysResult move_fixed(Turn& turn, const Remap& q, GuestAddr to) {
  GuestAddr end = to + q.new_size;
  if ((q.region.prot & PROT_EXEC) != 0 && check_table(to, end, true) != 0) return -ENOMEM;
  sync_growth(to, end);
  SysResult r = munmap(turn, to, q.new_size);
  return failed(r) ? r : move_to(turn, q, to);
}

/// The translator may have protected single pages, which would go along with a move: back to what the guest
/// asked for. It never protects what is neither code nor can be an alias of code.
SysResult prepare_source(Turn& turn, const Region& region, GuestAddr begin, u64 size) {
  drop_code(turn, begin, begin + size);
  if (!region.shared && (region.prot & PROT_EXEC) == 0) return 0;
  return raw_syscall(__NR_mprotect, begin, size, kernel_protection(region.prot));
}

/// Since Linux 6.17 a plain move may span several mappings and the holes between them.
SysResult move_several(Turn& turn, const Remap& q, GuestAddr to) {
  AddressSpace& space = address_space();
  GuestAddr end = q.old_addr + q.old_size;
  for (GuestAddr at = q.old_addr; at < end;) {
    const Region* m = space.map.at_or_after(at);
    if (m == nullptr || m->begin >= end) break;
    Remap piece = q;
    piece.region = *m;
    piece.old_addr = m->begin > at ? m->begin : at;
    piece.old_size = piece.new_size = (m->end < end ? m->end : end) - piece.old_addr;
    at = piece.old_addr + piece.old_size;
    if (piece.region.has(kTableBacked)) return -EFAULT;
    SysResult r = prepare_source(turn, piece.region, piece.old_addr, piece.old_size);
    if (!failed(r)) r = move_fixed(turn, piece, to + (piece.old_addr - q.old_addr));
    if (failed(r)) return r;
  }
  return static_cast<SysResult>(to);
}

}  // namespace

SysResult mremap(Turn& turn, GuestAddr old_addr, u64 old_size, u64 new_size, u32 flags, GuestAddr new_addr) {
  constexpr u32 kKnown = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  bool fixed = (flags & MREMAP_FIXED) != 0, may_move = (flags & MREMAP_MAYMOVE) != 0;
  bool dont_unmap = (flags & MREMAP_DONTUNMAP) != 0;
  if ((flags & ~kKnown) != 0 || old_addr % kPageSize != 0) return -EINVAL;
  if ((fixed || dont_unmap) && !may_move) return -EINVAL;
  old_size = page_up(old_size);
  new_size = page_up(new_size);
  if (new_size == 0 || new_size > kUserEnd || (dont_unmap && old_size != new_size)) return -EINVAL;
  if (old_addr >= kUserEnd || old_size > kUserEnd - old_addr) return -EFAULT;

  AddressSpace& space = address_space();
  if (!space.map.room(8)) return -ENOMEM;
  if (fixed) {
    if (SysResult r = check_target(old_addr, old_size, new_addr, new_size); failed(r)) return r;
  }
  sync_growth(old_addr, old_addr + (old_size != 0 ? old_size : kPageSize));
  const Region* region = space.map.find(old_addr);
  if (region == nullptr) return -EFAULT;
  Remap q{*region, old_addr, old_size, new_size, flags};
  if (old_size == 0 && (!region->shared || !may_move)) return -EINVAL;
  bool grows = new_size > old_size || dont_unmap;
  u64 more = dont_unmap ? new_size : new_size - old_size;
  if (!grows && !fixed) {  // shrinking: the tail goes
    SysResult r = old_size > new_size ? munmap(turn, old_addr + new_size, old_size - new_size) : 0;
    return failed(r) ? r : static_cast<SysResult>(old_addr);
  }
  if (fixed && !dont_unmap && old_size > new_size) {  // the tail goes first
    if (new_size > region->end - old_addr) return -EFAULT;
    SysResult r = munmap(turn, old_addr + new_size, old_size - new_size);
    if (failed(r)) return r;
    q.old_size = old_size = new_size;
    region = space.map.find(old_addr);
    q.region = *region;
  }
  if (old_size > region->end - old_addr) {
    if (!fixed || dont_unmap || old_size != new_size) return -EFAULT;
    SysResult r = move_several(turn, q, new_addr);
    if (failed(r)) resync(old_addr, old_addr + old_size);
    return r;
  }
  if (region->has(kTableBacked) || touches_table(old_addr, old_addr + old_size)) return -EFAULT;
  if (grows && !limits_allow(more, q.data(more))) return -ENOMEM;

  if (old_size != 0) {
    SysResult r = prepare_source(turn, *region, old_addr, old_size);
    if (failed(r)) return r;
  }
  SysResult r;
  if (fixed) {
    r = move_fixed(turn, q, new_addr);
  } else {
    r = old_size != 0 && !dont_unmap ? grow_in_place(turn, q) : -ENOMEM;
    if (r == -ENOMEM && may_move) r = move_anywhere(turn, q);
  }
  if (failed(r) && old_size != 0) resync(old_addr, old_addr + old_size);
  return r;
}

}  // namespace detrec::guest::memory
