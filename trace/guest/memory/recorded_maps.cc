// Mappings as a recording has them.
#include <asm/errno.h>
#include <linux/mman.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/recorded_objects.h"

namespace detrec::guest::memory {
namespace {

constexpr u32 kKept = MAP_GROWSDOWN | MAP_STACK | MAP_NORESERVE;

SysResult map_at(GuestAddr at, u64 length, u32 prot, u32 flags, i32 fd, u64 offset) {
  return raw_syscall(__NR_mmap, at, length, kernel_protection(prot), flags | MAP_PRIVATE | MAP_FIXED,
                     static_cast<u64>(fd), offset);
}

bool is_shared(const RecordedMapping& m) { return (m.flags & MAP_TYPE) != MAP_PRIVATE && m.inode != 0; }

/// The object that the mapping is of, with the content that comes with it; nullptr: it is of none, or that
/// failed.
RecordedObject* object_of(Turn& turn, const RecordedMapping& m) {
  bool created = false;
  RecordedObject* object =
      is_shared(m) ? make_object(m.device, m.inode, created) : find_object(m.device, m.inode);
  if (object == nullptr || m.inode == 0) return nullptr;
  u64 end = m.file_offset + m.length;
  bool good = true;
  if (m.shm && !resize(*object, 0)) return nullptr;  // what is not zero follows
  if (m.content_fd >= 0) {
    good = fill(*object, m.content_fd, m.content_offset, m.content_size);
  } else if (object->size < end) {
    good = resize(*object, end);
  }
  if (created) sync_private_mappings(turn, *object);
  return good ? object : nullptr;
}

SysResult map_content(const RecordedMapping& m, const RecordedObject* object) {
  if (object != nullptr) {
    u32 type = is_shared(m) ? MAP_SHARED : MAP_PRIVATE;
    return raw_syscall(__NR_mmap, m.address, m.length, kernel_protection(m.prot), type | MAP_FIXED,
                       static_cast<u64>(object->fd), m.file_offset);
  }
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
  RecordedObject* of = object_of(turn, m);
  if (of == nullptr && is_shared(m)) return -ENOMEM;
  SysResult r = map_content(m, of);
  if (failed(r)) return r;
  Object object;
  object.device = m.device;
  object.inode = m.inode;
  object.name = space.names.intern(m.name);
  record(begin, end, m.prot, is_shared(m), (m.flags & MAP_GROWSDOWN) != 0, m.shm ? u32{kShm} : 0u, object,
         m.file_offset);
  announce(turn, begin, end);
  return 0;
}

SysResult map_recorded_anonymous(Turn& turn, GuestAddr address, u64 length, u32 prot, u32 flags) {
  Object object = shared_anonymous();
  RecordedMapping m{};
  m.address = address;
  m.length = page_up(length);
  m.prot = prot;
  m.flags = flags;
  m.device = object.device;
  m.inode = object.inode;
  m.name = "";
  m.content_fd = -1;
  SysResult r = map_recorded(turn, m);
  return failed(r) ? r : static_cast<SysResult>(address);
}

bool replace_content(Turn& turn, const RecordedMapping& m) {
  bool created;
  RecordedObject* object = make_object(m.device, m.inode, created);
  if (object == nullptr || m.content_fd < 0) return false;
  bool filled = fill(*object, m.content_fd, m.content_offset, m.content_size);
  if (created) sync_private_mappings(turn, *object);
  return filled;
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
