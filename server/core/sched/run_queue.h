// The run queue (RUNQ). All its state is in the arena: any number of threads, O(log n) for every operation.
#pragma once

#include <optional>
#include <vector>

#include "server/core/base/log.h"
#include "server/core/sched/arena.h"

namespace detrec::core {

// RUNQ-1
inline constexpr Priority kEagerPriority{0};
inline constexpr Priority kFirstPriority{1};
inline constexpr Priority kDefaultPriority{1000};
inline constexpr Priority kLastPriority{10000};
inline constexpr Priority kReplayForeground{1};
inline constexpr Priority kReplayDeferred{9999};
inline constexpr Priority kVforkChildPriority{999};  ///< VFORK-4

/// RUNQ-2
constexpr Priority priority_from_random(std::uint64_t value) {
  return {static_cast<std::uint32_t>(1 + value % 10000)};
}
constexpr bool valid_priority(Priority p) { return p >= kFirstPriority && p <= kLastPriority; }

enum class QueuePolicy : std::uint8_t { kRoundRobin, kConnectBind, kRandom, kStickyRandom };
enum class PostForkPolicy : std::uint8_t { kChildFirst, kParentFirst, kRandom };

struct QueueConfig {
  QueuePolicy policy = QueuePolicy::kRoundRobin;
  double sticky = 0.0;  ///< p of RUNQ-10
  std::uint64_t seed = 0;
};

/// A queue entry taken out to be put back at the same place (RUNQ-15).
struct SuspendedEntry {
  Priority priority;
  std::int64_t order = 0;
  Priority poll_normal;
  Priority persistent;
  friend bool operator==(const SuspendedEntry&, const SuspendedEntry&) = default;
};

class RunQueue {
 public:
  /// The arena and the sink outlive the queue; `log` may be null.
  RunQueue(Arena& arena, const QueueConfig& config, LogSink* log);
  RunQueue(Arena& arena, const RunQueue& other) : arena_(&arena), config_(other.config_), log_(other.log_) {}

  // Pushes. A queued thread, an open selection or a priority outside 1..10000 is fatal (RUNQ-4, TURN-13).
  void push_back(ThreadId tid, Priority p);
  void push_front(ThreadId tid, Priority p);
  void push_back(ThreadId tid) { push_back(tid, persistent(tid)); }
  void push_front(ThreadId tid) { push_front(tid, persistent(tid)); }
  void push_eager(ThreadId tid);                        ///< RUNQ-5
  void push_poll(ThreadId tid, std::uint32_t attempt);  ///< RUNQ-6
  void push_yield(ThreadId tid);                        ///< RUNQ-8

  /// Tentative choice by policy (RUNQ-9); nothing when empty. Stays open until commit or undo (TURN-12).
  std::optional<ThreadId> select();
  /// RUNQ-11; nothing when it is not queued.
  std::optional<ThreadId> select_exact(ThreadId tid);
  enum class CommitKind { kCompletedTurn, kSchedulerOnly };
  void commit(CommitKind kind);
  void undo();
  bool selection_open() const { return header().tentative != kNoRow; }
  std::optional<ThreadId> selected() const;

  /// Takes a thread out, wherever it is; false when it was not queued (RUNQ-12).
  bool remove(ThreadId tid);
  std::optional<SuspendedEntry> suspend(ThreadId tid);
  void restore(ThreadId tid, const SuspendedEntry& entry);

  // Persistent priority (RUNQ-16). Reading a missing one is fatal.
  Priority persistent(ThreadId tid) const;
  bool has_persistent(ThreadId tid) const;
  void set_persistent(ThreadId tid, Priority p);
  void clear_persistent(ThreadId tid);
  /// Sets the persistent priority and, when queued, moves the thread to the back of that band (TRACE-18).
  void move_to(ThreadId tid, Priority p);

  // Read-only queries, allowed while a selection is open (RUNQ-14).
  bool contains(ThreadId tid) const;
  bool empty() const { return header().root == kNoRow; }
  std::uint32_t size() const { return header().root == kNoRow ? 0 : arena_->queue(header().root).size; }
  std::optional<Priority> queued_priority(ThreadId tid) const;
  std::optional<std::int64_t> order(ThreadId tid) const;
  std::optional<Priority> poll_memory(ThreadId tid) const;
  bool other_work(ThreadId tid) const;  ///< RUNQ-14
  bool only_last_priority() const;      ///< empty, or nothing below 10000 (TURN-22)
  std::vector<ThreadId> in_order() const;
  std::optional<ThreadId> yielded() const { return row_tid(header().yielded); }
  std::optional<ThreadId> sticky_choice() const { return row_tid(header().sticky); }
  std::uint64_t pushes() const { return header().pushes; }

  // Quiescence (TURN-10): a queued thread counts as unfilled until its request is filled or its removal is
  // pending.
  void set_unfilled(Row row, bool unfilled);
  void set_removing(Row row, bool removing);
  std::optional<ThreadId> first_unfilled() const;

  /// One draw of the post-fork stream: whether the child goes to the front (FORK-9).
  bool draw_post_fork_front(PostForkPolicy policy);

 private:
  QueueHeader& header() { return arena_->header().queue; }
  const QueueHeader& header() const { return arena_->header().queue; }
  QueueNode& node(Row row) { return arena_->queue(row); }
  const QueueNode& node(Row row) const { return arena_->queue(row); }
  std::optional<ThreadId> row_tid(Row row) const;
  bool before(Row a, Row b) const;
  void update(Row row);
  bool owes(Row row) const;  ///< its request, so that the run is not quiescent
  void add_up(Row row, std::uint32_t size, std::uint32_t unfilled);  ///< to the row and all above it
  void owing_changed(Row row, bool before);
  void rotate_up(Row row);
  void insert(ThreadId tid, Priority p, std::int64_t order);
  void unlink(Row row);
  void detach(Row row);
  Row kth(std::uint32_t k) const;
  std::uint32_t rank(Row row) const;
  Row first() const;
  Row draw_eligible();
  void count_push();
  void poll_link(Row row);
  void poll_unlink(Row row);
  void log_draw(const char* what, std::uint64_t range, std::uint64_t result);

  Arena* arena_;
  QueueConfig config_;
  LogSink* log_;
};

}  // namespace detrec::core
