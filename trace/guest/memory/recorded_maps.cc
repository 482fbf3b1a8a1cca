// Mappings as a recording has them.
#include <asm/errno.h>
#include <linux/mman.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/address_space.h"

namespace detrec::guest::memory {
namespace {

constexpr u32 kKept = MAP_GROWSDOWN | MAP_STACK | MAP_NORESERVE;

SysResult map_at(GuestAddr at, u64 length, u32 prot, u32 flags, i32 fd, u64 offset) {
  return raw_syscall(__NR_mmap, at, length, kernel_protection(prot), flags | MAP_PRIVATE | MAP_FIXED,
                     static_cast<u64>(fd), offset);
}

SysResult map_content(const RecordedMapping& m) {
  if (m.content_fd < 0) return map_at(m.address, m.length, m.prot, (m.flags & kKept) | MAP_ANONYMOUS, -1, 0);
  u64 there = page_up(m.content_size) > m.file_offset ? page_up(m.content_size) - m.file_offset : 0;
  if (there > m.length) there = m.length;
  SysResult r = 0;
  if (there != 0) r = map_at(m.address, there, m.prot, 0, m.content_fd, m.content_offset + m.file_offset);
  if (!failed(r) && there != m.length)
    r = map_at(m.address + there, m.length - there, m.prot, 0, m.content_fd, page_up(m.content_end));
  return r;
}

}  // namespace

SysResult map_recorded(Turn& turn, const RecordedMapping& m) {
  AddressSpace& space = address_space();
  if (m.length == 0 || m.address % kPageSize != 0 || m.length % kPageSize != 0 || m.length > kUserEnd ||
      m.address > kUserEnd - m.length || m.file_offset % kPageSize != 0 || m.content_offset % kPageSize != 0)
    return -EINVAL;
  GuestAddr begin = m.address, end = begin + m.length;
  constexpr u64 kLowest = 0x1000;
  if (begin < kLowest || is_engine_range(begin, end) || space.foreign.overlapping(begin, end) != nullptr)
    return -ENOMEM;
  bool exec = (m.prot & PROT_EXEC) != 0;
  if ((touches_table(begin, end) || exec) && check_table(begin, end, exec) != 0) return -ENOMEM;
  if (!space.map.room(8)) return -ENOMEM;
  drop_code(turn, begin, end);
  SysResult r = map_content(m);
  if (failed(r)) return r;
  Object object;
  object.device = m.device;
  object.inode = m.inode;
  object.name = space.names.intern(m.name);
  record(begin, end, m.prot, false, (m.flags & MAP_GROWSDOWN) != 0, 0, object, m.file_offset);
  announce(turn, begin, end);
  return 0;
}

void force_place(GuestAddr address) { address_space().forced_place = address; }

ImagePlaces image_places() {
  const AddressSpace& s = address_space();
  return {s.brk_start, s.brk, s.stack_start, s.linker_begin, s.linker_end, s.stack_limit};
}

void set_image_places(const ImagePlaces& places) {
  AddressSpace& s = address_space();
  s.brk_start = places.brk_start;
  s.brk = places.brk;
  s.stack_start = places.stack_start;
  s.linker_begin = places.linker_begin;
  s.linker_end = places.linker_end;
  s.stack_limit = places.stack_limit;
  struct {
    u64 soft, hard;
  } limit;
  constexpr u64 kRlimitStack = 3;
  raw_syscall(__NR_prlimit64, 0, kRlimitStack, 0, arg(&limit));
  limit.soft = places.stack_limit < limit.hard ? places.stack_limit : limit.hard;
  raw_syscall(__NR_prlimit64, 0, kRlimitStack, arg(&limit), 0);
  s.as = {};
  s.data = {};
}

}  // namespace detrec::guest::memory
