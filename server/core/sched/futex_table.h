// Who waits on which futex (FUTEX-1 .. FUTEX-8). In the arena; waiters of a key are a list, oldest first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/sched/arena.h"

namespace detrec::core {

inline constexpr std::uint32_t kFullFutexMask = 0xffffffffu;

class FutexTable {
 public:
  explicit FutexTable(Arena& arena) : arena_(&arena) {}

  /// Registers a waiter; one that waits already is fatal (FUTEX-8).
  void add(ThreadId tid, const FutexKey& key, std::uint32_t mask);
  bool remove(ThreadId tid);
  bool waiting(ThreadId tid) const;
  std::optional<FutexKey> key_of(ThreadId tid) const;
  std::uint32_t mask_of(ThreadId tid) const;
  bool empty() const { return waiters_ == 0; }
  std::uint32_t waiters() const { return waiters_; }

  /// Takes at most `count` waiters whose mask meets `mask`, the longest-waiting ones; in registration order
  /// (FUTEX-4 .. FUTEX-6). With `fuzz` the matching ones are shuffled before the choice (FUTEX-7).
  std::vector<ThreadId> take(const FutexKey& key, std::uint32_t count, std::uint32_t mask,
                             RandomStream* fuzz = nullptr);
  /// Lets at most `count` waiters of `from` wait at `to` instead, behind those who wait there, in their
  /// order; their number. Masks stay.
  std::uint32_t move(const FutexKey& from, std::uint32_t count, const FutexKey& to);
  std::vector<ThreadId> waiters_of(const FutexKey& key) const;
  /// All keys with waiters, sorted.
  std::vector<FutexKey> keys() const;

  bool timed_out(ThreadId tid) const;
  void set_timed_out(ThreadId tid, bool value);

 private:
  std::uint32_t find(const FutexKey& key) const;
  Arena* arena_;
  std::uint32_t waiters_ = 0;
};

}  // namespace detrec::core
