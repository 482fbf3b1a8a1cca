// Logical time: nanoseconds, saturating (TIME-1 .. TIME-4).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>

#include "server/core/base/check.h"

namespace detrec::core {

__extension__ typedef unsigned __int128 Uint128;

/// An instant or a length of logical time, in nanoseconds.
struct LogicalTime {
  std::uint64_t ns = 0;

  static constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  static constexpr LogicalTime seconds(std::uint64_t s) {
    return s > kMax / 1'000'000'000 ? LogicalTime{kMax} : LogicalTime{s * 1'000'000'000};
  }
  constexpr bool indefinite() const { return ns == kMax; }
  constexpr std::uint64_t whole_seconds() const { return ns / 1'000'000'000; }
  constexpr std::uint64_t whole_millis() const { return ns / 1'000'000; }
  constexpr std::uint64_t whole_micros() const { return ns / 1'000; }
  constexpr std::uint32_t subsec_millis() const { return static_cast<std::uint32_t>(ns / 1'000'000 % 1'000); }
  constexpr std::uint32_t subsec_micros() const { return static_cast<std::uint32_t>(ns / 1'000 % 1'000'000); }
  constexpr std::uint32_t subsec_nanos() const { return static_cast<std::uint32_t>(ns % 1'000'000'000); }

  /// Saturates at the maximum, which means "indefinite" (TIME-2).
  friend constexpr LogicalTime operator+(LogicalTime a, LogicalTime b) { return add(a, b.ns); }
  static constexpr LogicalTime add(LogicalTime a, Uint128 ns) {
    return ns > kMax - a.ns ? LogicalTime{kMax} : LogicalTime{a.ns + static_cast<std::uint64_t>(ns)};
  }
  /// Below zero is fatal.
  friend constexpr LogicalTime operator-(LogicalTime a, LogicalTime b) {
    if (b.ns > a.ns) fatal_text("logical time would fall below zero");
    return {a.ns - b.ns};
  }
  /// a - b, or zero.
  static constexpr LogicalTime saturating_sub(LogicalTime a, LogicalTime b) {
    return {b.ns > a.ns ? 0 : a.ns - b.ns};
  }
  LogicalTime& operator+=(LogicalTime other) { return *this = *this + other; }
  friend constexpr auto operator<=>(const LogicalTime&, const LogicalTime&) = default;
};

/// "No deadline"; no smaller value is indefinite (TIME-2).
inline constexpr LogicalTime kIndefinite{LogicalTime::kMax};

/// 2026-01-01T00:00:00Z (TIME-10).
inline constexpr LogicalTime kDefaultEpoch = LogicalTime::seconds(1'767'225'600);

constexpr LogicalTime saturating_duration(std::chrono::duration<std::uint64_t> s) {
  return LogicalTime::seconds(s.count());
}

/// TIME-3: digits grouped by three, `946_684_799.729_860_000s` or `729_860_000ns`.
std::string to_string(LogicalTime time);

}  // namespace detrec::core
