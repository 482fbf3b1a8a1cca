// Futexes between the threads of a recorded process: kept in the scheduler's table, oldest waiter first. The
// kernel keeps those that others could use, on shared memory.
#pragma once

#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {

/// True when the futex at `word` is the scheduler's: there is one, and no other process can reach the word.
/// `is_private`: FUTEX_PRIVATE_FLAG, which says so.
bool is_kept_futex(GuestAddr word, bool is_private);

/// True for a call that kept_futex() serves.
bool is_kept_call(const Args& args);
/// futex(2) for WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP and their BITSET forms.
SysResult kept_futex(Turn& turn, const Args& args);

/// FUTEX_WAKE, wherever the futex is kept. The number of threads woken, or -errno.
SysResult wake_futex(Turn& turn, GuestAddr word, bool is_private, u32 count);

}  // namespace detrec::guest::syscall
