// detrec stops and goes on together with its child.
#pragma once

#include <sys/types.h>

namespace detrec::frontend {

/// After `child` was seen stopped by `signal_number`: stops this process with the same signal, so that the
/// shell sees it, and returns when both are to go on. Whoever is continued first, this process or the child,
/// takes the other along. Needs all signals blocked, and leaves them so.
void stop_together(pid_t child, int signal_number);

}  // namespace detrec::frontend
