#include "trace/guest/events/duration.h"

#include "trace/guest/syscall/host_clock.h"

namespace detrec::guest::events {
namespace {

/// Fewer cycles are not worth a look at the clock, and would only make traces larger.
constexpr u64 kShort = 1u << 14;

u64 first_cycles;
i64 first_ns;

/// a * b / c, which must fit.
u64 scale(u64 a, u64 b, u64 c) {
  u64 rest;
  asm("mulq %[b]\n\tdivq %[c]" : "+a"(a), "=&d"(rest) : [b] "r"(b), [c] "r"(c) : "cc");
  return a;
}

}  // namespace

void start_durations() {
  first_ns = syscall::host_monotonic_ns();
  first_cycles = cycles();
}

u64 duration_since(u64 begun) {
  u64 now = cycles();
  u64 taken = now - begun;
  if (taken < kShort) return 0;
  // Counters of processors that are out of step, or stood still.
  u64 since_first = now - first_cycles;
  i64 ns = syscall::host_monotonic_ns() - first_ns;
  if (taken > since_first || ns <= 0) return 0;
  return scale(taken, static_cast<u64>(ns), since_first);
}

}  // namespace detrec::guest::events
