#include "trace/guest/divert/clocks.h"

#include <asm/unistd_64.h>
#include <linux/time.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/run/accounts.h"

namespace detrec::guest::divert {
namespace {

using syscall::Timespec;

constexpr i64 kSecond = 1'000'000'000;
/// As logical time counts them while recording.
constexpr u64 kNanosPerTick = 10;

enum Family : u32 { kReal, kMonotonic, kProcess, kThread, kFamilies };

struct Clocks {
  Timespec last[kFamilies] = {};  ///< what the recorded program was told
  u64 last_tsc = 0;
  u64 begin_ticks = 0;
  u64 slept_ns = 0;
};
constinit Clocks clocks{};

/// kFamilies: no such clock.
Family family_of(u64 clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return kReal;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return kMonotonic;
    case CLOCK_PROCESS_CPUTIME_ID:
      return kProcess;
    case CLOCK_THREAD_CPUTIME_ID:
      return kThread;
    default:
      return kFamilies;
  }
}

u64 elapsed(Turn& turn) {
  return (run::total_ticks(turn) - clocks.begin_ticks) * kNanosPerTick + clocks.slept_ns;
}

void note_answer(u64 clock, GuestAddr at, i64 scale) {
  Timespec time;
  if (at == 0 || !read_guest(time, at)) return;
  time.nanoseconds *= scale;
  note_clock(clock, time);
}

}  // namespace

void note_clock(u64 clock, const Timespec& time) {
  Family family = family_of(clock);
  if (family != kFamilies) clocks.last[family] = time;
}

void note_clock_call(i32 nr, const syscall::Args& args) {
  if (nr == __NR_clock_gettime) note_answer(args[0], args[1], 1);
  if (nr == __NR_gettimeofday) note_answer(CLOCK_REALTIME, args[0], 1000);
}

void note_instruction(wire::InstructionKind what, u64 value) {
  if (what == wire::InstructionKind::kRdtsc || what == wire::InstructionKind::kRdtscp)
    clocks.last_tsc = value;
}

void start_clocks(Turn& turn, u64 wall_ns) {
  clocks.begin_ticks = run::total_ticks(turn);
  Timespec recorded{static_cast<i64>(wall_ns / kSecond), static_cast<i64>(wall_ns % kSecond)};
  Timespec& told = clocks.last[kReal];
  if (recorded.seconds > told.seconds ||
      (recorded.seconds == told.seconds && recorded.nanoseconds > told.nanoseconds))
    told = recorded;
}

bool read_clock(Turn& turn, u64 clock, Timespec& time) {
  Family family = family_of(clock);
  if (family == kFamilies) return false;
  time = clocks.last[family];
  u64 ns = static_cast<u64>(time.nanoseconds) + elapsed(turn);
  time.seconds += static_cast<i64>(ns / kSecond);
  time.nanoseconds = static_cast<i64>(ns % kSecond);
  return true;
}

u64 read_tsc(Turn& turn) { return clocks.last_tsc + elapsed(turn); }

void sleep(const Timespec& time) {
  clocks.slept_ns += static_cast<u64>(time.seconds) * kSecond + static_cast<u64>(time.nanoseconds);
}

}  // namespace detrec::guest::divert
