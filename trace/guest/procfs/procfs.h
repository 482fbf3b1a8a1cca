// /proc/self as the guest must see it: its own executable, memory map, arguments and descriptors, not the
// engine's.
//
// syscall/ asks here before it passes a path to the kernel. Paths are what the guest gave, already copied
// from its memory. Answered: /proc/self, /proc/thread-self, /proc/<own pid or thread id> and their task/<tid>
// folders, for exe, maps, smaps, smaps_rollup, numa_maps (does not exist), auxv, cmdline, environ, stat,
// status, statm and hidden descriptors in fd and fdinfo. The resident sizes in status and statm, and
// everything else, are the kernel's and include the engine (docs/limits.md).
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::procfs {

/// open, openat, openat2 (`flags`: O_*). When the path is one that is answered here, sets `handled` and
/// returns the new descriptor (the lowest free one) or -errno; else leaves `handled` false.
SysResult open(Turn& turn, i32 dirfd, const char* path, u64 flags, bool& handled);

/// readlink, readlinkat: fills up to `size` bytes of `buffer` (not terminated) and returns their number. An
/// empty path with a `dirfd` opened with O_PATH | O_NOFOLLOW on a link is understood too.
SysResult readlink(Turn& turn, i32 dirfd, const char* path, char* buffer, u64 size, bool& handled);

/// For calls that follow a path and return no descriptor (stat, access, statfs, execve, getxattr ...): the
/// path to give the kernel instead: the guest's executable for /proc/self/exe, a path that does not exist for
/// a hidden descriptor, else `path` itself. `nofollow`: the call is about the link itself. Points into static
/// storage of the engine, valid until the next call under the same turn; an answer other than `path` is
/// absolute, `dirfd` does not matter to it.
const char* redirect_path(Turn& turn, i32 dirfd, const char* path, bool nofollow);

/// True when descriptor `fd` is a folder whose listing shows this process's descriptors (/proc/self/fd,
/// fdinfo).
bool is_fd_directory(Turn& turn, i32 fd);

/// Removes the engine's descriptors from what getdents64 returned for such a folder; returns the new number
/// of bytes (0 only if `bytes` was 0 or nothing is left: then ask the kernel for more before telling the
/// guest the end).
u64 drop_hidden_entries(void* entries, u64 bytes);
/// The same for getdents (struct linux_dirent).
u64 drop_hidden_entries_old(void* entries, u64 bytes);

/// True when `fd` is one of the engine's own descriptors: to the guest it is not open.
bool syscall_hidden_fd(i32 fd);

}  // namespace detrec::guest::procfs
