// The engine's own descriptors (process.h) and how they stay out of the guest's sight.
//
// They lie above the guest's soft limit of descriptors where the hard limit allows that, so a guest meets
// their numbers only after raising its limit. They give way when the guest wants a number of theirs (dup2),
// and every other use of them is EBADF. The kernel's limits stay the guest's own.
#pragma once

#include "trace/guest/process.h"

namespace detrec::guest::syscall {

inline bool is_engine_fd(i32 fd) {
  if (fd < 0) return false;
  for (i32 own : process().own_fds) {
    if (fd == own) return true;
  }
  return false;
}

/// Moves the engine's descriptor with number `fd`, if it is one, to another free number. False when there is
/// none.
bool make_way(i32 fd);

/// Moves the descriptors out of the way at the process's start.
void place_engine_fds();

}  // namespace detrec::guest::syscall
