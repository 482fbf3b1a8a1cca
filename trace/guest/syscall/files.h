// Calls that resolve a path whose answer may have to be the guest's own: /proc/self/exe, maps, fd and the
// like.
#pragma once

#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {

inline constexpr u64 kPathMax = 4096;

/// File types in st_mode (man 7 inode).
inline constexpr u32 kTypeMask = 0170000, kRegularFile = 0100000, kDirectory = 0040000,
                     kBlockDevice = 0060000;

/// Calls of Subject::kPath.
SysResult on_path(Turn& turn, const SyscallRow& row);

/// The path the kernel gets instead of the guest's in the calls that follow one: `copied` (kPathMax bytes)
/// receives the guest's. Returns the engine's pointer when it must be replaced, the guest's own address when
/// not.
GuestAddr path_for_kernel(Turn& turn, i32 dirfd, GuestAddr path, char* copied, bool nofollow);

}  // namespace detrec::guest::syscall
