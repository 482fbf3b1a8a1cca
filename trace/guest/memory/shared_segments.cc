// shmat(2), shmdt(2): System V shared memory.
#include <asm/errno.h>
#include <linux/ipc.h>
#include <linux/mman.h>
#include <linux/posix_types.h>
#include <linux/shm.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {
namespace {

// In the kernel's internal tmpfs, where the segment's id is the inode number: apart from real inodes, and
// never 0.
constexpr u64 kSegmentDevice = 1;
constexpr u64 kSegment = 1ull << 62;

}  // namespace

bool is_segment(u64 device, u64 inode) { return device == kSegmentDevice && (inode >> 62) == 1; }

SysResult shmat(Turn& turn, i32 id, GuestAddr addr, i32 flags) {
  AddressSpace& space = address_space();
  u64 kernel_id = static_cast<u64>(static_cast<i64>(id));
  shmid64_ds info;
  SysResult r = raw_syscall(__NR_shmctl, kernel_id, IPC_STAT, arg(&info));
  if (failed(r)) return r;  // also for a segment that may be written but not read, which could be attached
  u64 length = page_up(info.shm_segsz);
  u32 prot = (flags & SHM_RDONLY) != 0 ? PROT_READ : PROT_READ | PROT_WRITE;
  bool exec = (flags & SHM_EXEC) != 0;
  if (!space.map.room(8) || !limits_allow(length, 0)) return -ENOMEM;

  if (addr != 0) {
    if (addr % kPageSize != 0) {
      if ((flags & SHM_RND) == 0) return -EINVAL;
      addr = page_down(addr);
      if (addr == 0 && (flags & SHM_REMAP) != 0) return -EINVAL;
    }
  } else if ((flags & SHM_REMAP) != 0) {
    return -EINVAL;
  }
  auto attach = [&](GuestAddr at) {
    return raw_syscall(__NR_shmat, kernel_id, at,
                       static_cast<u64>(static_cast<i64>(flags)) & ~static_cast<u64>(SHM_EXEC));
  };
  if (addr != 0) {
    GuestAddr end = addr + length;
    if (end < addr || end > kUserEnd) return -EINVAL;
    sync_growth(addr, end);
    if (is_engine_range(addr, end) || touches_table(addr, end) ||
        space.foreign.overlapping(addr, end) != nullptr)
      return -EINVAL;
    if ((flags & SHM_REMAP) == 0 && space.map.overlaps(addr, end)) return -EINVAL;
    drop_code(turn, addr, end);
    r = attach(addr);
  } else {
    Choice choice{.length = length,
                  .area = exec ? Area::kCode : Area::kData,
                  .ceiling = window_ceiling(space.stack_limit)};
    // A place that is taken after all gives -EINVAL.
    r = place(choice, [&](GuestAddr at) {
      SysResult result = attach(at);
      return result == -EINVAL ? -EEXIST : result;
    });
  }
  if (failed(r)) return r;
  Object object;
  object.device = kSegmentDevice;
  object.inode = kSegment | static_cast<u32>(id);
  GuestAddr begin = static_cast<u64>(r);
  record(begin, begin + length, prot | (exec ? PROT_EXEC : 0), true, false, kShm, object, 0);
  announce(turn, begin, begin + length);
  if (events::recording()) events::record_segment(turn, begin);
  return r;
}

SysResult shmdt(Turn& turn, GuestAddr addr) {
  AddressSpace& space = address_space();
  if (addr % kPageSize != 0) return -EINVAL;
  // Like the kernel: all pieces that one attachment at `addr` left, recognised by offset and object.
  const Region* first = space.map.at_or_after(addr);
  while (first != nullptr &&
         !(first->has(kShm) && first->begin >= addr && first->begin - addr == first->file_offset))
    first = space.map.at_or_after(first->end);
  if (first == nullptr) return -EINVAL;
  u64 inode = first->inode;
  for (GuestAddr at = first->begin;;) {
    const Region* m = space.map.at_or_after(at);
    if (m == nullptr) break;
    at = m->end;
    if (!m->has(kShm) || m->inode != inode || m->begin < addr || m->begin - addr != m->file_offset) continue;
    drop_code(turn, m->begin, m->end);
  }
  SysResult r = events::replaying() ? 0 : raw_syscall(__NR_shmdt, addr);
  if (failed(r)) return r;
  for (GuestAddr at = addr;;) {
    const Region* m = space.map.at_or_after(at);
    if (m == nullptr) break;
    at = m->end;
    if (!m->has(kShm) || m->inode != inode || m->begin < addr || m->begin - addr != m->file_offset) continue;
    if (events::replaying()) unmap_in_kernel(m->begin, m->end);
    space.map.erase(m->begin, m->end);
  }
  return 0;
}

}  // namespace detrec::guest::memory
