#include "server/core/signal/real_timers.h"

namespace detrec::core {

using Kind = TimerFailureKind;

RealTimers::Timer* RealTimers::current(ProcessId process) {
  const auto it = newest_.find(process);
  return it == newest_.end() ? nullptr : &timers_.at(it->second);
}

const RealTimers::Timer* RealTimers::timer(ProcessId process) const {
  const auto it = newest_.find(process);
  return it == newest_.end() ? nullptr : &timers_.at(it->second);
}

std::optional<ProcessKey> RealTimers::live_process(ProcessId process) const {
  const Timer* t = timer(process);
  return t == nullptr || t->retired ? std::nullopt : std::optional(t->process);
}

std::optional<ProcessKey> RealTimers::known_process(ProcessId process) const {
  const Timer* t = timer(process);
  return t == nullptr ? std::nullopt : std::optional(t->process);
}

const RealTimers::Binding* RealTimers::binding(ThreadId tid) const {
  const auto it = bindings_.find(tid);
  return it == bindings_.end() ? nullptr : &it->second;
}

const RealTimers::Binding* RealTimers::live_binding(ThreadId tid) const {
  const Binding* b = binding(tid);
  return b != nullptr && b->live ? b : nullptr;
}

// RTIMER-2, RTIMER-3
TimerOutcome<std::uint64_t> RealTimers::bind(ThreadId tid, ProcessId process, AddressSpaceId as,
                                             const TaskIdentity& task) {
  if (task.process.pid != process || task.tid != tid) return Kind::kIdentity;
  if (const Binding* old = live_binding(tid); old != nullptr && old->as == as && old->task != task)
    return Kind::kIdentity;
  Timer* t = current(process);
  if (t != nullptr && !t->retired && t->process != task.process) return Kind::kIdentity;
  if (t != nullptr && t->retired && t->process.generation >= task.process.generation) return Kind::kIdentity;
  if (t == nullptr || t->retired) {
    t = &timers_[task.process];
    *t = Timer{};
    t->process = task.process;
    t->birth = ++births_;  // RTIMER-1
    newest_[process] = task.process;
  }
  bindings_[tid] = {task, as, true};
  return t->birth;
}

TimerOutcome<Done> RealTimers::check_task(ThreadId tid, ProcessId process, AddressSpaceId as,
                                          const TaskIdentity& task) const {
  const Binding* b = live_binding(tid);
  if (b == nullptr || b->task != task || b->as != as || task.process.pid != process) return Kind::kIdentity;
  return Done{};
}

// RTIMER-23
TimerOutcome<Done> RealTimers::exec(ThreadId tid, ProcessId process, AddressSpaceId before,
                                    AddressSpaceId after, const TaskIdentity& task) {
  const Binding* b = live_binding(tid);
  const Timer* t = timer(process);
  if (t == nullptr || t->retired || t->process != task.process || b == nullptr || b->as != before ||
      after.exec_count != before.exec_count + 1)
    return Kind::kIdentity;
  const ThreadId leader = leader_of(process);
  if (task.tid != leader) return Kind::kIdentity;
  if (tid != leader) bindings_[tid].live = false;
  bindings_[leader] = {task, after, true};
  return Done{};
}

void RealTimers::retire_thread(ThreadId tid, bool last_of_process) {
  const auto it = bindings_.find(tid);
  if (it == bindings_.end() || !it->second.live) return;
  it->second.live = false;  // RTIMER-22
  if (!last_of_process) return;
  const auto at = timers_.find(it->second.task.process);
  if (at == timers_.end() || at->second.retired) return;
  Timer& t = at->second;
  t.retired = true;
  if (t.phase == Phase::kPublishing) {  // RTIMER-21
    t.phase = Phase::kFailed;
    t.failure = Kind::kPublicationUnknown;
  } else if (t.phase != Phase::kFailed) {
    t.phase = Phase::kDisarmed;
    t.interval = {};
  }
}

TimerValue RealTimers::value_of(const Timer& t, LogicalTime now) {
  if (t.phase != Phase::kActive && t.phase != Phase::kPublishing) return {{}, t.interval};
  if (t.deadline > now) return {t.deadline - now, t.interval};
  return {{1'000}, t.interval};  // RTIMER-7: armed timers never show zero
}

TimerOutcome<TimerValue> RealTimers::snapshot(ProcessId process, LogicalTime now) const {
  const Timer* t = timer(process);
  if (t == nullptr) return Kind::kIdentity;
  if (t->phase == Phase::kFailed) return *t->failure;
  if (t->retired) return Kind::kIdentity;
  return value_of(*t, now);
}

// RTIMER-4 .. RTIMER-6: everything is computed before anything changes.
TimerOutcome<TimerValue> RealTimers::set(ThreadId caller, ProcessId process, LogicalTime now,
                                         LogicalTime value, LogicalTime interval, Signal signal) {
  if (signal != kAlarmSignal) return Kind::kUnsupported;
  const Binding* b = live_binding(caller);
  Timer* t = current(process);
  if (b == nullptr || b->task.process.pid != process || t == nullptr || t->retired) return Kind::kIdentity;
  if (t->phase == Phase::kFailed) return *t->failure;
  const TimerValue before = value_of(*t, now);
  if (t->arm == NonceCounter::kMax) return Kind::kOverflow;
  const LogicalTime deadline = now + value;
  if (value.ns != 0 && (deadline.indefinite() || interval.indefinite())) return Kind::kOverflow;
  ++t->arm;
  t->expiry.reset();
  t->last_outcome.reset();
  t->phase = value.ns == 0 ? Phase::kDisarmed : Phase::kActive;
  t->deadline = value.ns == 0 ? LogicalTime{} : deadline;
  t->interval = value.ns == 0 ? LogicalTime{} : interval;
  return before;
}

TimerOutcome<ExpiryId> RealTimers::expire(ProcessId process, LogicalTime deadline) {
  Timer* t = current(process);
  if (t == nullptr) return Kind::kIdentity;
  if (t->phase == Phase::kFailed) return *t->failure;
  if (t->phase != Phase::kActive || t->deadline != deadline) return Kind::kInvalidPhase;
  t->phase = Phase::kPublishing;
  t->expiry = ExpiryId{t->process, t->arm, ++expiries_};
  return *t->expiry;
}

TimerOutcome<Done> RealTimers::publication(const ExpiryId& expiry, PublishOutcome outcome) {
  const auto it = timers_.find(expiry.process);
  if (it == timers_.end()) return Kind::kIdentity;
  Timer& t = it->second;
  if (t.last_outcome && t.last_outcome->first == expiry && t.last_outcome->second == outcome)
    return Done{};  // RTIMER-11, RTIMER-12
  if (t.phase != Phase::kPublishing) return t.last_outcome ? Kind::kIdentity : Kind::kInvalidPhase;
  if (*t.expiry != expiry) return Kind::kIdentity;
  t.last_outcome = {expiry, outcome};
  if (outcome == PublishOutcome::kCommitted) {
    t.phase = Phase::kInactive;
    t.expiry.reset();
  } else {
    t.phase = Phase::kFailed;
    t.failure = outcome == PublishOutcome::kRejected ? Kind::kRejected : Kind::kFailedAfterCommit;
  }
  return Done{};
}

TimerOutcome<DequeueAck> RealTimers::dequeued(const DequeueNotice& notice, LogicalTime now) {
  const auto at = timers_.find(notice.consumer.process);
  const Binding* b = binding(notice.consumer.tid);
  if (at == timers_.end() || b == nullptr || b->task != notice.consumer) {
    // A notice of an archived life is known by its process alone once the thread id was bound anew.
    if (at == timers_.end() || !at->second.retired ||
        (b != nullptr && b->task.process == notice.consumer.process))
      return Kind::kIdentity;
    if (b == nullptr) return Kind::kIdentity;
  }
  Timer& t = at->second;
  if (t.retired) return DequeueAck{notice.sequence, true, std::nullopt};
  if (notice.sequence == t.sequence && t.last_notice) {
    if (*t.last_notice == notice) return t.last_ack;
    return Kind::kSequence;
  }
  if (notice.sequence != t.sequence + 1) return Kind::kSequence;
  DequeueAck ack{notice.sequence, false, std::nullopt};
  if (notice.shared && notice.signal == kAlarmSignal && t.phase == Phase::kInactive && t.interval.ns != 0) {
    // The first (last deadline + k * interval) after now.
    LogicalTime next = t.deadline;
    if (now >= next) {
      const std::uint64_t k = (now - next).ns / t.interval.ns + 1;
      next = LogicalTime::add(next, static_cast<Uint128>(k) * t.interval.ns);
    }
    if (next.indefinite()) return Kind::kOverflow;  // RTIMER-17
    t.phase = Phase::kActive;
    t.deadline = next;
    ack.rearmed = next;
  }
  t.sequence = notice.sequence;
  t.last_notice = notice;
  t.last_ack = ack;
  return ack;
}

void RealTimers::fail(ProcessId process, TimerFailureKind kind) {
  Timer* t = current(process);
  if (t == nullptr || t->phase == Phase::kFailed) return;  // RTIMER-20
  t->phase = Phase::kFailed;
  t->failure = kind;
}

}  // namespace detrec::core
