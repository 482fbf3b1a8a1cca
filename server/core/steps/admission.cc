// Message admission and replies (RPC, FAIL-4, FAIL-5, TIME-24 .. TIME-28).
#include "server/core/core.h"

namespace detrec::core {

bool Core::accepts(ThreadId tid, AddressSpaceId as) const {
  if (!given_up_.empty() && given_up(tid)) return false;
  if (accepted_.empty()) return true;
  const auto it = accepted_.find(tid);
  return it == accepted_.end() || it->second == as;
}

std::optional<AddressSpaceId> Core::exec_candidate(ThreadId sender) const {
  for (const auto& [process, prepared] : preparations_) {
    if (prepared.caller == sender) return prepared.as.after_exec(process);
  }
  return std::nullopt;
}

bool Core::dead_or_stale(ThreadId tid, AddressSpaceId as) const {
  if (!tombstones_.empty() && tombstones_.contains(tid)) return true;
  return !accepts(tid, as) && exec_candidate(tid) != as;
}

// EXEC-12: a registration of the process itself while its exec is prepared.
bool Core::is_reconnect(const Message& m) const {
  const auto* r = std::get_if<RegisterChild>(&m.request);
  return r != nullptr && r->flags.bits == 0 && m.sender == r->child &&
         r->process == process_led_by(r->child) && preparations_.contains(r->process);
}

CallId Core::send(const Message& m) {
  const CallId id = ++next_call_;
  if (admit(id, m)) dispatch(id, m);
  run_deferred();
  return id;
}

// RPC-2, in its order. True: the message is admitted and its clock accounted. One step (RPC-3).
bool Core::admit(CallId id, const Message& m) {
  const auto* leaving = std::get_if<Deregister>(&m.request);
  const bool dequeued = std::holds_alternative<SignalDequeued>(m.request);
  if (failed() && leaving == nullptr && !dequeued &&
      !std::holds_alternative<RobustWakes>(m.request))  // ROBUST-14
    return false;
  if (is_reconnect(m) || dequeued) return true;
  const bool start = std::holds_alternative<StartThread>(m.request);
  if (!given_up_.empty() && given_up(m.sender)) {
    if (const auto* self = std::get_if<RegisterVforkChild>(&m.request)) {  // EXEC-44
      const bool proven = self->child == m.sender && self->flags.has(CloneFlags::kVfork) &&
                          proof_matches(self->parent, self->child, m.as, self->flags.has(CloneFlags::kVm));
      if (!proven) {
        refuse(id, m.sender);
        return false;
      }
      reopen(m.sender, m.as);
    } else if (start) {  // EXEC-45
      starting_[m.sender].emplace_back(new_call(id, m, CallKind::kStart), std::get<StartThread>(m.request),
                                       m.clock);
      return false;
    }
  }
  const bool candidate = exec_candidate(m.sender) == m.as;  // EXEC-11
  if (!accepts(m.sender, m.as) && !candidate) {             // RPC-4, EXIT-11
    if (leaving != nullptr) {
      reply_now(id, m.sender, m.clock.value(), Acknowledged{}, false);
    } else {
      refuse(id, m.sender);
    }
    return false;
  }
  const bool dead = !tombstones_.empty() && tombstones_.contains(m.sender);
  if (leaving != nullptr) {
    if (leaving->tid != m.sender || leaving->as != m.as)  // EXIT-10
      fatal("the deregistration of thread {} names another owner", m.sender.value);
    if (!tree_.contains(m.sender) && !is_registered(m.sender) && !dead) {  // EXIT-12
      if (leaving->start_entered && !failed()) fatal("a started thread {} is unknown", m.sender.value);
      reply_now(id, m.sender, m.clock.value(), Acknowledged{}, false);
      return false;
    }
    if (!dead && !accounted_.contains(m.sender)) account(m);  // EXIT-14, EXIT-15
    return true;
  }
  if (dead) {  // RPC-5
    refuse(id, m.sender);
    return false;
  }
  if (const auto* r = std::get_if<RegisterChild>(&m.request);
      r != nullptr && tombstones_.contains(r->child) && !given_up(r->child)) {  // ID-22, FORK-4
    refuse(id, m.sender);
    return false;
  }
  if (!start) account(m);
  return true;
}

void Core::account(const Message& m) {
  clock_.report(m.sender, m.clock);
  account_cpu(m.sender, m.clock);
}

void Core::account_cpu(ThreadId tid, const ThreadClock& clock) {
  if (!cpu_.knows(tid) && clock.inherited().ns != 0) cpu_.start(tid, clock.user(), clock.system());
  const ProcessId process = process_of(tid);
  if (process.value != 0) cpu_.account(process, tid, clock.user(), clock.system());
}

void Core::reply_now(CallId id, ThreadId tid, LogicalTime clock, Answer answer, bool timed) {
  std::optional<LogicalTime> time;
  if (timed) {
    if (const auto entry = clock_.entry(tid)) {  // TIME-26
      const LogicalTime known = clock_.origin() + entry->elapsed;
      if (known < clock) fatal("thread {} is ahead of its account", tid.value);
      if (known > clock) time = known;
    }
  }
  replies_.push_back({id, tid, time, std::move(answer)});
}

void Core::refuse(CallId id, ThreadId tid) { replies_.push_back({id, tid, std::nullopt, ThreadExited{}}); }

Core::CallIndex Core::new_call(CallId id, const Message& m, CallKind kind) {
  CallIndex index;
  if (free_calls_.empty()) {
    index = static_cast<CallIndex>(calls_.size());
    calls_.emplace_back();
  } else {
    index = free_calls_.back();
    free_calls_.pop_back();
  }
  Call& call = calls_[index];
  call = Call{};
  call.id = id;
  call.sender = m.sender;
  call.as = m.as;
  call.clock = m.clock.value();
  call.kind = kind;
  call.in_use = true;
  return index;
}

void Core::free_call(CallIndex call) {
  calls_[call].in_use = false;
  free_calls_.push_back(call);
}

void Core::await_response(ThreadId tid, CallIndex call) {
  TurnRecord* r = record(tid);
  if (r->response.filled()) {
    ready_.push_back({call, r->response.value(), std::nullopt});
  } else {
    r->response.wait();
    r->call = call + 1;
  }
}

std::vector<Reply> Core::take_replies() {
  while (!ready_.empty()) {
    const Ready ready = std::move(ready_.front());
    ready_.pop_front();
    complete(ready);
  }
  run_deferred();
  return std::exchange(replies_, {});
}

// RPC-6: a grant obtained by a thread that died meanwhile is not acted upon.
void Core::complete(const Ready& ready) {
  const Call call = calls_[ready.call];
  free_call(ready.call);
  if (failed()) return;
  const bool dead = dead_or_stale(call.sender, call.as);
  if (ready.control && !dead && call.kind != CallKind::kParkable &&
      call.kind != CallKind::kResume) {  // PARK-47
    protocol_failure(call.sender, process_of(call.sender), ProtocolFailure::unexpected_control());
    if (call.kind != CallKind::kFutex) refuse(call.id, call.sender);
    return;
  }
  if (dead) {
    refuse(call.id, call.sender);
    return;
  }
  const auto answer = [&](Answer a) { reply_now(call.id, call.sender, call.clock, std::move(a)); };
  switch (call.kind) {
    case CallKind::kResources:
    case CallKind::kFinish:
      answer(TurnAnswer{ready.reply});
      break;
    case CallKind::kParkable:
    case CallKind::kResume:
      if (ready.control) {
        answer(ControlAnswer{*ready.control});  // PARK-48
      } else {
        answer(TurnAnswer{ready.reply});
      }
      break;
    case CallKind::kParentContinue:
      answer(Acknowledged{});
      break;
    case CallKind::kTraceYield:
      answer(TraceAnswer{
          true, ready.reply.kind == TurnReplyKind::kGoSlice ? std::optional(ready.reply.slice) : std::nullopt,
          false, std::nullopt});
      break;
    case CallKind::kStart: {
      StartAnswer start;
      start.reply = ready.reply;
      if (const auto it = first_grant_history_.find(call.sender); it != first_grant_history_.end()) {
        start.history = std::make_shared<const PreemptionHistory>(std::move(it->second));
        first_grant_history_.erase(it);
      }
      answer(std::move(start));
      break;
    }
    case CallKind::kFutex: {
      FutexStatus status = FutexStatus::kWoken;
      if (ready.reply.kind == TurnReplyKind::kGoTimedOut) status = FutexStatus::kTimedOut;
      if (ready.reply.kind == TurnReplyKind::kSignaled) status = FutexStatus::kInterrupted;  // FUTEX-11
      answer(FutexAnswer{status, 0});
      break;
    }
    case CallKind::kExit:     // EXIT-2
      if (call.exit.group) {  // EXIT-1
        for (const ThreadId other : live_threads(call.exit.process)) {
          if (other != call.sender) kill_thread(other, call.exit.as);
        }
      }
      answer(TurnAnswer{ready.reply});
      break;
  }
}

}  // namespace detrec::core
