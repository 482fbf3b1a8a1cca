// Everything that happens at an instant of logical time (TIMED-1 .. TIMED-12).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "server/core/base/ids.h"
#include "server/core/time/logical_time.h"

namespace detrec::core {

/// The order of the kinds is the order at one deadline (TIMED-1).
enum class TimedKind : std::uint8_t { kAlarm, kRealTimer, kPosixTimer, kChildExit, kThread };

struct TimedEvent {
  LogicalTime deadline;
  TimedKind kind = TimedKind::kThread;
  std::int32_t first = 0;   ///< process; child of kChildExit; thread of kThread
  std::int64_t second = 0;  ///< POSIX timer id; parent of kChildExit
  friend constexpr auto operator<=>(const TimedEvent&, const TimedEvent&) = default;
};

/// Remaining time, or a deadline where the function says so, and interval of a timer.
struct TimerValue {
  LogicalTime time;
  LogicalTime interval;
  friend constexpr auto operator<=>(const TimerValue&, const TimerValue&) = default;
};

class TimedEvents {
 public:
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const std::set<TimedEvent>& all() const { return events_; }
  std::optional<LogicalTime> next_deadline() const;
  /// Number of distinct deadlines (TIMED-5: no empty bucket exists).
  std::size_t buckets() const;
  /// The first event not later than `now`; periodic alarms re-arm themselves (TIMED-2, TIMED-8).
  std::optional<TimedEvent> pop_due(LogicalTime now);
  bool only_indefinite() const { return !events_.empty() && events_.begin()->deadline.indefinite(); }

  /// A second deadline of a thread at the same time is fatal (TIMED-3).
  void add_thread(ThreadId tid, LogicalTime deadline);
  /// Its deadline, if any; deadlines at two times are fatal.
  std::optional<LogicalTime> remove_thread(ThreadId tid);
  std::optional<LogicalTime> thread_deadline(ThreadId tid) const;

  /// Arms or replaces; returns the previous (deadline, interval). (TIMED-6, TIMED-10)
  std::optional<TimerValue> set_alarm(ProcessId process, LogicalTime deadline, LogicalTime interval,
                                      ThreadId via = {});
  std::optional<TimerValue> remove_alarm(ProcessId process);
  std::optional<TimerValue> alarm(ProcessId process) const;
  ThreadId alarm_thread(ProcessId process) const;

  void set_posix(ProcessId process, std::int64_t id, LogicalTime deadline, LogicalTime interval,
                 Signal signal);
  bool remove_posix(ProcessId process, std::int64_t id);
  void remove_all_posix(ProcessId process);
  Signal posix_signal(ProcessId process, std::int64_t id) const;
  std::optional<TimerValue> posix(ProcessId process, std::int64_t id) const;

  void add_child_exit(ProcessId child, ProcessId parent,
                      LogicalTime deadline);  ///< equal ones coalesce (TIMED-22)

  void set_real_timer(ProcessId process, LogicalTime deadline);  ///< replaces (RTIMER-24)
  bool remove_real_timer(ProcessId process);

 private:
  struct Armed {
    LogicalTime deadline;
    LogicalTime interval;
    ThreadId via;
    Signal signal;
  };
  void erase_thread_index(ThreadId tid, LogicalTime deadline);

  std::set<TimedEvent> events_;
  std::set<std::pair<ThreadId, LogicalTime>> threads_;
  std::map<ProcessId, Armed> alarms_;
  std::map<std::pair<ProcessId, std::int64_t>, Armed> posix_;
  std::map<ProcessId, LogicalTime> real_;
};

/// The POSIX timer table of one process (TIMED-13 .. TIMED-16).
class PosixTimerTable {
 public:
  struct Timer {
    std::optional<Signal> signal;         ///< none: non-notifying
    std::optional<LogicalTime> deadline;  ///< none: disarmed
    LogicalTime interval;
  };
  std::int64_t create(std::optional<Signal> signal);
  /// Arms (or disarms, without deadline); previous (remaining, interval), nothing for an unknown id.
  std::optional<TimerValue> set(std::int64_t id, LogicalTime now, std::optional<LogicalTime> deadline,
                                LogicalTime interval);
  std::optional<TimerValue> read(std::int64_t id, LogicalTime now) const;
  std::optional<Signal> signal(std::int64_t id) const;
  bool remove(std::int64_t id);
  /// Exec deletes the timers; ids go on (TIMED-16).
  void clear_for_exec() { timers_.clear(); }
  /// TIMED-14
  static LogicalTime remaining(std::optional<LogicalTime> deadline, LogicalTime interval, LogicalTime now);

 private:
  std::map<std::int64_t, Timer> timers_;
  std::int64_t next_ = 0;
};

}  // namespace detrec::core
