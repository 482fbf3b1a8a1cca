// The rules of the guest side of a message (RPC-7 .. RPC-9, RPC-13): per-thread state beside each guest
// thread, without I/O. The caller carries messages and replies.
#pragma once

#include <optional>

#include "server/core/messages.h"
#include "server/core/replay/slices.h"

namespace detrec::core {

class GuestThread {
 public:
  GuestThread(ThreadId tid, AddressSpaceId as, ThreadClock clock) : tid_(tid), as_(as), clock_(clock) {}

  ThreadId tid() const { return tid_; }
  AddressSpaceId address_space() const { return as_; }
  ThreadClock& clock() { return clock_; }
  void take_address_space(AddressSpaceId as) { as_ = as; }
  /// One message per call (RPC-9).
  Message message(Request request) const { return {tid_, clock_, as_, std::move(request)}; }

  enum class Verdict : std::uint8_t { kReturn, kRetire };
  /// A refusal retires exactly this thread: clock untouched, nothing sent any more (RPC-7). Otherwise the
  /// clock advances to the returned time before the caller goes on (TIME-27).
  Verdict receive(const Reply& reply);
  bool retired() const { return retired_; }
  /// An answer of another type is fatal on the guest side (RPC-13).
  template <class A>
  static const A& expect(const Reply& reply) {
    const A* answer = std::get_if<A>(&reply.answer);
    check(answer != nullptr, "the core answered with another type");
    return *answer;
  }

  /// FORK-21: set before the first wait for registration.
  void enter_start() { start_entered_ = true; }
  bool start_entered() const { return start_entered_; }
  GuestThread child(ThreadId tid, bool shares_memory) const {
    return GuestThread(tid, as_.cloned(tid, shares_memory), clock_.child_copy());
  }

  // Slices (TRACE-21).
  void pass_first_exec() { first_exec_passed_ = true; }
  void set_slice_ends(LogicalTime end, std::optional<LogicalTime> maximum) {
    slice_end_ = end, maximum_end_ = maximum;
  }
  void apply_slice(std::optional<LogicalTime> slice);
  LogicalTime slice_end() const { return slice_end_; }
  std::optional<LogicalTime> maximum_end() const { return maximum_end_; }

  /// PARK-29: a control that is not for this call, thread and address space is an Identity failure to report.
  std::optional<ProtocolFailure> check_control(const ObservationControl& control,
                                               const CallSite& current) const;

 private:
  ThreadId tid_;
  AddressSpaceId as_;
  ThreadClock clock_;
  bool retired_ = false;
  bool start_entered_ = false;
  bool first_exec_passed_ = false;
  LogicalTime slice_end_ = kIndefinite;
  std::optional<LogicalTime> maximum_end_;
};

/// FORK-2: what a parent puts into RegisterChild. Nothing when preemptions are replayed.
struct InitialPriorityRule {
  bool preemption_replay = false;
  bool schedule_replay = false;
  bool chaos = false;
  bool race_targeted = false;
};
std::optional<Priority> initial_priority_for(const InitialPriorityRule& rule, ThreadId child,
                                             std::uint64_t chaos_draw);

/// WAIT-12: waiting for one exact child.
class ExactWait {
 public:
  explicit ExactWait(ProcessId child) : child_(child) {}
  /// What to send next, or nothing when `status()` is the answer.
  std::optional<Request> next();
  void told(ChildStatus status);
  void woken() { asked_ = false; }
  std::optional<ChildStatus> status() const { return status_; }

 private:
  ProcessId child_;
  bool asked_ = false;
  bool parked_ = false;
  std::optional<ChildStatus> status_;
};

/// One attempt of a read call, as the engine saw it (PARK-53).
struct ReadAttempt {
  bool scalar = true;
  std::uint32_t attempt = 0;
  bool try_again = false;  ///< EAGAIN
  std::uint64_t bytes = 0;
};
constexpr bool may_lend_polled_read(const ReadAttempt& r) {
  return r.scalar && r.try_again && r.bytes == 0 && r.attempt > 0;
}

/// PARK-52: a sleep (or pause, deadline kIndefinite) lends itself only where the backend offers a call site.
Request sleep_request(LogicalTime deadline, const std::optional<CallSite>& site);

/// KILL-3: after a native kill that succeeded; `targets` are the threads known to be able to take the signal.
std::optional<SignalPending> pending_note(bool group_kill, const std::vector<ThreadId>& targets,
                                          Signal signal, std::optional<ProcessId> process);

/// RTIMER-19: EIO unless the acknowledgement is of the sequence that was sent.
System<Done> check_dequeue(std::uint64_t sent, const DequeueAnswer& answer);

}  // namespace detrec::core
