// What the core asks of the backend in controlled mode, and the values that pass between them (SIG, CHILD,
// RETIRE).
#pragma once

#include <optional>
#include <vector>

#include "server/core/signal/real_timers.h"

namespace detrec::core {

/// SIG-5
struct DeliveryPermit {
  TaskIdentity task;
  std::uint64_t sequence = 0;
  std::optional<CallSite> site;
  friend bool operator==(const DeliveryPermit&, const DeliveryPermit&) = default;
};

/// As of wait(2).
struct WaitStatus {
  int value = 0;
  static WaitStatus exited(int code) { return {(code & 0xff) << 8}; }
  static WaitStatus killed(Signal signal) { return {signal.value & 0x7f}; }
  bool is_exit() const { return (value & 0x7f) == 0; }
  bool killed_by(Signal signal) const { return (value & 0x7f) == signal.value; }
  friend constexpr auto operator<=>(const WaitStatus&, const WaitStatus&) = default;
};

struct BoundaryReceipt {
  enum class Kind : std::uint8_t { kDelivered, kWithdrawn, kTermination };
  DeliveryPermit permit;
  Kind kind = Kind::kDelivered;
  bool group = false;  ///< kTermination
  WaitStatus status;   ///< kTermination
  friend bool operator==(const BoundaryReceipt&, const BoundaryReceipt&) = default;
};

/// RTIMER-9: process-directed, all other signal information zero.
struct AlarmPublication {
  ExpiryId expiry;
  Signal signal = kAlarmSignal;
  int code = 0x80;  ///< SI_KERNEL, sigaction(2)
};

struct ChildExitCompletion {
  ProcessKey parent;
  ProcessKey child;
  WaitStatus status;
  bool waitable = true;  ///< false: reaped by itself (SIGCHLD ignored or SA_NOCLDWAIT)
  friend bool operator==(const ChildExitCompletion&, const ChildExitCompletion&) = default;
};

struct ChildExitResult {
  enum class Kind : std::uint8_t { kRejected, kCommitted, kFailedAfterCommit };  // CHILD-19
  Kind kind = Kind::kCommitted;
  Errno error;                  ///< kRejected, kFailedAfterCommit
  ChildExitCompletion receipt;  ///< kCommitted, kFailedAfterCommit
  friend bool operator==(const ChildExitResult&, const ChildExitResult&) = default;
};

struct RetirementReceipt {
  ProcessKey process;
  WaitStatus status;
  friend bool operator==(const RetirementReceipt&, const RetirementReceipt&) = default;
};

/// The signal control object. Calls must not call back into the core.
class SignalControl {
 public:
  virtual ~SignalControl() = default;
  virtual std::optional<Errno> reserve(const DeliveryPermit& permit) = 0;  ///< the refusal, or nothing
  virtual std::optional<Errno> release(const DeliveryPermit& permit) = 0;
  /// Cheap: whether any process may have a signal to observe. Asked once a turn.
  virtual bool may_have_recipients() = 0;
  /// Possible recipients of a pending alarm, most preferred first (PARK-16).
  virtual Outcome<std::vector<TaskIdentity>, ProtocolFailure> recipients(ProcessKey process) = 0;
  virtual PublishOutcome publish_alarm(const AlarmPublication& alarm) = 0;
  virtual ChildExitResult publish_child_exit(const ChildExitCompletion& completion) = 0;
  /// After the step that queued it: a published signal of `process` whose publication failed after commit
  /// (SIG-23).
  virtual void forward_process(ProcessId process) = 0;
  virtual std::optional<Errno> forward_receipt(const ChildExitCompletion& receipt) = 0;
};

}  // namespace detrec::core
