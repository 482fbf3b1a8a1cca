// How long a call took, for people who ask a trace. It must cost next to nothing: of most calls, which are
// short, only the processor's counter is read.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::events {

/// The processor's cycle counter.
inline u64 cycles() {
  u32 low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return u64{high} << 32 | low;
}

/// Nanoseconds since `begun`; 0: it was short (some microseconds), or the counter cannot tell.
u64 duration_since(u64 begun);

/// Where the counter stands in relation to the clock, from which duration_since() knows its speed.
void start_durations();

}  // namespace detrec::guest::events
