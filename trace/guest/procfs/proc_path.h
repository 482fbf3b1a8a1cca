// Recognises paths into /proc/self. Pure.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::procfs {

enum class ProcFile {
  kNone,  ///< not ours to answer
  kExe,
  kMaps,
  kSmaps,
  kSmapsRollup,
  kNumaMaps,
  kAuxv,
  kCmdline,
  kEnviron,
  kStat,
  kStatus,
  kStatm,
  kMem,
  kDescriptor,  ///< fd/<n> or fdinfo/<n>, or something below it
  kDescriptorFolder,
};

struct ProcPath {
  ProcFile file = ProcFile::kNone;
  i32 owner = 0;  ///< the process or thread named; 0: self or thread-self
  i32 task = 0;   ///< that of task/<tid>; 0: none
  i32 descriptor = -1;
  bool thread = false;  ///< thread-self
  bool link = false;    ///< the path is fd/<n> itself, a link
};

/// Cheap: false for paths that cannot be one of ours, whatever folder a relative one starts from.
bool may_concern(const char* path);

/// Parses an absolute path. "//", "." and ".." are understood as text; symbolic links other than /proc's own
/// and /dev/fd are not.
ProcPath parse_proc_path(const char* path);

/// A decimal number that makes up all of [s, end): its value, or -1.
i32 parse_number(const char* s, const char* end);

}  // namespace detrec::guest::procfs
