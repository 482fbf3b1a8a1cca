// What the kernel does with a dying thread's futexes, done by the engine: man 2 get_robust_list,
// set_tid_address.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::syscall {

/// Marks the robust futexes that the running thread still owns with FUTEX_OWNER_DIED and wakes a waiter of
/// each, then zeroes its clear_child_tid word. Returns that word's address, where a waiter (pthread_join) is
/// still to be woken; 0: there is none.
GuestAddr leave_futexes(Turn& turn);

}  // namespace detrec::guest::syscall
