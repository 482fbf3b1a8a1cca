// The one door through which the engine writes guest memory.
#pragma once

#include "trace/guest/base/probe.h"
#include "trace/guest/run/turn.h"

namespace detrec::guest::memory {

/// Writes n bytes to the guest; false when some of it is not writable by the guest (-EFAULT for the caller; a
/// prefix may be written, but of 8 bytes all or nothing). Tells the translator first, and (later)
/// watchpoints.
bool write_guest(Turn& turn, GuestAddr to, const void* from, u64 n);

/// A page gets translated code that writing has to drop.
void forget_quiet_page();

template <class T>
bool write_guest(Turn& turn, GuestAddr to, const T& value) {
  return write_guest(turn, to, &value, sizeof(T));
}

}  // namespace detrec::guest::memory
