// What /proc/<pid>/stat, status and statm must say differently from the kernel, which counts the engine's
// memory and knows the engine's signal handlers. Pure.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::procfs {

/// The guest's own figures; sizes in bytes, signals as masks with bit signo-1.
struct OwnFigures {
  u64 size, peak, data, stack, code, libraries;
  u64 pending, blocked, ignored, caught;
};

/// One line of `status`, without newline: writes its replacement (terminated) to `to` and returns true, or
/// false to keep it.
bool replace_status_line(const char* line, u64 n, const OwnFigures& own, char* to, u64 size);

/// The line of `stat` (proc(5)): rewritten into `to`, returns the length; lines that are not understood are
/// copied.
u64 rewrite_stat(const char* line, u64 n, const OwnFigures& own, char* to, u64 size);

/// The line of `statm`.
u64 rewrite_statm(const char* line, u64 n, const OwnFigures& own, char* to, u64 size);

}  // namespace detrec::guest::procfs
