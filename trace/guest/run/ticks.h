// Tick accounting over the striped counters of the context page.
//
// A budget of R ticks is spread by giving every stripe 1 + (R - 1) / kStripes: no stripe can reach zero
// before the budget allows it, and when one does, what is left is spread again. So a stop is exact although
// no single counter holds the whole.
#pragma once

#include "trace/guest/run/thread.h"

namespace detrec::guest::run {

inline u64 ticks_used(const Context& c) {
  u64 used = c.tick_base;
  for (u32 s : c.stripe) used += c.allotted - s;
  return used;
}

/// The same while in_guest is set (the short ways of exits.S), when a host handler's request_exit() may
/// interrupt the reading and allot anew.
inline u64 ticks_used_in_guest(const Context& c) {
  for (;;) {
    u64 base = c.tick_base;
    u32 allotted = c.allotted;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    u64 used = ticks_used(c);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (base == c.tick_base && allotted == c.allotted) return used;
  }
}

/// Spreads what is left until the deadline; nothing may be left only if the caller stops. Returns false then.
inline bool allot_ticks(Context& c) {
  u64 used = ticks_used(c);
  c.tick_base = used;
  u64 left = c.tick_deadline > used ? c.tick_deadline - used : 0;
  constexpr u64 kMost = 1ull << 32;
  if (left > kMost) left = kMost;
  c.allotted = left == 0 ? 0 : static_cast<u32>(1 + (left - 1) / kStripes);
  for (u32& s : c.stripe) s = c.allotted;
  return left != 0;
}

/// True when a stripe is used up: ticks must be allotted before generated code runs.
inline bool needs_allotment(const Context& c) {
  for (u32 s : c.stripe) {
    if (s == 0) return true;
  }
  return false;
}

/// Counts a transfer that the engine did itself. A stripe must be left.
inline void count_tick(Context& c) {
  for (u32& s : c.stripe) {
    if (s != 0) {
      --s;
      return;
    }
  }
  ++c.tick_base;  // only when the deadline is already reached
}

/// Takes the ticks out of the context page, to keep them with a thread that gives up the turn.
inline void save_ticks(Context& c, Thread& t) {
  t.saved_tick_base = ticks_used(c);
  t.saved_tick_deadline = c.tick_deadline;
  t.ticks_total = t.saved_tick_base;
  c.allotted = 0;
  for (u32& s : c.stripe) s = 0;
}

inline void load_ticks(Context& c, const Thread& t) {
  c.tick_base = t.saved_tick_base;
  c.tick_deadline = t.saved_tick_deadline;
  c.allotted = 0;
  for (u32& s : c.stripe) s = 0;  // allotted before generated code runs
}

}  // namespace detrec::guest::run
