// The clock a thread carries in every message (TIME-7 .. TIME-13).
#pragma once

#include "server/core/time/costs.h"
#include "server/core/time/logical_time.h"

namespace detrec::core {

/// A non-negative factor in Q32 fixed point, so that products are exact and the same everywhere.
struct Factor {
  std::uint64_t q32 = std::uint64_t{1} << 32;

  static constexpr Factor integer(std::uint32_t n) { return {static_cast<std::uint64_t>(n) << 32}; }
  /// TIME-9: rounded to the nearest unit, at least one unit.
  static Factor rounded(double value);
  /// value * factor, truncated; saturates.
  constexpr std::uint64_t scale(std::uint64_t value) const {
    const Uint128 wide = static_cast<Uint128>(value) * q32 >> 32;
    return wide > LogicalTime::kMax ? LogicalTime::kMax : static_cast<std::uint64_t>(wide);
  }
  friend constexpr auto operator<=>(const Factor&, const Factor&) = default;
};

class ThreadClock {
 public:
  /// `multiplier` is the effective one (TIME-8: configured, times 500 when ticks cannot be counted).
  explicit ThreadClock(LogicalTime origin = kDefaultEpoch, Factor multiplier = {})
      : origin_(origin), multiplier_(multiplier) {}
  /// TIME-8
  static Factor effective_multiplier(Factor configured, bool sequential, bool ticks_counted) {
    return sequential && !ticks_counted ? Factor{configured.q32 * 500} : configured;
  }

  void add_syscall(LogicalTime cost) { ++syscalls_, syscall_cost_ += cost; }
  void add_syscall() { add_syscall({kDefaultSyscallNanos}); }
  void add_ticks(std::uint64_t ticks) { add_ticks(ticks, Factor{}); }
  /// Ticks of a slowed or hurried thread: counted once, timed by `weight` (TIME-9).
  void add_ticks(std::uint64_t ticks, Factor weight) {
    ticks_ += ticks;
    weighted_ticks_q32_ += static_cast<Uint128>(ticks) * weight.q32;
  }
  void add_traps(std::uint64_t count) { traps_ += count; }
  /// TIME-11: makes value() exactly t; an earlier t is fatal.
  void advance_to(LogicalTime t);
  void advance_by(LogicalTime d) { advances_ += d; }

  LogicalTime value() const { return origin_ + elapsed(); }
  LogicalTime elapsed() const { return advances_ + system() + ticks_time() + traps_time(); }
  LogicalTime user() const { return ticks_time() + traps_time(); }  ///< TIME-12
  LogicalTime system() const { return {multiplier_.scale(syscall_cost_.ns)}; }
  LogicalTime origin() const { return origin_; }
  LogicalTime inherited() const { return inherited_; }
  std::uint64_t ticks() const { return ticks_; }
  std::uint64_t syscalls() const { return syscalls_; }

  /// TIME-13: the clock a new thread starts with.
  ThreadClock child_copy() const {
    ThreadClock child = *this;
    child.inherited_ = elapsed();
    return child;
  }

 private:
  LogicalTime ticks_time() const {
    const Uint128 ns = (weighted_ticks_q32_ * kNanosPerTick) >> 32;
    return {multiplier_.scale(ns > LogicalTime::kMax ? LogicalTime::kMax : static_cast<std::uint64_t>(ns))};
  }
  LogicalTime traps_time() const { return {multiplier_.scale(traps_ * kNanosPerTrap)}; }

  LogicalTime origin_;
  Factor multiplier_;
  LogicalTime advances_;
  LogicalTime inherited_;
  LogicalTime syscall_cost_;
  std::uint64_t syscalls_ = 0;
  std::uint64_t ticks_ = 0;
  std::uint64_t traps_ = 0;
  Uint128 weighted_ticks_q32_ = 0;
};

}  // namespace detrec::core
