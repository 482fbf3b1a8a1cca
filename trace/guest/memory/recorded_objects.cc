#include "trace/guest/memory/recorded_objects.h"

#include <asm/errno.h>
#include <linux/mman.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"

namespace detrec::guest::memory {
namespace {

constexpr u32 kMost = 4096;
RecordedObject* objects = nullptr;  ///< kMost of them, `count` in use
u32 count = 0;
constexpr u32 kLeastSwept = 64;
u32 sweep_at = kLeastSwept;  ///< when there are so many

u64 fd_arg(i32 fd) { return static_cast<u64>(static_cast<i64>(fd)); }

i32 new_file() {
  constexpr u64 kCloseOnExec = 1;  // MFD_CLOEXEC
  SysResult fd = raw_syscall(__NR_memfd_create, arg("detrec-object"), kCloseOnExec);
  if (fd == -EMFILE) {
    struct {
      u64 soft, hard;
    } limit;
    constexpr u64 kRlimitNoFile = 7;
    raw_syscall(__NR_prlimit64, 0, kRlimitNoFile, 0, arg(&limit));
    limit.soft = limit.hard;
    raw_syscall(__NR_prlimit64, 0, kRlimitNoFile, arg(&limit), 0);
    fd = raw_syscall(__NR_memfd_create, arg("detrec-object"), kCloseOnExec);
  }
  return static_cast<i32>(fd);
}

bool is_mapped(const RecordedObject& object) {
  const RegionMap& map = address_space().map;
  for (const Region* m = map.at_or_after(0); m != nullptr; m = map.at_or_after(m->end)) {
    if (m->device == object.device && m->inode == object.inode) return true;
  }
  return false;
}

/// What nothing maps any more comes with its content when it is mapped again.
void sweep() {
  u32 kept = 0;
  for (u32 i = 0; i < count; ++i) {
    if (is_mapped(objects[i])) {
      objects[kept++] = objects[i];
    } else {
      raw_syscall(__NR_close, fd_arg(objects[i].fd));
    }
  }
  count = kept;
  sweep_at = 2 * kept > kLeastSwept ? 2 * kept : kLeastSwept;
}

bool copy_bytes(i32 to, u64 to_offset, i32 from, u64 from_offset, u64 size) {
  raw_syscall(__NR_lseek, fd_arg(to), to_offset, 0);
  for (u64 offset = from_offset, left = size; left != 0;) {
    SysResult n = raw_syscall(__NR_sendfile, fd_arg(to), fd_arg(from), arg(&offset), left);
    if (n <= 0) return false;
    left -= static_cast<u64>(n);
  }
  return true;
}

/// Private pages that have been made of it stay, unlike with ftruncate.
bool make_hole(i32 file, u64 offset, u64 size) {
  constexpr u64 kKeepSize = 1, kPunchHole = 2;
  return size == 0 ||
         !failed(raw_syscall(__NR_fallocate, fd_arg(file), kPunchHole | kKeepSize, offset, size));
}

/// Holes stay holes: a sparse file may be larger than all memory.
bool copy_file(i32 to, i32 from, u64 from_offset, u64 size) {
  constexpr u64 kSeekData = 3, kSeekHole = 4;
  const u64 end = from_offset + size;
  for (u64 at = from_offset; at < end;) {
    SysResult found = raw_syscall(__NR_lseek, fd_arg(from), at, kSeekData);
    if (failed(found) && found != -ENXIO) return false;
    u64 data = failed(found) || static_cast<u64>(found) > end ? end : static_cast<u64>(found);
    if (!make_hole(to, at - from_offset, data - at)) return false;
    if (data == end) return true;
    found = raw_syscall(__NR_lseek, fd_arg(from), data, kSeekHole);
    u64 hole = failed(found) || static_cast<u64>(found) > end ? end : static_cast<u64>(found);
    if (!copy_bytes(to, data - from_offset, from, data, hole - data)) return false;
    at = hole;
  }
  return true;
}

/// Maps `region` anew from the object; its private pages that differ from the object's stay as they are.
bool rebind(const Region& region, const RecordedObject& object) {
  u64 bytes = region.bytes();
  SysResult place = reserve_place({.length = bytes, .area = Area::kData, .ceiling = kStackEnd - kPageSize});
  if (failed(place)) return false;
  auto at = static_cast<GuestAddr>(place);
  u32 type = region.shared ? MAP_SHARED : MAP_PRIVATE;
  SysResult r = raw_syscall(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE, type | MAP_FIXED, fd_arg(object.fd),
                            region.file_offset);
  if (failed(r)) return false;
  if (!region.shared) {
    raw_syscall(__NR_mprotect, region.begin, bytes, PROT_READ);
    alignas(8) static u8 mine[kPageSize], shared[kPageSize];
    for (u64 offset = 0; offset < bytes; offset += kPageSize) {
      if (!read_guest(mine, region.begin + offset, kPageSize)) continue;
      if (read_guest(shared, at + offset, kPageSize) && memcmp(mine, shared, kPageSize) == 0) continue;
      probe_copy(reinterpret_cast<void*>(at + offset), mine, kPageSize);
    }
  }
  raw_syscall(__NR_mprotect, at, bytes, kernel_protection(region.prot));
  constexpr u64 kMoveFixed = MREMAP_MAYMOVE | MREMAP_FIXED;
  return !failed(raw_syscall(__NR_mremap, at, bytes, bytes, kMoveFixed, region.begin));
}

void rebind_all(Turn& turn, const RecordedObject& object, bool shared_too) {
  const RegionMap& map = address_space().map;
  for (const Region* m = map.at_or_after(0); m != nullptr;) {
    Region region = *m;
    if (region.device == object.device && region.inode == object.inode && (shared_too || !region.shared)) {
      drop_code(turn, region.begin, region.end);
      rebind(region, object);
      announce(turn, region.begin, region.end);
    }
    m = map.at_or_after(region.end);
  }
}

}  // namespace

RecordedObject* find_object(u64 device, u64 inode) {
  for (u32 i = 0; i < count; ++i) {
    if (objects[i].inode == inode && objects[i].device == device) return &objects[i];
  }
  return nullptr;
}

RecordedObject* make_object(u64 device, u64 inode, bool& created) {
  created = false;
  if (RecordedObject* object = find_object(device, inode)) return object;
  if (objects == nullptr) objects = static_cast<RecordedObject*>(engine_reserve(kMost * sizeof *objects));
  if (count >= sweep_at) sweep();
  if (count == kMost) return nullptr;
  i32 fd = new_file();
  if (fd < 0) return nullptr;
  objects[count] = {device, inode, fd, 0};
  created = true;
  return &objects[count++];
}

bool resize(RecordedObject& object, u64 size) {
  if (failed(raw_syscall(__NR_ftruncate, fd_arg(object.fd), size))) return false;
  object.size = size;
  return true;
}

bool fill(RecordedObject& object, i32 from_fd, u64 from_offset, u64 size) {
  return resize(object, size) && copy_file(object.fd, from_fd, from_offset, size);
}

void sync_private_mappings(Turn& turn, RecordedObject& object) { rebind_all(turn, object, false); }

void unshare_objects(Turn& turn) {
  for (u32 i = 0; i < count; ++i) {
    RecordedObject& object = objects[i];
    i32 copy = new_file(), old = object.fd;
    if (copy < 0) continue;
    object.fd = copy;
    if (fill(object, old, 0, object.size)) rebind_all(turn, object, true);
    raw_syscall(__NR_close, fd_arg(old));
  }
}

}  // namespace detrec::guest::memory
