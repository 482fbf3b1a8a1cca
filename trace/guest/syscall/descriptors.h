// The engine's two descriptors (its image for execve, the launch page) and how they stay out of the guest's
// sight.
//
// They lie above the guest's soft limit of descriptors where the hard limit allows that, so a guest meets
// their numbers only after raising its limit. They give way when the guest wants a number of theirs (dup2),
// and every other use of them is EBADF. The kernel's limits stay the guest's own.
#pragma once

#include "trace/guest/process.h"

namespace detrec::guest::syscall {

inline bool is_engine_fd(i32 fd) {
  const Process& p = process();
  return fd >= 0 && (fd == p.engine_fd || fd == p.launch_fd);
}

/// Moves the engine's descriptor with number `fd`, if it is one, to another free number. False when there is
/// none.
bool make_way(i32 fd);

/// Moves both descriptors out of the way at the process's start and enters them in process().
void place_engine_fds(i32 engine_fd, i32 launch_fd);

}  // namespace detrec::guest::syscall
