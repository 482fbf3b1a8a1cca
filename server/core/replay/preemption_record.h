// Per-thread preemption histories, their file form and their writer (PREEMPT-1 .. PREEMPT-10).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/base/log.h"
#include "server/core/base/outcome.h"
#include "server/core/replay/schedule_event.h"
#include "server/core/sched/run_queue.h"
#include "server/core/time/thread_clock.h"

namespace detrec::core {

/// A point of a thread's run. Between two ticks execution only moves to higher addresses, so the order is
/// lexicographic. pc 0: the tick itself.
struct TickPoint {
  std::uint64_t ticks = 0;
  std::uint64_t pc = 0;
  friend constexpr auto operator<=>(const TickPoint&, const TickPoint&) = default;
};

struct ChaosEpoch {
  LogicalTime time;
  std::uint64_t number = 0;
  Factor factor;
  friend constexpr auto operator<=>(const ChaosEpoch&, const ChaosEpoch&) = default;
};

struct PriorityChange {
  LogicalTime time;
  Priority until;  ///< the priority up to `time`
  friend constexpr auto operator<=>(const PriorityChange&, const PriorityChange&) = default;
};

struct PriorityFrom {
  LogicalTime time;
  Priority from;
  friend constexpr auto operator<=>(const PriorityFrom&, const PriorityFrom&) = default;
};

struct PreemptionHistory {
  Priority final = kDefaultPriority;
  std::vector<PriorityChange> changes;
  std::vector<TickPoint> points;  ///< empty, or one for each change
  std::vector<ChaosEpoch> epochs;

  Priority initial() const { return changes.empty() ? final : changes.front().until; }  ///< PREEMPT-2
  /// The other representation: initial priority at time 0, then each new one from its time (PREEMPT-6).
  std::vector<PriorityFrom> as_from() const;
  static PreemptionHistory from_from(const std::vector<PriorityFrom>& list);
  friend bool operator==(const PreemptionHistory&, const PreemptionHistory&) = default;
};

struct PreemptionRecord {
  std::map<ThreadId, PreemptionHistory> threads;
  std::vector<ScheduleEvent> events;

  /// The reason why it is invalid, or nothing (PREEMPT-5).
  std::optional<std::string> invalid() const;
  std::string json() const;
  static Outcome<PreemptionRecord, std::string> parse(const std::string& text);
  void normalise();    ///< PREEMPT-9
  void drop_latest();  ///< PREEMPT-10
  std::size_t changes() const;
  friend bool operator==(const PreemptionRecord&, const PreemptionRecord&) = default;
};

/// Where a finished record goes; the caller does the I/O. `error` is filled on failure.
class RecordDestination {
 public:
  virtual ~RecordDestination() = default;
  virtual std::string name() const = 0;
  virtual bool write(const std::string& text, std::string& error) = 0;
};

class PreemptionWriter {
 public:
  /// `destination` may be null: then nothing is ever written.
  explicit PreemptionWriter(RecordDestination* destination) : destination_(destination) {}
  PreemptionWriter(const PreemptionWriter&) = delete;
  PreemptionWriter& operator=(const PreemptionWriter&) = delete;
  ~PreemptionWriter();

  void add_thread(ThreadId tid, Priority initial);
  /// For an id whose earlier incarnation is in the record already (exec, reuse).
  bool knows(ThreadId tid) const { return record_.threads.contains(tid); }
  void change(ThreadId tid, LogicalTime time, Priority before, Priority after,
              std::optional<TickPoint> point);
  void epoch(ThreadId tid, const ChaosEpoch& epoch);
  void set_current(ThreadId tid, Priority priority);
  void add_event(const ScheduleEvent& event) { record_.events.push_back(event); }
  const PreemptionRecord& record() const { return record_; }
  RecordDestination* destination() const { return destination_; }
  /// Writes once; later calls do nothing. The error of the write, if any.
  std::optional<std::string> flush();
  void discard() { flushed_ = true; }

 private:
  PreemptionHistory& history(ThreadId tid);
  RecordDestination* destination_;
  PreemptionRecord record_;
  bool flushed_ = false;
};

}  // namespace detrec::core
