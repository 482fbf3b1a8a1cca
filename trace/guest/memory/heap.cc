// brk(2).
#include <linux/mman.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {

SysResult brk(Turn& turn, GuestAddr addr) {
  AddressSpace& space = address_space();
  SysResult unchanged = static_cast<SysResult>(space.brk);
  if (addr < space.brk_start || addr > kUserEnd - kPageSize || !space.map.room(4)) return unchanged;
  GuestAddr old_end = page_up(space.brk), new_end = page_up(addr);
  if (space.data.soft != kUnlimited && addr - space.brk_start > space.data.soft) return unchanged;
  if (new_end < old_end) {
    if (failed(munmap(turn, new_end, old_end - new_end))) return unchanged;
  } else if (new_end > old_end) {
    u64 bytes = new_end - old_end;
    // Like the kernel, leave a page to what lies above.
    if (!limits_allow(bytes, bytes) || !is_free(space.map, space.foreign, old_end, new_end + kPageSize))
      return unchanged;
    SysResult r = raw_syscall(__NR_mmap, old_end, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ull, 0);
    if (failed(r)) return unchanged;
    if (static_cast<u64>(r) != old_end) {
      raw_syscall(__NR_munmap, static_cast<u64>(r), bytes);
      return unchanged;
    }
    record(old_end, new_end, PROT_READ | PROT_WRITE, false, false, 0, Object{}, 0);
  }
  space.brk = addr;
  return static_cast<SysResult>(addr);
}

}  // namespace detrec::guest::memory
