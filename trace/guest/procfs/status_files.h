// stat, status and statm of the guest's own process and threads.
#pragma once

#include "trace/guest/procfs/text_file.h"
#include "trace/guest/run/thread.h"

namespace detrec::guest::procfs {

/// Copies the kernel's file at `path` (as openat) with the guest's figures put in; `thread`: whose signals
/// are shown. 0 or -errno.
SysResult write_stat(TextFile& to, const Thread& thread, i32 dirfd, const char* path);
SysResult write_status(TextFile& to, const Thread& thread, i32 dirfd, const char* path);
SysResult write_statm(TextFile& to, const Thread& thread, i32 dirfd, const char* path);

}  // namespace detrec::guest::procfs
