// Replay: memory that a recorded call has changed, by whatever way the kernel had.
#include <linux/mman.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/memory/recorded_objects.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::memory {
namespace {

/// What is like that already is not written: a private page that the guest has not touched stays the file's.
bool has_content(GuestAddr at, const u8* data, u64 size) {
  alignas(8) u8 now[512];
  for (u64 done = 0; done < size;) {
    u64 piece = size - done < sizeof now ? size - done : sizeof now;
    if (!read_guest(now, at + done, piece) || memcmp(now, data + done, piece) != 0) return false;
    done += piece;
  }
  return true;
}

/// The object behind a mapping grows with the file.
void extend_object(const Region& region, GuestAddr end) {
  RecordedObject* object = find_object(region.device, region.inode);
  u64 size = region.file_offset + (end - region.begin);
  if (object != nullptr && size > object->size) resize(*object, size);
}

/// Where the guest itself may not write (/proc/self/mem, a file mapped for reading), or where a private
/// mapping has grown with its file.
bool force_write(Turn& turn, const Region& region, GuestAddr to, const u8* data, u64 size) {
  GuestAddr begin = page_down(to), end = page_up(to + size);
  drop_code(turn, begin, end);
  auto* target = reinterpret_cast<void*>(to);
  raw_syscall(__NR_mprotect, begin, end - begin, PROT_READ | PROT_WRITE);
  bool written = probe_copy(target, data, size) == 0;
  if (!written && !region.shared) {
    for (GuestAddr page = begin; page < end; page += kPageSize) {
      u8 byte;
      if (read_guest(byte, page)) continue;
      raw_syscall(__NR_mmap, page, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                  ~0ull, 0);
    }
    written = probe_copy(target, data, size) == 0;
  }
  raw_syscall(__NR_mprotect, begin, end - begin, kernel_protection(region.prot));
  return written;
}

bool write_part(Turn& turn, const Region& region, GuestAddr to, const u8* data, u64 size) {
  if (region.is_file()) {
    extend_object(region, to + size);
    if (has_content(to, data, size)) {
      // Changed through an alias of it, or on its way to be: what was translated from it is old.
      if (translate::has_code(to, to + size)) drop_code(turn, page_down(to), page_up(to + size));
      return true;
    }
  }
  if (write_guest(turn, to, data, size)) return true;
  return force_write(turn, region, to, data, size);
}

}  // namespace

bool write_recorded(Turn& turn, GuestAddr to, const void* from, u64 n) {
  auto* data = static_cast<const u8*>(from);
  if (n == 0) return true;
  if (to + n < to || touches_engine(to, to + n)) return false;
  const AddressSpace& space = address_space();
  while (n != 0) {
    const Region* region = space.map.find(to);
    if (region == nullptr) {  // a stack that grows
      sync_growth(page_down(to), page_up(to + n));
      region = space.map.find(to);
    }
    if (region == nullptr) return write_guest(turn, to, data, n);
    Region part = *region;
    u64 size = part.end - to < n ? part.end - to : n;
    if (!write_part(turn, part, to, data, size)) return false;
    to += size;
    data += size;
    n -= size;
  }
  return true;
}

}  // namespace detrec::guest::memory
