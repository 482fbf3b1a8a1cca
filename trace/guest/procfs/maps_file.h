// The guest's /proc/self/maps: its own mappings, with device, inode and path as the kernel has them at this
// moment.
#pragma once

#include "trace/guest/procfs/maps_text.h"
#include "trace/guest/procfs/text_file.h"

namespace detrec::guest::procfs {

/// Calls visit with every row of the guest's maps, [vsyscall] included where the kernel has one. 0, or the
/// -errno of reading the kernel's maps.
SysResult for_each_row(void (*visit)(const MapsRow& row, void* arg), void* arg);

/// maps.
SysResult write_maps(TextFile& to);

/// smaps, or smaps_rollup when `rollup`.
SysResult write_smaps(TextFile& to, bool rollup);

}  // namespace detrec::guest::procfs
