// The hot state of the scheduler in one block of memory: run queue, futex table and turn records as plain
// data that refer to one another by row number only. The block has no pointers, so a byte-wise copy of it is
// a working copy, and it can be placed in memory shared with the guests.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "server/core/base/random.h"
#include "server/core/sched/turn_record.h"

namespace detrec::core {

using Row = std::uint32_t;  ///< number of a thread's row; 0 is none
inline constexpr Row kNoRow = 0;

/// Run-queue part of a thread's row: a node of a treap ordered by (priority, order).
struct QueueNode {
  ThreadId tid;  ///< 0: the row is free (then `left` links the free list)
  Row left, right, parent;
  std::uint32_t size;      ///< nodes of the subtree
  std::uint32_t unfilled;  ///< nodes of the subtree which keep the run from being quiescent
  std::uint32_t heap;      ///< treap priority
  Priority priority;
  std::int64_t order;
  Priority persistent;   ///< 0: none (RUNQ-16)
  Priority poll_normal;  ///< 0: not polling (RUNQ-6)
  Row poll_prev, poll_next;
  bool queued;
  bool unfilled_self;
  bool registered;
  bool removing;  ///< a removal is pending, so its empty request does not count (TURN-10)
};

/// Futex part of a thread's row.
struct FutexNode {
  std::uint32_t key;  ///< row of the key table; 0: not waiting
  Row prev, next;
  std::uint32_t mask;
  bool timed_out;  ///< its futex deadline fired (TIMED-4)
};

struct FutexKeyRow {
  FutexKey key;
  std::uint32_t next;  ///< in its bucket, or in the free list
  std::uint32_t count;
  Row head, tail;
};

/// Bucket of `key` in a futex table of `buckets` (a power of two) buckets.
inline std::uint32_t futex_bucket(const FutexKey& key, std::uint32_t buckets) {
  const std::uint64_t h = RandomStream::mix(key.object_a ^ RandomStream::mix(key.offset + key.object_b));
  return static_cast<std::uint32_t>(h & (buckets - 1));
}

struct QueueHeader {
  Row root, poll_head;
  std::int64_t next_back, next_front;
  std::uint64_t pushes;
  Row tentative, yielded, sticky;
  RandomStream choice, stickiness, post_fork;
};

struct ArenaHeader {
  std::uint32_t capacity;  ///< rows, row 0 unused
  Row free_rows;
  std::uint32_t free_keys;
  std::uint32_t buckets;  ///< of the tid index and of the futex table each, a power of two
  std::uint32_t live_rows;
  std::uint32_t registered_count;
  SlotId next_slot;
  QueueHeader queue;
};

class Arena {
 public:
  explicit Arena(std::uint32_t capacity = 64);

  ArenaHeader& header() { return *at<ArenaHeader>(0); }
  const ArenaHeader& header() const { return *at<ArenaHeader>(0); }
  QueueNode& queue(Row row) { return at<QueueNode>(queue_)[row]; }
  const QueueNode& queue(Row row) const { return at<QueueNode>(queue_)[row]; }
  TurnRecord& turn(Row row) { return at<TurnRecord>(turns_)[row]; }
  const TurnRecord& turn(Row row) const { return at<TurnRecord>(turns_)[row]; }
  FutexNode& futex(Row row) { return at<FutexNode>(futexes_)[row]; }
  const FutexNode& futex(Row row) const { return at<FutexNode>(futexes_)[row]; }
  FutexKeyRow& key(std::uint32_t row) { return at<FutexKeyRow>(keys_)[row]; }
  const FutexKeyRow& key(std::uint32_t row) const { return at<FutexKeyRow>(keys_)[row]; }
  std::uint32_t& bucket(std::uint32_t n) { return at<std::uint32_t>(buckets_)[n]; }
  const std::uint32_t& bucket(std::uint32_t n) const { return at<std::uint32_t>(buckets_)[n]; }

  /// kNoRow when the thread has no row.
  Row find(ThreadId tid) const;
  /// Finds or makes; may move the whole block, so references into it end here.
  Row obtain(ThreadId tid);
  /// Gives the row back when nothing is left in it.
  void release_if_idle(Row row);
  SlotId new_slot() { return ++header().next_slot; }

  /// The whole block, for copies and for the day it lives in shared memory.
  std::size_t bytes() const { return block_.size() * sizeof(std::uint64_t); }
  const std::vector<std::uint64_t>& block() const { return block_; }

 private:
  template <class T>
  T* at(std::size_t offset) {
    static_assert(std::is_trivially_copyable_v<T>);
    return reinterpret_cast<T*>(block_.data() + offset);
  }
  template <class T>
  const T* at(std::size_t offset) const {
    return reinterpret_cast<const T*>(block_.data() + offset);
  }
  void lay_out(std::uint32_t capacity);
  void grow();
  std::uint32_t hash(ThreadId tid) const;
  Row& slot_of(std::uint32_t n) { return at<Row>(index_)[n]; }
  const Row& slot_of(std::uint32_t n) const { return at<Row>(index_)[n]; }

  std::vector<std::uint64_t> block_;
  // Offsets in words, a function of the capacity alone.
  std::size_t index_ = 0, queue_ = 0, turns_ = 0, futexes_ = 0, keys_ = 0, buckets_ = 0;
};

}  // namespace detrec::core
