// Process-owned real timers of controlled mode, and the task identities they rest on (RTIMER, ID-10).
#pragma once

#include <map>
#include <optional>
#include <variant>

#include "server/core/base/outcome.h"
#include "server/core/sched/timed_events.h"

namespace detrec::core {

inline constexpr Signal kAlarmSignal{14};  ///< SIGALRM, signal(7)

template <class T>
using TimerOutcome = Outcome<T, TimerFailureKind>;

/// One expiry of one arm of one process life.
struct ExpiryId {
  ProcessKey process;
  std::uint64_t arm = 0;
  std::uint64_t number = 0;  ///< run-wide
  friend constexpr auto operator<=>(const ExpiryId&, const ExpiryId&) = default;
};

enum class PublishOutcome : std::uint8_t { kCommitted, kRejected, kFailedAfterCommit };

/// A consumer's report that it took a signal from the process-wide queue (RTIMER-13 .. RTIMER-16).
struct DequeueNotice {
  TaskIdentity consumer;
  std::uint64_t sequence = 0;  ///< 1, 2, 3, ... per process generation
  Signal signal;
  bool shared = true;
  friend bool operator==(const DequeueNotice&, const DequeueNotice&) = default;
};

struct DequeueAck {
  std::uint64_t sequence = 0;
  bool retired = false;
  std::optional<LogicalTime> rearmed;  ///< new deadline
  friend bool operator==(const DequeueAck&, const DequeueAck&) = default;
};

class RealTimers {
 public:
  struct Binding {
    TaskIdentity task;
    AddressSpaceId as;
    bool live = true;
  };
  enum class Phase : std::uint8_t { kDisarmed, kActive, kPublishing, kInactive, kFailed };
  struct Timer {
    ProcessKey process;
    std::uint64_t birth = 0;
    bool retired = false;
    std::uint64_t arm = 0;
    LogicalTime interval;
    Phase phase = Phase::kDisarmed;
    LogicalTime deadline;            ///< of active and publishing; last one of inactive
    std::optional<ExpiryId> expiry;  ///< of publishing, and of failed when known
    std::optional<TimerFailureKind> failure;
    std::optional<std::pair<ExpiryId, PublishOutcome>> last_outcome;
    std::uint64_t sequence = 0;
    std::optional<DequeueNotice> last_notice;
    DequeueAck last_ack;
  };

  // Threads.
  TimerOutcome<std::uint64_t> bind(ThreadId tid, ProcessId process, AddressSpaceId as,
                                   const TaskIdentity& task);
  TimerOutcome<Done> check_task(ThreadId tid, ProcessId process, AddressSpaceId as,
                                const TaskIdentity& task) const;
  TimerOutcome<Done> exec(ThreadId tid, ProcessId process, AddressSpaceId before, AddressSpaceId after,
                          const TaskIdentity& task);
  void retire_thread(ThreadId tid, bool last_of_process);
  const Binding* binding(ThreadId tid) const;
  /// A binding of a live thread.
  const Binding* live_binding(ThreadId tid) const;
  /// The unretired life of `process`, if any.
  std::optional<ProcessKey> live_process(ProcessId process) const;
  std::optional<ProcessKey> known_process(ProcessId process) const;  ///< retired ones too

  // The timer.
  TimerOutcome<TimerValue> set(ThreadId caller, ProcessId process, LogicalTime now, LogicalTime value,
                               LogicalTime interval, Signal signal);
  TimerOutcome<TimerValue> snapshot(ProcessId process, LogicalTime now) const;
  TimerOutcome<ExpiryId> expire(ProcessId process, LogicalTime deadline);
  TimerOutcome<Done> publication(const ExpiryId& expiry, PublishOutcome outcome);
  TimerOutcome<DequeueAck> dequeued(const DequeueNotice& notice, LogicalTime now);
  void fail(ProcessId process, TimerFailureKind kind);
  const Timer* timer(ProcessId process) const;

 private:
  Timer* current(ProcessId process);
  static TimerValue value_of(const Timer& timer, LogicalTime now);
  std::map<ThreadId, Binding> bindings_;
  std::map<ProcessKey, Timer> timers_;
  std::map<ProcessId, ProcessKey> newest_;
  std::uint64_t births_ = 0;
  std::uint64_t expiries_ = 0;
};

}  // namespace detrec::core
