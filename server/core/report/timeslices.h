// Timeslice statistics in virtual nanoseconds (SUM-13, EXIT-18).
#pragma once

#include <cstdint>

namespace detrec::core {

struct TimesliceStats {
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t min_ns = 0;
  std::uint64_t max_ns = 0;

  void add(std::uint64_t ns) { merge({1, ns, ns, ns}); }
  void merge(const TimesliceStats& other) {
    if (other.count == 0) return;
    if (count == 0) {
      *this = other;
      return;
    }
    count += other.count;
    sum_ns += other.sum_ns;
    min_ns = other.min_ns < min_ns ? other.min_ns : min_ns;
    max_ns = other.max_ns > max_ns ? other.max_ns : max_ns;
  }
  std::uint64_t mean_ns() const { return count == 0 ? 0 : sum_ns / count; }
  friend bool operator==(const TimesliceStats&, const TimesliceStats&) = default;
};

}  // namespace detrec::core
