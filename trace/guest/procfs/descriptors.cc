// The engine's descriptors, which the guest does not see.
#include "trace/guest/syscall/descriptors.h"

#include "trace/guest/base/string.h"
#include "trace/guest/process.h"
#include "trace/guest/procfs/proc_path.h"
#include "trace/guest/procfs/procfs.h"

namespace detrec::guest::procfs {
namespace {

/// struct linux_dirent64 and linux_dirent up to the name (getdents(2)).
struct Entry64 {
  u64 inode;
  i64 offset;
  u16 length;
  u8 type;
  char name[1];
};
struct EntryOld {
  u64 inode;
  u64 offset;
  u16 length;
  char name[1];
};

template <class Entry>
u64 drop_hidden(void* entries, u64 bytes) {
  u8* base = static_cast<u8*>(entries);
  constexpr u64 kNameOffset = offsetof(Entry, name), kLengthOffset = offsetof(Entry, length);
  u64 from = 0, to = 0;
  while (from + kNameOffset < bytes) {
    u16 length;
    memcpy(&length, base + from + kLengthOffset, sizeof length);
    if (length <= kNameOffset || length > bytes - from) break;
    const char* name = reinterpret_cast<const char*>(base + from + kNameOffset);
    i32 fd = parse_number(name, name + strlen(name));
    if (fd < 0 || !syscall_hidden_fd(fd)) {
      if (to != from) memmove(base + to, base + from, length);
      to += length;
    }
    from += length;
  }
  return to;
}

}  // namespace

bool syscall_hidden_fd(i32 fd) { return syscall::is_engine_fd(fd); }

u64 drop_hidden_entries(void* entries, u64 bytes) { return drop_hidden<Entry64>(entries, bytes); }
u64 drop_hidden_entries_old(void* entries, u64 bytes) { return drop_hidden<EntryOld>(entries, bytes); }

}  // namespace detrec::guest::procfs
