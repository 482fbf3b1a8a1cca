// What the rest of the engine tells the translator about code that changes. All need the turn.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::translate {

/// Drops every block with a byte in [begin, end) (whole pages). After this the next execution there is
/// translated afresh. Called by memory/ on munmap, mprotect, mremap, MAP_FIXED over code and before any write
/// to translated pages.
void invalidate(Turn& turn, GuestAddr begin, GuestAddr end);

/// True when some page of [begin, end) holds translated code (cheap; false for nearly all calls).
bool has_code(GuestAddr begin, GuestAddr end);

/// A page fault for writing at `address`: when its page is write-protected because it holds translated code
/// (or aliases some), drops the code, lifts the protection and returns true.
bool on_write_fault(Turn& turn, GuestAddr address);

/// Must be called before the kernel or the engine writes guest memory [begin, end): drops code there and
/// lifts protections, so that the write neither fails with EFAULT nor leaves stale translations. Cheap when
/// no translated page is writable.
void before_write(Turn& turn, GuestAddr begin, GuestAddr end);

/// memory/ calls it after a protection or mapping changed such that [begin, end) is now both writable and
/// possibly holding code (or an alias of code): the translator protects again at its next translation.
void on_mapping_changed(Turn& turn, GuestAddr begin, GuestAddr end);

}  // namespace detrec::guest::translate
