// Parked requests: lending a blocked wait to the observation of a signal, and resuming it (PARK).
#include <algorithm>

#include "server/core/core.h"

namespace detrec::core {

Protocol<Done> Core::install_origin(ThreadId tid, const Origin& origin) {  // PARK-5 .. PARK-7
  TurnRecord* r = record(tid);
  if (r == nullptr || (!accepts(tid, origin.as) && exec_candidate(tid) != origin.as))
    return ProtocolFailure::identity();
  const Capability& lend = origin.capability;
  if (lend.has_site) {
    if (control_ == nullptr) return ProtocolFailure::unsupported();
    if (const auto good = timers_.check_task(tid, process_of(tid), origin.as, lend.site.task); !good)
      return ProtocolFailure::of_timer(good.error());
  }
  const bool observing = r->owner.kind == OwnerKind::kObservation;
  if ((lend.parked_wait() || lend.kind == LendKind::kPolledRead) && observing)
    return ProtocolFailure::identity();
  if (lend.kind == LendKind::kPublishOnly && (!observing || r->owner.lease != lend.lease))  // PARK-30
    return ProtocolFailure::identity();
  if (r->request.filled()) {
    if (r->origin.present && r->origin != origin) return ProtocolFailure::phase();
    return Done{};
  }
  r->origin = origin;
  r->witness.present = false;  // PARK-43
  return Done{};
}

// PARK-49, PARK-50: the first one is kept; it fails the process's timer and the run.
void Core::protocol_failure(std::optional<ThreadId> tid, std::optional<ProcessId> process,
                            const ProtocolFailure& failure) {
  if (!protocol_failure_) {
    protocol_failure_ = failure;
    if (process && process->value != 0) {
      timers_.fail(*process, failure.kind == ProtocolFailureKind::kTimer ? failure.timer
                                                                         : TimerFailureKind::kUnsupported);
      timed_.remove_real_timer(*process);
    }
  }
  fail(process, tid, "protocol failure " + failure.text());
}

bool Core::post_intent(ThreadId sender, AddressSpaceId as, Intent intent) {  // PARK-9, PARK-2
  if (!accepts(sender, as) || failed() || intent.thread != sender) {
    protocol_failure(sender, process_of(sender), ProtocolFailure::identity());
    return false;
  }
  intents_.push_back(std::move(intent));
  note_loop_wake();
  return true;
}

bool Core::apply_intents() {  // PARK-10, PARK-11: a post during the drain is in the list of the next step
  while (!intents_.empty()) {
    const Intent intent = std::move(intents_.front());
    intents_.erase(intents_.begin());
    const auto done = std::holds_alternative<FinishObservation>(intent.what)
                          ? finish_observation(std::get<FinishObservation>(intent.what), intent.call)
                          : register_resume(std::get<ResumeTicket>(intent.what), intent.call);
    if (!done) {
      const Call call = calls_[intent.call];
      free_call(intent.call);
      protocol_failure(intent.thread, process_of(intent.thread), done.error());
      refuse(call.id, call.sender);
      return false;
    }
  }
  return true;
}

// PARK-31 .. PARK-34
Protocol<Done> Core::finish_observation(const FinishObservation& finish, CallIndex call_index) {
  const auto it = parked_.find(finish.continuation);
  if (it == parked_.end() || it->second.phase != ParkedRequest::Phase::kObserving ||
      it->second.lease != finish.lease || !(it->second.site == finish.site))
    return ProtocolFailure::identity();
  const ThreadId tid = finish.continuation.tid;
  TurnRecord* r = record(tid);
  const bool owned = r != nullptr && r->owner.kind == OwnerKind::kObservation &&
                     r->owner.continuation == finish.continuation && r->owner.lease == finish.lease;
  if (!owned || r->request.filled() || r->response.filled() || !queue_.contains(tid))
    return ProtocolFailure::phase();
  const Call call = calls_[call_index];
  const auto answer = [&](Answer a) {
    free_call(call_index);
    reply_now(call.id, call.sender, call.clock, std::move(a));
  };
  ParkedRequest& parked = it->second;
  switch (finish.end) {
    case ObservationEnd::kResume: {
      const auto permit = permits_.find(tid);
      if (permit == permits_.end()) return ProtocolFailure::identity();
      if (parked.cycle == UINT32_MAX || r->epoch == NonceCounter::kMax || !nonce_.has_room(1))
        return ProtocolFailure::overflow();
      if (control_->release(permit->second)) return ProtocolFailure::identity();
      permits_.erase(permit);
      parked.phase = ParkedRequest::Phase::kAwaitingResume;
      parked.ticket =
          ResumeTicket{finish.continuation, parked.cycle + 1, r->epoch + 1, parked.site, nonce_.take()};
      answer(TicketAnswer{*parked.ticket});
      return Done{};
    }
    case ObservationEnd::kInterrupt:
      if (!(finish.selected == parked.site)) return ProtocolFailure::identity();
      if (r->epoch == NonceCounter::kMax) return ProtocolFailure::overflow();
      ++r->epoch;
      r->owner = {OwnerKind::kReturningAfterCaught, finish.continuation, 0};
      r->origin = Origin{};
      r->witness.present = false;
      parked_.erase(it);
      answer(Interrupted{});
      return Done{};
    case ObservationEnd::kTerminate:
      if (!(finish.selected == parked.site)) return ProtocolFailure::identity();
      parked_.erase(it);
      answer(Terminate{});
      return Done{};
  }
  return ProtocolFailure::identity();
}

// PARK-35 .. PARK-37
Protocol<Done> Core::register_resume(const ResumeTicket& ticket, CallIndex call) {
  const auto it = parked_.find(ticket.continuation);
  if (it == parked_.end() || it->second.phase != ParkedRequest::Phase::kAwaitingResume ||
      it->second.ticket != ticket || !(it->second.site == ticket.site))
    return ProtocolFailure::identity();
  const ThreadId tid = ticket.continuation.tid;
  TurnRecord* r = record(tid);
  ParkedRequest& parked = it->second;
  if (r == nullptr || r->response.filled() || r->epoch != ticket.epoch - 1)
    return ProtocolFailure::identity();
  if (const auto good = timers_.check_task(tid, process_of(tid), parked.origin.as, ticket.site.task); !good)
    return ProtocolFailure::of_timer(good.error());
  if (!parked.saved.deadline && !parked.saved.entry) return ProtocolFailure::phase();
  queue_.remove(tid);
  const Row row = arena_.find(tid);
  r->request = parked.request;
  queue_.set_unfilled(row, false);
  if (parked.saved.deadline) {  // PARK-40
    timed_.add_thread(tid, *parked.saved.deadline);
  } else {
    queue_.restore(tid, *parked.saved.entry);
  }
  parked.cycle = ticket.cycle;
  parked.origin.kind = MessageKind::kResumed;
  parked.origin.continuation = ticket.continuation;
  parked.origin.cycle = ticket.cycle;
  r->origin = parked.origin;
  r->epoch = ticket.epoch;
  r->owner = TurnOwner{};
  parked.response = r->response.id();
  parked.phase = ParkedRequest::Phase::kWaiting;
  parked.ticket.reset();
  parked.saved = {};
  if (parked.witness.present) {
    r->witness = parked.witness;
    r->witness.response = r->response.id();
    r->witness.origin = r->origin;
    r->witness.epoch = r->epoch;
  }
  await_response(tid, call);
  return Done{};
}

bool Core::control_barrier() const {  // PARK-12, CHILD-1
  if (!fences_.empty() || !reservations_.empty() || !retirements_.empty()) return true;
  return std::any_of(parked_.begin(), parked_.end(),
                     [](const auto& p) { return p.second.phase == ParkedRequest::Phase::kAwaitingResume; });
}

bool Core::witness_matches(const TurnRecord& r) const {  // PARK-42
  const ReadyReadWitness& w = r.witness;
  return w.present && w.request == r.request.id() && w.response == r.response.id() && w.origin == r.origin &&
         w.epoch == r.epoch && r.request.value().request == w.original.with_attempt(0);
}

bool Core::may_lend_poll(const TurnRecord& r) const {  // PARK-41
  const ResourceRequest& request = r.request.value().request;
  return r.origin.present &&
         (r.origin.kind == MessageKind::kDirect || r.origin.kind == MessageKind::kResumed) &&
         r.origin.capability.kind == LendKind::kPolledRead && request.is(ResourceKind::kPolledIo) &&
         request.items[0].write && request.attempt > 0 && !r.response.filled();
}

bool Core::eligible(const TaskIdentity& task) {  // PARK-16
  const ThreadId tid = task.tid;
  const auto* binding = timers_.live_binding(tid);
  const TurnRecord* r = record(tid);
  if (binding == nullptr || binding->task != task || r == nullptr || !accepts(tid, binding->as) ||
      is_tombstoned(tid) || permits_.contains(tid))
    return false;
  if (r->owner.kind != OwnerKind::kOrdinary || !r->origin.present || r->origin.as != binding->as)
    return false;
  const Capability& lend = r->origin.capability;
  if (!lend.parked_wait() && lend.kind != LendKind::kPolledRead) return false;  // PARK-18
  if (lend.deadline <= committed_) return false;
  return r->request.filled() && !r->request.value().exited && !r->response.filled();
}

// True when at least one observation began or the run failed. Processes in pid order (PARK-15).
bool Core::select_observations() {
  if (control_ == nullptr || !control_->may_have_recipients()) return false;
  bool began = false;
  std::vector<ProcessId> processes;
  for (const auto& [process, threads] : live_) processes.push_back(process);
  for (const ProcessId process : processes) {
    const auto key = timers_.live_process(process);
    if (!key || process_has_permit(process)) continue;
    const auto recipients = control_->recipients(*key);
    if (!recipients) {  // PARK-17
      protocol_failure(std::nullopt, process, recipients.error());
      return true;
    }
    for (const TaskIdentity& task : *recipients) {
      if (task.process != *key || !eligible(task)) continue;
      if (const auto done = begin_observation(task.tid); !done) {
        protocol_failure(task.tid, process, done.error());
        return true;
      }
      began = true;
      break;
    }
  }
  return began;
}

// PARK-19 .. PARK-28: everything that can fail comes first.
Protocol<Done> Core::begin_observation(ThreadId tid) {
  TurnRecord* r = record(tid);
  if (r == nullptr || !r->request.filled() || r->request.value().exited || r->response.filled())
    return ProtocolFailure::phase();
  if (!r->origin.present || !r->origin.capability.has_site) return ProtocolFailure::unsupported();
  if (r->origin.kind != MessageKind::kDirect && r->origin.kind != MessageKind::kResumed)
    return ProtocolFailure::unexpected_control();
  const Capability lend = r->origin.capability;
  const ResourceRequest& request = r->request.value().request;
  if (lend.parked_wait()) {
    if (!request.is(ResourceKind::kSleepUntil) || request.items[0].time != lend.deadline ||
        request.attempt != 0)
      return ProtocolFailure::unsupported();
  } else if (lend.kind == LendKind::kPolledRead) {
    if (!request.is(ResourceKind::kPolledIo) || !request.items[0].write ||
        (request.attempt == 0 && !witness_matches(*r)))
      return ProtocolFailure::unsupported();
  } else {
    return ProtocolFailure::unsupported();
  }
  // PARK-22
  auto existing = parked_.end();
  for (auto it = parked_.lower_bound({tid, 0}); it != parked_.end() && it->first.tid == tid; ++it) {
    if (it->second.request.id() == r->request.id()) existing = it;
  }
  if (existing != parked_.end() &&
      (existing->second.phase != ParkedRequest::Phase::kWaiting ||
       existing->second.response != r->response.id() || existing->second.origin != r->origin))
    return ProtocolFailure::identity();
  const bool fresh = existing == parked_.end();
  // PARK-23
  if (NonceCounter::kMax - r->epoch < 2 || (!fresh && existing->second.cycle == UINT32_MAX) ||
      !nonce_.has_room(fresh ? 3 : 2))
    return ProtocolFailure::overflow();
  const bool timed = timed_.thread_deadline(tid).has_value();
  const bool queued = queue_.contains(tid);
  if (timed && queued) return ProtocolFailure::phase();  // PARK-24
  if (!timed && !queued) return ProtocolFailure::unsupported();
  NonceCounter nonces = nonce_;
  const ContinuationId id = fresh ? ContinuationId{tid, nonces.take()} : existing->first;
  const std::uint64_t lease = nonces.take();
  const DeliveryPermit permit{lend.site.task, nonces.take(), lend.site};
  if (control_->reserve(permit)) return ProtocolFailure::identity();  // PARK-25
  nonce_ = nonces;
  permits_[tid] = permit;
  ParkedRequest parked;
  if (!fresh) parked.cycle = existing->second.cycle;
  parked.phase = ParkedRequest::Phase::kObserving;
  parked.request = r->request;
  parked.response = r->response.id();
  parked.origin = r->origin;
  parked.site = lend.site;
  parked.lease = lease;
  if (witness_matches(*r)) parked.witness = r->witness;
  if (timed) {
    parked.saved.deadline = timed_.remove_thread(tid);
  } else {
    parked.saved.entry = queue_.suspend(tid);
  }
  parked_[id] = parked;
  ++r->epoch;
  const ObservationControl control{id, tid, r->origin.as, r->epoch, lend.site, lease, permit};
  r->owner = {OwnerKind::kObservation, id, lease};
  r->origin = Origin{};
  r->witness.present = false;
  fill_response(tid, {TurnReplyKind::kControl, {}, {}}, control);
  renew_slots(tid);
  queue_.push_back(tid);  // the empty gate
  return Done{};
}

void Core::retire_parked(ThreadId tid) {  // PARK-45
  if (permits_.contains(tid)) return;
  for (auto it = parked_.lower_bound({tid, 0}); it != parked_.end() && it->first.tid == tid;)
    it = parked_.erase(it);
  note_loop_wake();
}

void Core::drop_parked_of_slot(SlotId slot) {  // PARK-44
  if (parked_.empty()) return;
  std::erase_if(parked_, [slot](const auto& p) {
    return p.second.phase == ParkedRequest::Phase::kWaiting && p.second.request.id() == slot;
  });
}

}  // namespace detrec::core
