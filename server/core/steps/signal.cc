// Signal boundaries, two-stage child exit and process retirement (SIG, CHILD, RETIRE). Validation precedes
// mutation.
#include <algorithm>
#include <cerrno>

#include "server/core/core.h"

namespace detrec::core {

System<Core::ControlMode> Core::install_control(SignalControl* control) {  // SIG-1
  if (!config_.controlled || config_.policy != RunPolicy::kRun) return ControlMode::kUnchanged;
  if (control_ != nullptr || started_) return Errno{EINVAL};
  if (control == nullptr) return Errno{ENOSYS};
  control_ = control;
  return ControlMode::kToolControlled;
}

bool Core::process_has_permit(ProcessId process) const {
  return std::any_of(permits_.begin(), permits_.end(),
                     [process](const auto& p) { return p.second.task.process.pid == process; });
}

// SIG-2 .. SIG-6: the authority is the grant, not the order of arrival.
System<std::optional<DeliveryPermit>> Core::authorise(const TaskIdentity& task, AddressSpaceId as) {
  const std::optional<DeliveryPermit> none;
  if (control_ == nullptr || failed() || is_tombstoned(task.tid) || running_ != task.tid)
    return none;  // FAIL-8
  if (const auto it = permits_.find(task.tid); it != permits_.end()) {
    if (it->second.task != task) return Errno{EINVAL};
    return std::optional(it->second);
  }
  const ProcessId process = process_of(task.tid);
  const auto* binding = timers_.live_binding(task.tid);
  if (process.value == 0 || binding == nullptr) return Errno{ESRCH};
  if (process_has_permit(process)) return none;
  if (binding->task != task || binding->as != as) return Errno{EINVAL};
  if (!nonce_.has_room(1)) return Errno{EOVERFLOW};
  const DeliveryPermit permit{task, nonce_.last() + 1, std::nullopt};
  if (const auto refused = control_->reserve(permit)) return *refused;
  nonce_.take();
  permits_[task.tid] = permit;
  return std::optional(permit);
}

System<Done> Core::consume_boundary(const BoundaryReceipt& receipt) {
  const TaskIdentity& task = receipt.permit.task;
  const ThreadId tid = task.tid;
  const auto permit = permits_.find(tid);
  if (permit == permits_.end() || permit->second != receipt.permit) {  // SIG-7
    const auto last = last_receipts_.find(tid);
    if (last != last_receipts_.end() && last->second == receipt) return Done{};
    return Errno{EINVAL};
  }
  const bool ends = receipt.kind == BoundaryReceipt::Kind::kTermination;
  const auto fence = fences_.find(tid);
  if (fence != fences_.end()) {  // SIG-8
    const ExitFence& f = fence->second;
    if (f.permit != receipt.permit || f.process != task.process.pid || !ends || f.group != receipt.group)
      return Errno{EINVAL};
  }
  std::vector<ThreadId> covered;
  AddressSpaceId as;
  bool final = false;
  if (ends) {  // SIG-9, SIG-10
    const auto* binding = timers_.live_binding(tid);
    if (binding != nullptr) {
      if (binding->task != task || (fence != fences_.end() && fence->second.as != binding->as))
        return Errno{EINVAL};
      as = binding->as;
      covered = {tid};
    } else if (is_registered(tid)) {
      return Errno{EINVAL};
    }
    const std::vector<ThreadId> live = live_threads(task.process.pid);
    if (receipt.group) {
      for (const ThreadId other : live) {
        const auto* b = timers_.live_binding(other);
        if (b == nullptr || b->task.process != task.process || !accepts(other, b->as)) return Errno{EINVAL};
        as = b->as;
      }
      covered = live;
    }
    final = std::all_of(live.begin(), live.end(), [&](ThreadId other) {
      return std::find(covered.begin(), covered.end(), other) != covered.end();
    });
    if (final) {
      if (const auto good = check_final(task.process, receipt.status); !good)
        return good.error().as_errno();  // SIG-11
    }
  }
  // SIG-12
  const bool fenced = fence != fences_.end();
  permits_.erase(permit);
  if (fenced) fences_.erase(fence);
  last_receipts_[tid] = receipt;
  retire_parked(tid);
  if (TurnRecord* r = record(tid)) r->owner = TurnOwner{};
  bool consumed = true;
  if (ends) {
    const WaitMeta* meta = waits_.meta(task.process.pid);
    const ProcessId parent = meta == nullptr ? ProcessId{} : meta->parent;
    if (final) record_final(task.process, receipt.status);
    for (const ThreadId other : covered) kill_thread(other, as);
    if (final && terminals_.at(task.process).kind == TerminalClass::kTerminalParent) {  // SIG-13
      release_waiters(task.process.pid);
      consumed = waits_.consume(parent, task.process.pid);
    }
  }
  if (fenced) note_loop_wake();
  if (!consumed) return Errno{EINVAL};
  return Done{};
}

void Core::expire_real_timer(ProcessId process, LogicalTime deadline) {  // RTIMER-8 .. RTIMER-10
  const auto expiry = timers_.expire(process, deadline);
  if (!expiry) {
    protocol_failure(std::nullopt, process, ProtocolFailure::of_timer(expiry.error()));
    return;
  }
  const PublishOutcome outcome = control_->publish_alarm({*expiry, kAlarmSignal, 0x80});
  if (const auto done = timers_.publication(*expiry, outcome); !done) {
    protocol_failure(std::nullopt, process, ProtocolFailure::of_timer(done.error()));
    return;
  }
  if (outcome == PublishOutcome::kFailedAfterCommit) forward_queue_.push_back(process);
  if (outcome != PublishOutcome::kCommitted)
    fail(process, std::nullopt, "alarm publication: " + to_string(*timers_.timer(process)->failure));
}

// --- child exit ---

Protocol<ProcessKey> Core::terminal_key(ProcessId pid) const {  // ID-9
  std::optional<ProcessKey> found;
  for (auto it = terminals_.lower_bound({pid, 0}); it != terminals_.end() && it->first.pid == pid; ++it) {
    if (found) return ProtocolFailure::identity();
    found = it->first;
  }
  if (!found) return ProtocolFailure::identity();
  return *found;
}

Protocol<TerminalProcess> Core::classify(ProcessId process) const {  // CHILD-6
  const WaitMeta* meta = waits_.meta(process);
  if (meta == nullptr || meta->parent.value == 0) return TerminalProcess{TerminalClass::kRoot, {}, {}};
  if (const auto live = timers_.live_process(meta->parent))
    return TerminalProcess{TerminalClass::kLiveParent, *live, {}};
  const auto terminal = terminal_key(meta->parent);
  if (!terminal) return terminal.error();
  return TerminalProcess{TerminalClass::kTerminalParent, *terminal, {}};
}

Protocol<Core::ExitMode> Core::reserve_exit(ThreadId tid, bool group, ProcessId process, AddressSpaceId as,
                                            std::optional<ProcessKey> child) {
  if (control_ == nullptr) return ExitMode::kUncontrolled;  // CHILD-2
  const auto* binding = timers_.live_binding(tid);
  const bool permit_or_fence = process_has_permit(process) ||
                               std::any_of(fences_.begin(), fences_.end(),
                                           [process](const auto& f) { return f.second.process == process; });
  if (failed() || !is_registered(tid) || process_of(tid) != process || fences_.contains(tid) ||
      permits_.contains(tid) || binding == nullptr || binding->as != as || permit_or_fence)
    return ProtocolFailure::identity();  // CHILD-3
  const ProcessKey key = child.value_or(binding->task.process);
  if (key.pid != process) return ProtocolFailure::identity();     // CHILD-5
  const bool final = group || live_threads(process).size() == 1;  // CHILD-4
  std::optional<ProcessKey> parent;
  if (final) {
    const auto kind = classify(process);
    if (!kind) return kind.error();
    if (kind->kind == TerminalClass::kLiveParent) parent = kind->parent;
    if (reservations_.contains(key) || completed_.contains(key) || terminals_.contains(key))
      return ProtocolFailure::phase();  // CHILD-7
  }
  if (!nonce_.has_room(1)) return ProtocolFailure::overflow();  // CHILD-8
  const DeliveryPermit permit{binding->task, nonce_.last() + 1, std::nullopt};
  if (control_->reserve(permit)) return ProtocolFailure::identity();
  nonce_.take();  // CHILD-9
  permits_[tid] = permit;
  fences_[tid] = {permit, process, as, group};
  if (parent) {
    ChildReservation reservation;
    reservation.parent = *parent;
    reservations_[key] = reservation;
  }
  return ExitMode::kControlled;
}

// CHILD-12 .. CHILD-14, before anything changes
Protocol<Done> Core::check_final(ProcessKey key, WaitStatus status) const {
  const auto kind = classify(key.pid);
  if (!kind) return kind.error();
  if (const auto it = reservations_.find(key); it != reservations_.end()) {
    if (it->second.phase != ChildReservation::Phase::kAwaitingStatus ||
        (kind->kind == TerminalClass::kLiveParent && it->second.parent != kind->parent))
      return ProtocolFailure::phase();
  }
  TerminalProcess terminal = *kind;
  terminal.status = status;
  if (const auto it = terminals_.find(key); it != terminals_.end() && it->second != terminal)
    return ProtocolFailure::identity();
  if (kind->kind != TerminalClass::kLiveParent && completed_retirements_.contains(key))
    return ProtocolFailure::phase();
  return Done{};
}

void Core::record_final(ProcessKey key, WaitStatus status) {
  TerminalProcess terminal = *classify(key.pid);
  terminal.status = status;
  terminals_[key] = terminal;
  if (terminal.kind == TerminalClass::kLiveParent) {
    ChildReservation& reservation = reservations_[key];
    reservation.parent = terminal.parent;
    reservation.phase = ChildReservation::Phase::kAwaitingPublication;
    reservation.status = status;
  } else {
    retirements_[key] = status;  // RETIRE-1
  }
}

Protocol<Core::Admission> Core::admit_child_exit(const std::optional<ChildExitCompletion>& event) {
  const auto refuse_it = [&](ProtocolFailure failure) -> Protocol<Admission> {  // CHILD-27
    fail(event ? std::optional(event->child.pid) : std::nullopt, std::nullopt,
         "child-exit admission " + failure.text());
    run_deferred();
    return failure;
  };
  if (!event) return refuse_it(ProtocolFailure::unsupported());
  if (const auto it = completed_.find(event->child); it != completed_.end()) {  // CHILD-18
    if (it->second.first == *event) return Admission::kDuplicate;
    return refuse_it(ProtocolFailure::identity());
  }
  const auto it = reservations_.find(event->child);
  if (it == reservations_.end()) return refuse_it(ProtocolFailure::identity());
  ChildReservation& r = it->second;
  if (r.phase != ChildReservation::Phase::kAwaitingPublication) return refuse_it(ProtocolFailure::phase());
  if (r.parent != event->parent || r.status != event->status) return refuse_it(ProtocolFailure::identity());
  r.completion = *event;  // CHILD-17
  r.result = control_->publish_child_exit(*event);
  r.phase = ChildReservation::Phase::kPublished;
  return Admission::kPublished;
}

void Core::finish_publication(ProcessKey key) {  // CHILD-21, CHILD-22
  const auto it = reservations_.find(key);
  completed_[key] = {it->second.completion, it->second.result};
  reservations_.erase(it);
  note_loop_wake();
}

// CHILD-20 .. CHILD-29
System<Done> Core::complete_child_exit(const ChildExitCompletion& completion) {
  std::optional<ProtocolFailure> failure;
  std::optional<Errno> forwarding;
  ChildExitResult result;
  bool duplicate = false;
  const ProcessKey key = completion.child;
  if (const auto done = completed_.find(key); done != completed_.end()) {
    duplicate = true;
    result = done->second.second;
    if (!(done->second.first == completion)) failure = ProtocolFailure::identity();
  } else if (const auto it = reservations_.find(key); it == reservations_.end()) {
    failure = ProtocolFailure::identity();
  } else if (it->second.phase != ChildReservation::Phase::kPublished) {
    failure = ProtocolFailure::phase();
  } else {
    result = it->second.result;
    const bool receipt = result.kind != ChildExitResult::Kind::kRejected;
    if (!(it->second.completion == completion) || (receipt && !(result.receipt == completion)))
      failure = ProtocolFailure::identity();
  }
  if (!failure && !duplicate) {
    if (result.kind != ChildExitResult::Kind::kRejected && !completion.waitable) {
      release_waiters(key.pid);
      if (!waits_.consume(completion.parent.pid, key.pid)) failure = ProtocolFailure::identity();
      cpu_.reap(completion.parent.pid, key.pid);
    }
    finish_publication(key);
  }
  if (failure) {
    fail(key.pid, std::nullopt, "child-exit completion " + failure->text());
  } else if (result.kind != ChildExitResult::Kind::kCommitted) {
    fail(key.pid, std::nullopt, "child-exit publication failed");
  }
  // Forwarding precedes the wake-ups and happens once in the whole run (CHILD-25, CHILD-33).
  if (!failure && result.kind == ChildExitResult::Kind::kFailedAfterCommit && forwarded_.insert(key).second)
    forwarding = control_->forward_receipt(result.receipt);
  run_deferred();
  if (!failure && result.kind == ChildExitResult::Kind::kRejected) return result.error;  // CHILD-29
  if (forwarding) return *forwarding;
  if (failure) return failure->as_errno();
  return Done{};
}

Protocol<Done> Core::cancel_child_exit(const ChildExitCompletion& completion) {  // CHILD-30, CHILD-31
  if (!failed()) return ProtocolFailure::phase();
  const auto it = reservations_.find(completion.child);
  if (it == reservations_.end()) {
    run_deferred();
    return Done{};
  }
  if (it->second.phase == ChildReservation::Phase::kPublished) {
    complete_child_exit(completion);
  } else {
    reservations_.erase(it);
    note_loop_wake();
    run_deferred();
  }
  return Done{};
}

// --- retirement ---

System<Done> Core::consume_retirement(const RetirementReceipt& receipt) {
  if (control_ == nullptr || failed()) return Done{};  // RETIRE-2
  const ProcessKey key = receipt.process;
  const auto reject = [&](ProtocolFailure failure) -> System<Done> {  // RETIRE-9
    fail(key.pid, std::nullopt, "retirement " + failure.text());
    run_deferred();
    return Errno{EINVAL};
  };
  if (const auto it = completed_retirements_.find(key); it != completed_retirements_.end()) {  // RETIRE-3
    if (it->second == receipt) return Done{};
    return reject(ProtocolFailure::identity());
  }
  if (const auto it = terminals_.find(key); it != terminals_.end()) {
    if (it->second.status != receipt.status) return reject(ProtocolFailure::identity());  // RETIRE-4
    if (it->second.kind == TerminalClass::kLiveParent) {                                  // RETIRE-6
      const auto done = completed_.find(key);
      if (reservations_.contains(key) || done == completed_.end() ||
          done->second.second.kind != ChildExitResult::Kind::kCommitted ||
          done->second.first.status != receipt.status)
        return reject(ProtocolFailure::phase());
    } else {  // RETIRE-5
      const auto barrier = retirements_.find(key);
      if (barrier == retirements_.end() || barrier->second != receipt.status)
        return reject(ProtocolFailure::phase());
      retirements_.erase(barrier);
      note_loop_wake();
    }
    completed_retirements_[key] = receipt;  // RETIRE-8
    return Done{};
  }
  if (terminal_key(key.pid))
    return reject(ProtocolFailure::identity());  // another generation is the terminal one
  if (timers_.known_process(key.pid) != key) return reject(ProtocolFailure::identity());  // RETIRE-7
  const bool outstanding = process_has_permit(key.pid) ||
                           std::any_of(fences_.begin(), fences_.end(),
                                       [&](const auto& f) { return f.second.process == key.pid; }) ||
                           reservations_.contains(key) || retirements_.contains(key);
  if (outstanding) return reject(ProtocolFailure::phase());
  completed_retirements_[key] = receipt;
  return Done{};
}

// SIG-23: what must not happen in the middle of a step.
void Core::run_deferred() {
  for (const ProcessId process : std::exchange(forward_queue_, {})) control_->forward_process(process);
  if (!wake_failure_waiters_) return;
  wake_failure_waiters_ = false;
  for (const std::uint64_t waiter : std::exchange(unnotified_, {})) effects_.push_back(FailureNotice{waiter});
}

}  // namespace detrec::core
