// The scheduler loop: one step() is one turn, or the reason why there is none yet (TURN).
#include <fmt/core.h>

#include "server/core/core.h"

namespace detrec::core {

void Core::announce() {
  if (announced_) return;
  announced_ = true;
  if (config_.log != nullptr) config_.log->line(LogLevel::kInfo, "scheduler loop starts");
}

StepResult Core::step() {
  announce();
  if (failed()) {  // FAIL-6, FAIL-7: nothing is granted, but clean-up's removals and wake-ups reach the queue
    drain();
    return {StepKind::kFailed, {}};
  }
  if (terminal_ended_) return {StepKind::kTerminal, {}};
  if (!started_) return {StepKind::kNotStarted, {}};
  ++iterations_;
  if (config_.stop_after_iteration && iterations_ > *config_.stop_after_iteration) {
    terminal("iteration limit reached\n" + state_text(), 1);
    return {StepKind::kTerminal, {}};
  }
  if (!progress_.selected) {
    if (!apply_intents()) {
      run_deferred();
      return {StepKind::kFailed, {}};
    }
    if (control_barrier()) return {StepKind::kWaitControl, {}};
    if (const auto tid = queue_.first_unfilled()) return {StepKind::kWaitRequest, *tid};  // TURN-10
    if (!progress_.maintained && nothing_left()) return {StepKind::kFinished, {}};
    // TURN-11, in its order.
    charge_and_sample(!progress_.maintained);
    if (!progress_.maintained) {
      drain();
      progress_.maintained = true;
    }
    if (physical_hold() || vfork_hold()) {
      finish_turn(Decided::kSkipped, {});
      return {StepKind::kWaitExternal, {}};
    }
    if (!progress_.due_spent && handle_due_event()) progress_.due_spent = true;
    if (failed()) {
      run_deferred();
      return {StepKind::kFailed, {}};
    }
    if (select_observations()) {  // PARK-14: after the due event
      run_deferred();
      return {failed() ? StepKind::kFailed : StepKind::kWaitControl, {}};
    }
    harvest_external();
    requeue_deferred();
    if (config_.policy == RunPolicy::kReplay) wake_decided();
    if (queue_.empty() || barrier_children_blocked()) {
      const StepResult result = handle_empty_queue();
      const bool observing = !failed() && progress_.jumped && select_observations();  // PARK-14: after a jump
      if (!observing) finish_turn(Decided::kSkipped, {});
      run_deferred();
      return failed() ? StepResult{StepKind::kFailed, {}} : result;
    }
    const auto chosen = choose();
    if (!chosen) {
      if (terminal_ended_) return {StepKind::kTerminal, {}};
      finish_turn(Decided::kSkipped, {});
      return {StepKind::kWaitExternal, {}};
    }
    progress_.selected = true;
  }
  const ThreadId tid = *queue_.selected();
  const TurnRecord* r = record(tid);
  if (r != nullptr && !r->request.filled()) return {StepKind::kWaitRequest, tid};
  Decided decided = revalidate(tid);
  if (decided == Decided::kGranted) decided = decide(tid);
  const StepResult result = finish_turn(decided, tid);
  run_deferred();
  return failed() ? StepResult{StepKind::kFailed, {}} : result;
}

StepResult Core::finish_turn(Decided decided, ThreadId tid) {
  progress_ = {};
  if (decided != Decided::kGranted) last_charged_ = false;
  if (config_.stop_after_turn && turn_.value >= *config_.stop_after_turn && !terminal_ended_) {  // TURN-40
    terminal(fmt::format("turn limit {} reached\n{}", *config_.stop_after_turn, state_text()), 1);
  }
  if (decided == Decided::kGranted) return {StepKind::kGranted, tid};
  return {terminal_ended_ ? StepKind::kTerminal : StepKind::kSkip, tid};
}

bool Core::nothing_left() const {  // TURN-39
  return queue_.empty() && futexes_.empty() && timed_.empty() && external_.empty() && deferred_.empty() &&
         child_waiters_.empty() && physical_waiters_.empty() && host_waits_.empty() &&
         physical_exits_.empty() && admissions_.empty() && removals_.empty() && !control_barrier();
}

void Core::charge_and_sample(bool may_charge) {  // TIME-21, TIME-22
  if (may_charge && last_charged_) {
    const bool only_external = queue_.empty() && timed_.empty() && !external_.empty();
    if (!only_external) {
      clock_.charge_turn();
      if (config_.log != nullptr) {  // TIME-23: the number of polls is not deterministic
        config_.log->line(last_polled_ ? LogLevel::kDebug : LogLevel::kInfo,
                          fmt::format("turn {}: charged, now {}", turn_.value, to_string(clock_.value())));
      }
    }
    last_charged_ = false;
  }
  const LogicalTime now = clock_.value();
  if (now < committed_)
    fatal("committed time would fall from {} to {}", to_string(committed_), to_string(now));
  committed_ = now;
}

void Core::drain() {  // TURN-35, TURN-36
  for (const auto& [tid, how] : removals_) {
    if (how == Removal::kRetire) {
      admissions_.erase(tid);
    } else if (!is_registered(tid) || !admissions_.contains(tid) || tombstones_.contains(tid)) {
      fatal("thread {} cannot be replaced", tid.value);
    }
    queue_.remove(tid);
    if (const Row row = arena_.find(tid); row != kNoRow) {
      queue_.set_removing(row, false);
      arena_.release_if_idle(row);
    }
  }
  removals_.clear();
  apply_host_expiries();
  apply_signal_notes();
  for (const auto& [tid, where] : admissions_) {  // TURN-37
    if (!is_registered(tid) || queue_.contains(tid)) continue;
    bool front = where == Admit::kFront;
    if (where == Admit::kPostFork) front = queue_.draw_post_fork_front(config_.post_fork);
    if (front) {
      queue_.push_front(tid);
    } else {
      queue_.push_back(tid);
    }
  }
  admissions_.clear();
}

void Core::host_expired(ThreadId tid) {
  if (config_.policy == RunPolicy::kReplay) return;  // the log says when
  if (host_waits_.contains(tid)) host_expiries_.insert(tid);
  note_loop_wake();
}

void Core::apply_host_expiries() {
  for (const ThreadId tid : host_expiries_) wake_from_host(tid);
  host_expiries_.clear();
  if (config_.policy != RunPolicy::kReplay) return;
  // An expiry has a place among the decisions: a wake-up after it finds the thread gone from its futex.
  while (next_decision_ < config_.decisions.size()) {
    const Decision& d = config_.decisions[next_decision_];
    if (d.outcome != Decision::Outcome::kExpire || !wake_from_host(d.tid)) return;
    ++next_decision_;
  }
}

bool Core::wake_from_host(ThreadId tid) {
  if (host_waits_.erase(tid) == 0) return false;
  if (config_.log_decisions) {
    const ResourceKind kind = record(tid)->request.value().request.items[0].kind;
    decisions_.push_back({tid, kind, false, Decision::Outcome::kExpire});
  }
  if (futexes_.remove(tid)) {
    futexes_.set_timed_out(tid, true);
  } else {
    expired_sleeps_.insert(tid);
  }
  queue_.push_front(tid);
  return true;
}

void Core::apply_signal_notes() {  // SIG-21
  for (const auto& [tid, noted] : signal_notes_) {
    const TurnRecord* r = record(tid);
    if (r == nullptr || !r->request.filled() || r->request.value().exited) continue;
    const ResourceRequest& request = r->request.value().request;
    SignalSet signals = noted;
    if (request.is(ResourceKind::kPendingSignals)) {
      signals.bits |= request.items[0].signals.bits;
    } else if (!child_waiters_.contains(tid) && !admissions_.contains(tid) &&
               !request.is(ResourceKind::kPolledIo)) {
      continue;
    }
    force_unblock(tid, ResourceRequest::one(Resource::pending_signals(signals)));
  }
  signal_notes_.clear();
}

bool Core::physical_hold() const {  // WAIT-11
  for (const auto& [tid, child] : physical_waiters_) {
    if (!physical_reported_.contains(child)) return true;
  }
  return false;
}

bool Core::vfork_hold() {  // VFORK-2, VFORK-6
  for (auto it = barriers_.begin(); it != barriers_.end();) {
    const TurnRecord* r = record(it->first);
    bool over = r == nullptr;
    if (r != nullptr && r->request.filled() && !r->request.value().exited) {
      const ResourceRequest& request = r->request.value().request;
      over = request.is(ResourceKind::kExternalDone) || request.is(ResourceKind::kVforkFailed);
    }
    if (over) {
      proofs_.erase(it->first);
      it = barriers_.erase(it);
    } else {
      ++it;
    }
  }
  for (const auto& [parent, barrier] : barriers_) {
    if (!barrier.child) return true;
  }
  return false;
}

bool Core::barrier_children_blocked() const {
  for (const auto& [parent, barrier] : barriers_) {
    if (!barrier.child || queue_.contains(*barrier.child)) return false;
  }
  return !barriers_.empty();
}

bool Core::handle_due_event() {  // TIMED-2
  const auto event = timed_.pop_due(committed_);
  if (!event) return false;
  handle_timed(*event);
  return true;
}

void Core::handle_timed(const TimedEvent& event) {
  const ProcessId process{event.first};
  const auto fire = [&](ThreadId preferred, Signal signal) {  // TIMED-21
    const auto target = signal_target(process, preferred);
    if (!target) {
      if (config_.log != nullptr)
        config_.log->line(LogLevel::kInfo,
                          fmt::format("signal {} for process {} has no target", signal.value, process.value));
      return;
    }
    deliver_signal(*target, signal);
  };
  switch (event.kind) {
    case TimedKind::kThread: {  // TIMED-4, RUNQ-17
      const ThreadId tid{event.first};
      if (futexes_.remove(tid)) futexes_.set_timed_out(tid, true);
      if (is_registered(tid)) queue_.push_front(tid);
      break;
    }
    case TimedKind::kAlarm:
      fire(timed_.alarm_thread(process), kAlarmSignal);
      break;
    case TimedKind::kPosixTimer: {
      const auto it = posix_tables_.find(process);
      Signal signal = timed_.posix_signal(process, event.second);
      if (it != posix_tables_.end()) signal = it->second.signal(event.second).value_or(signal);
      fire(leader_of(process), signal.value == 0 ? kAlarmSignal : signal);
      break;
    }
    case TimedKind::kRealTimer:
      expire_real_timer(process, event.deadline);
      break;
    case TimedKind::kChildExit: {  // TIMED-23
      const ProcessId parent{static_cast<std::int32_t>(event.second)};
      const auto target = signal_target(parent, leader_of(parent));
      if (!target) break;
      if (deferred_.erase(*target) != 0) {
        child_signal_ready_.insert(*target);
        queue_.push_eager(*target);
      } else {
        child_signal_ready_.insert(*target);
        deliver_signal(*target, WaitBook::kChildSignal);
      }
      break;
    }
  }
}

void Core::harvest_external() {  // TURN-21, TURN-22
  if (external_done_.empty()) return;
  // While recording the host's time is the run's: who is back from outside takes its place behind the others.
  const bool recording = config_.policy == RunPolicy::kRecord;
  if (!recording && !queue_.only_last_priority() && !barrier_children_blocked()) return;
  for (const ThreadId tid : std::exchange(external_done_, {})) {
    const auto it = external_.find(tid);
    const TurnRecord* r = record(tid);
    if (it == external_.end() || r == nullptr) continue;  // dead, or dictated by a log
    if (r->request.value().request.items[0].op() != it->second)
      fatal("thread {} finished an operation it never began", tid.value);
    external_.erase(it);
    if (recording) {
      queue_.push_back(tid);
    } else {
      queue_.push_eager(tid);
    }
  }
}

void Core::requeue_deferred() {  // TURN-26
  if (deferred_.empty() || (!queue_.only_last_priority() && !barrier_children_blocked())) return;
  for (const ThreadId tid : deferred_) {
    child_signal_ready_.insert(tid);
    queue_.push_eager(tid);
  }
  deferred_.clear();
}

// Whether an operation may end from outside. A vfork parent's ends with its child, which is blocked here.
bool Core::external_work() const {
  for (const auto& [tid, op] : external_) {
    const auto barrier = barriers_.find(tid);
    if (barrier == barriers_.end() || !barrier->second.child || !is_registered(*barrier->second.child))
      return true;
  }
  return false;
}

StepResult Core::handle_empty_queue() {
  if (!physical_exits_.empty()) return {StepKind::kWaitExternal, {}};  // TIMED-26
  const auto deadline = timed_.next_deadline();
  if (deadline && !deadline->indefinite()) {  // TIME-30, TIME-31, TIMED-24
    if (*deadline > clock_.value()) clock_.add_extra(*deadline - clock_.value());
    charge_and_sample(false);
    progress_.jumped = true;
    handle_due_event();
    return {StepKind::kSkip, {}};
  }
  // A replay's host waits end by decisions alone.
  const bool exhausted = next_decision_ >= config_.decisions.size();
  if (config_.policy == RunPolicy::kReplay && !host_waits_.empty() && (external_.empty() || exhausted) &&
      diverges())
    return {StepKind::kTerminal, {}};
  if (external_work() || !host_waits_.empty()) return {StepKind::kWaitExternal, {}};  // TURN-23, TIMED-25
  if (!admissions_.empty() || !removals_.empty()) return {StepKind::kSkip, {}};
  if (nothing_left()) return {StepKind::kFinished, {}};
  if (control_barrier()) return {StepKind::kWaitControl, {}};
  // TURN-41
  std::string blocked;
  const auto name = [&blocked](bool present, const char* what) {
    if (present) blocked += (blocked.empty() ? "" : ", ") + std::string(what);
  };
  name(!futexes_.empty(), "futex waiters");
  name(deadline.has_value(), "indefinite waiters");
  name(!child_waiters_.empty(), "child waiters");
  name(!physical_waiters_.empty(), "physical-exit waiters");
  name(!external_.empty(), "vfork parents");
  terminal(fmt::format("deadlock: nothing can run; blocked: {}\n{}", blocked, state_text()), 1);
  return {StepKind::kTerminal, {}};
}

// The thread of the next decision comes back from outside, or from its deferral, when the log says so.
void Core::wake_decided() {
  if (next_decision_ >= config_.decisions.size()) return;
  const ThreadId tid = config_.decisions[next_decision_].tid;
  if (queue_.contains(tid)) return;
  const TurnRecord* r = record(tid);
  if (deferred_.erase(tid) != 0) {
    child_signal_ready_.insert(tid);
    queue_.push_eager(tid);
  } else if (external_.contains(tid) && r != nullptr && r->request.filled()) {
    external_.erase(tid);
    queue_.push_eager(tid);
  }
}

// True, with a terminal report, when the next decision cannot be followed any more.
bool Core::diverges() {
  if (next_decision_ >= config_.decisions.size()) {
    terminal("divergence: the recorded decisions are exhausted\n" + state_text(), 125);
    return true;
  }
  const ThreadId tid = config_.decisions[next_decision_].tid;
  // A report of the host may still wake it, unless it waits for the log itself.
  if (is_registered(tid) && queue_.empty() && !host_waits_.contains(tid)) return false;
  if (queue_.contains(tid) || external_.contains(tid)) return false;
  terminal(fmt::format("divergence: decision {} names thread {}, which cannot run\n{}", next_decision_,
                       tid.value, state_text()),
           125);
  return true;
}

std::optional<ThreadId> Core::choose() {
  const bool replay = config_.policy == RunPolicy::kReplay;
  if (replay && diverges()) return std::nullopt;
  if (!barriers_.empty()) {  // VFORK-2: only the barriers' children, bypassing the policy
    for (const auto& [parent, barrier] : barriers_) {
      if (queue_.contains(*barrier.child)) return queue_.select_exact(*barrier.child);
    }
    return std::nullopt;
  }
  // Nothing: the completion of its external operation has yet to be fed in.
  if (replay) return queue_.select_exact(config_.decisions[next_decision_].tid);
  auto chosen = queue_.select();
  if (pct_ && chosen && pct_step_ != turn_.value + 1) {
    pct_step_ = turn_.value + 1;
    if (const auto low = pct_->lowered(pct_step_)) {
      queue_.undo();
      queue_.move_to(*chosen, *low);
      chosen = queue_.select();
    }
  }
  return chosen;
}

Core::Decided Core::revalidate(ThreadId tid) {  // TURN-14, TURN-15
  const TurnRecord* r = record(tid);
  if (r == nullptr || r->request.value().exited) {
    queue_.undo();
    return Decided::kSkipped;
  }
  return Decided::kGranted;
}

bool Core::log_decision(ThreadId tid, const ResourceRequest& request, Decision::Outcome outcome) {
  const bool replay = config_.policy == RunPolicy::kReplay;
  if (!config_.log_decisions && !replay) return true;
  const Decision d{tid, request.items[0].kind, request.count == 0, outcome};
  if (config_.log_decisions) decisions_.push_back(d);
  if (!replay) return true;
  check(next_decision_ < config_.decisions.size(), "a decision beyond the log");
  const Decision& expected = config_.decisions[next_decision_];
  if (expected == d) {
    ++next_decision_;
    return true;
  }
  terminal(fmt::format("divergence: decision {} expected {} outcome {}, found {} of thread {} outcome {}\n{}",
                       next_decision_, static_cast<int>(expected.kind), static_cast<int>(expected.outcome),
                       request.text(), tid.value, static_cast<int>(outcome), state_text()),
           125);
  return false;
}

Core::Decided Core::decide(ThreadId tid) {
  const ResourceRequest request = record(tid)->request.value().request;
  if (request.count > 1) fatal("thread {} requests {} resources", tid.value, request.count);  // TURN-16
  const auto leave_queue = [&](Decision::Outcome outcome) {
    if (!log_decision(tid, request, outcome)) return false;
    queue_.commit(RunQueue::CommitKind::kSchedulerOnly);
    return true;
  };
  if (request.attempt > 0) {  // TURN-18
    if (!leave_queue(Decision::Outcome::kRequeue)) return Decided::kFailed;
    TurnRecord& r = *record(tid);
    const SlotId old_slot = r.request.id();
    const bool lends = may_lend_poll(r);
    replace_request(tid, request.with_attempt(0));
    for (auto& [id, parked] : parked_) {  // PARK-41
      if (parked.request.id() == old_slot) parked.request = r.request;
    }
    if (lends) r.witness = {true, r.request.id(), r.response.id(), r.origin, r.epoch, request};
    queue_.push_poll(tid, request.attempt);
    ++turn_.value;  // TURN-38
    return Decided::kSkipped;
  }
  if (request.count == 0) return grant(tid, false, false, !request.bootstrap);
  const Resource& resource = request.items[0];
  switch (resource.kind) {
    case ResourceKind::kSleepUntil:  // TURN-19
      if (config_.policy == RunPolicy::kRun ? resource.time <= committed_ : expired_sleeps_.erase(tid) != 0)
        return grant(tid, false, false, !request.bootstrap);
      if (!leave_queue(Decision::Outcome::kPark)) return Decided::kFailed;
      if (config_.policy == RunPolicy::kRun) {
        timed_.add_thread(tid, resource.time);
      } else {
        host_waits_.insert(tid);
        if (!resource.time.indefinite()) effects_.push_back(ArmHostTimer{tid, resource.time});
      }
      ++turn_.value;
      return Decided::kSkipped;
    case ResourceKind::kExternalBlock:
    case ResourceKind::kVforkBlock: {  // TURN-20
      const ExternalOpId op = resource.op();
      if (external_.contains(tid)) fatal("thread {} begins a second external operation", tid.value);
      if (resource.kind == ResourceKind::kVforkBlock) {  // VFORK-1
        if (!barriers_.emplace(tid, VforkBarrier{}).second) fatal("thread {} has a vfork barrier", tid.value);
        const Origin& origin = record(tid)->origin;
        proofs_[tid] = {process_of(tid), origin.as};
        if (resource.write) vfork_random_[tid] = resource.ticks;
      }
      const Decided decided = grant(tid, true, false, false);
      if (decided == Decided::kGranted) {
        external_[tid] = op;
        return Decided::kSkipped;
      }
      barriers_.erase(tid);
      proofs_.erase(tid);
      return decided;
    }
    case ResourceKind::kPriorityPoint: {  // TURN-24, PREEMPT-4
      if (!leave_queue(Decision::Outcome::kPriority)) return Decided::kFailed;
      const Priority before = queue_.persistent(tid);
      auto epochs = std::move(pending_epochs_[tid]);
      pending_epochs_.erase(tid);
      if (writer_ && !config_.replay_schedule) {
        for (const ChaosEpoch& e : epochs) writer_->epoch(tid, e);
        writer_->change(tid, resource.time, before, resource.priority,
                        TickPoint{resource.ticks, resource.pc});
      }
      queue_.set_persistent(tid, resource.priority);
      replace_request(tid, ResourceRequest::none());
      queue_.push_back(tid);
      ++turn_.value;
      return Decided::kSkipped;
    }
    case ResourceKind::kInboundSignal:  // TURN-25
      if (static_cast<std::int32_t>(resource.number) == WaitBook::kChildSignal.value &&
          !child_signal_ready_.contains(tid) && queue_.other_work(tid)) {
        if (!log_decision(tid, request, Decision::Outcome::kDefer)) return Decided::kFailed;
        queue_.undo();
        queue_.remove(tid);
        deferred_.insert(tid);
        return Decided::kSkipped;
      }
      child_signal_ready_.erase(tid);
      return grant(tid, false, false, true);
    case ResourceKind::kWaitChild: {  // WAIT-7
      const WaitBook::Ready ready = waits_.ready(resource.process, resource.wait);
      if (ready.child || !ready.any) return grant(tid, false, false, true);
      if (!leave_queue(Decision::Outcome::kPark)) return Decided::kFailed;
      child_waiters_[tid] = {resource.process, resource.wait};
      ++turn_.value;
      return Decided::kSkipped;
    }
    case ResourceKind::kWaitPhysicalChild:  // WAIT-11
      if (physical_reported_.contains(resource.process) || !physical_exits_.contains(resource.process))
        return grant(tid, false, false, true);
      if (!leave_queue(Decision::Outcome::kPark)) return Decided::kFailed;
      physical_waiters_[tid] = resource.process;
      ++turn_.value;
      return Decided::kSkipped;
    case ResourceKind::kExit: {
      const auto reserved =
          reserve_exit(tid, resource.group, resource.process, resource.as);  // CHILD-3, CHILD-10
      if (!reserved) {
        queue_.undo();
        progress_.selected = false;
        protocol_failure(tid, resource.process, reserved.error());
        return Decided::kFailed;
      }
      if (*reserved == ExitMode::kUncontrolled && resource.group) {  // TIMED-22, CHILD-11
        const WaitMeta* meta = waits_.meta(resource.process);
        if (meta != nullptr && meta->parent.value != 0)
          timed_.add_child_exit(resource.process, meta->parent, committed_ + LogicalTime{1});
      }
      return grant(tid, false, false, true);
    }
    case ResourceKind::kYield:
      return grant(tid, false, true, true);
    case ResourceKind::kReplayYield:
      return grant(tid, false, false, false);  // TIME-22
    default:
      return grant(tid, false, false, !request.bootstrap);  // TURN-17
  }
}

// TURN-27 .. TURN-31
Core::Decided Core::grant(ThreadId tid, bool background, bool yield, bool charged) {
  TurnRecord& r = *record(tid);
  const ResourceRequest request = r.request.value().request;
  if (r.epoch == NonceCounter::kMax) {  // TURN-28
    queue_.undo();
    protocol_failure(tid, process_of(tid), ProtocolFailure::overflow());
    return Decided::kFailed;
  }
  if (!log_decision(tid, request, background ? Decision::Outcome::kBackground : Decision::Outcome::kGrant))
    return Decided::kFailed;
  queue_.commit(RunQueue::CommitKind::kCompletedTurn);
  drop_parked_of_slot(r.request.id());
  TurnReply reply;
  if (request.is(ResourceKind::kInboundSignal)) {
    reply.kind = TurnReplyKind::kSignaled;
    reply.signals.add({static_cast<std::int32_t>(request.items[0].number)});
  } else if (request.is(ResourceKind::kPendingSignals)) {
    reply.kind = TurnReplyKind::kSignaled;
    reply.signals = request.items[0].signals;
  } else if (futexes_.timed_out(tid)) {
    reply.kind = TurnReplyKind::kGoTimedOut;
  } else if (const auto slice = staged_slices_.empty() ? staged_slices_.end() : staged_slices_.find(tid);
             slice != staged_slices_.end()) {
    reply.kind = TurnReplyKind::kGoSlice;
    reply.slice = slice->second;
    staged_slices_.erase(slice);
  }
  futexes_.set_timed_out(tid, false);
  fill_response(tid, reply);
  renew_slots(tid);
  ++r.epoch;
  r.origin = Origin{};
  r.witness.present = false;
  ++turn_.value;
  last_charged_ = charged;
  last_polled_ = request.is(ResourceKind::kPolledIo);
  running_ = background ? std::nullopt : std::optional(tid);
  if (!background) {
    if (yield) {
      queue_.push_yield(tid);
    } else {
      queue_.push_back(tid);
    }
  }
  if (request.is(ResourceKind::kExit) && (config_.record_schedule || replayer_)) {  // EXIT-23
    ScheduleEvent event;
    event.tid = tid;
    event.op = {OperationKind::kPostExit, 0, {}};
    if (const auto entry = clock_.entry(tid)) event.end_time = entry->elapsed;
    if (replayer_) {
      const Replayer::Advice advice = replayer_->observe(event);
      if (advice.change != Replayer::Switch::kNone && config_.log != nullptr)
        config_.log->line(LogLevel::kInfo,
                          fmt::format("thread {} exits: switch to {}", tid.value, advice.next.value));
    }
    if (config_.record_schedule) {
      if (writer_) writer_->add_event(event);
      ++events_recorded_;
    }
  }
  return Decided::kGranted;
}

void Core::terminal(std::string text, int status) {  // TURN-43
  if (queue_.selection_open()) queue_.undo();
  progress_ = {};
  if (terminal_ended_) return;
  terminal_ended_ = true;
  terminal_ = TerminalReport{std::move(text), status};
  effects_.push_back(RunEnds{status});
}

std::optional<TerminalReport> Core::take_terminal_report() { return std::exchange(terminal_, std::nullopt); }

}  // namespace detrec::core
