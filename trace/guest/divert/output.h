// What a diverted program writes to its stdout and stderr, which are descriptors 1 and 2 here, whatever the
// recorded program has made of them. They look like a terminal, so that the C library does not keep output
// back.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::divert {

/// write, writev, fstat, newfstatat, ioctl: is it about them?
bool is_output(i32 nr, const syscall::Args& args);
SysResult on_output(Turn& turn, i32 nr, const syscall::Args& args);

}  // namespace detrec::guest::divert
