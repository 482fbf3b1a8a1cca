// How many threads wait at which futex: the part of the scheduler's table that a guest thread has to know to
// answer a wake-up by itself. Changed by the holder of the turn when it waits or wakes, and by the server for
// waits that end otherwise.
#pragma once

#include "trace/wire/turns.h"

namespace detrec::wire {

/// Linear probing without gaps. Damaged contents make answers wrong, never a loop endless.
class FutexCounts {
 public:
  explicit FutexCounts(FutexCount (&entries)[kFutexCounts]) : entries_(entries) {}

  std::uint64_t at(std::uint64_t address) const {
    const FutexCount* entry = find(address);
    return entry != nullptr && entry->address == address ? entry->waiters : 0;
  }

  void add(std::uint64_t address, std::uint64_t waiters) {
    FutexCount* entry = find(address);
    if (entry == nullptr || waiters == 0) return;
    if (entry->address != address) *entry = {address, 0};
    entry->waiters += waiters;
  }

  void subtract(std::uint64_t address, std::uint64_t waiters) {
    FutexCount* entry = find(address);
    if (entry == nullptr || entry->address != address) return;
    entry->waiters -= waiters < entry->waiters ? waiters : entry->waiters;
    if (entry->waiters == 0) remove(static_cast<std::uint32_t>(entry - entries_));
  }

 private:
  static constexpr std::uint32_t kMask = kFutexCounts - 1;
  static_assert((kFutexCounts & kMask) == 0);

  static std::uint32_t home(std::uint64_t address) {
    return static_cast<std::uint32_t>((address >> 2) * 0x9e37'79b9'7f4a'7c15u >> 40) & kMask;
  }

  /// The entry of the address, or the free one where it belongs; nullptr when there is neither.
  FutexCount* find(std::uint64_t address) const {
    for (std::uint32_t i = home(address), steps = 0; steps < kFutexCounts; i = (i + 1) & kMask, ++steps) {
      if (entries_[i].address == address || entries_[i].address == 0) return &entries_[i];
    }
    return nullptr;
  }

  /// Closes the gap: moves up what probing would no longer find.
  void remove(std::uint32_t gap) {
    entries_[gap] = {};
    for (std::uint32_t i = (gap + 1) & kMask, steps = 0; steps < kFutexCounts && entries_[i].address != 0;
         i = (i + 1) & kMask, ++steps) {
      const std::uint32_t from_home = (i - home(entries_[i].address)) & kMask;
      if (from_home < ((i - gap) & kMask)) continue;
      entries_[gap] = entries_[i];
      entries_[i] = {};
      gap = i;
    }
  }

  FutexCount (&entries_)[kFutexCounts];
};

}  // namespace detrec::wire
