// Registration, turn records, blocked pools and logical death (TURN-4 .. TURN-7, FORK, EXIT).
#include <algorithm>

#include "server/core/core.h"

namespace detrec::core {

TurnRecord* Core::record(ThreadId tid) {
  const Row row = arena_.find(tid);
  return row != kNoRow && arena_.queue(row).registered ? &arena_.turn(row) : nullptr;
}

const TurnRecord* Core::record(ThreadId tid) const { return const_cast<Core*>(this)->record(tid); }

bool Core::is_registered(ThreadId tid) const {
  const Row row = arena_.find(tid);
  return row != kNoRow && arena_.queue(row).registered;
}

std::vector<ThreadId> Core::live_threads(ProcessId process) const {
  const auto it = live_.find(process);
  return it == live_.end() ? std::vector<ThreadId>{}
                           : std::vector<ThreadId>(it->second.begin(), it->second.end());
}

bool Core::process_exited(ProcessId process) const { return logically_exited_.contains(process); }

// --- slots ---

void Core::renew_slots(ThreadId tid) {
  const Row row = arena_.find(tid);
  TurnRecord& r = arena_.turn(row);
  r.request = Slot<RequestFill>(arena_.new_slot());
  r.response = Slot<TurnReply>(arena_.new_slot());
  r.call = 0;
  queue_.set_unfilled(row, true);
}

void Core::fill_request(ThreadId tid, const ResourceRequest& request) {
  const Row row = arena_.find(tid);
  TurnRecord& r = arena_.turn(row);
  if (r.request.filled()) {  // TURN-6
    if (!r.request.value().exited && r.request.value().request.scheduler_made()) return;
    fatal("the request slot of thread {} is filled twice", tid.value);
  }
  r.request.fill({false, request});
  queue_.set_unfilled(row, false);
  note_external(tid, request);
  if (watches_.empty()) return;
  if (const auto it = watches_.find(r.request.id()); it != watches_.end()) it->second = RequestState::kFilled;
}

void Core::replace_request(ThreadId tid, const ResourceRequest& request) {
  const Row row = arena_.find(tid);
  TurnRecord& r = arena_.turn(row);
  r.request = Slot<RequestFill>(arena_.new_slot());
  r.request.fill({false, request});
  queue_.set_unfilled(row, false);
  note_external(tid, request);
}

void Core::note_external(ThreadId tid, const ResourceRequest& request) {
  if (request.is(ResourceKind::kExternalDone) || request.is(ResourceKind::kVforkFailed))
    external_done_.insert(tid);
}

void Core::fill_response(ThreadId tid, const TurnReply& reply, std::optional<ObservationControl> control) {
  TurnRecord& r = arena_.turn(arena_.find(tid));
  r.response.fill(reply);
  if (r.call == 0) return;
  ready_.push_back({r.call - 1, reply, std::move(control)});
  r.call = 0;
}

SlotId Core::watch_request(ThreadId tid) {
  const TurnRecord* r = record(tid);
  check(r != nullptr, "a watch needs a registered thread");
  watches_[r->request.id()] = !r->request.filled()        ? RequestState::kEmpty
                              : r->request.value().exited ? RequestState::kExited
                                                          : RequestState::kFilled;
  return r->request.id();
}

Core::RequestState Core::watched(SlotId slot) const {
  const auto it = watches_.find(slot);
  return it == watches_.end() ? RequestState::kExited : it->second;
}

// --- intents of handlers (TURN-33, TURN-34) ---

void Core::admit_at_drain(ThreadId tid, Admit where) {
  if (!admissions_.emplace(tid, where).second) fatal("thread {} has two admissions pending", tid.value);
}

void Core::remove_at_drain(ThreadId tid, Removal how) {
  const auto [it, fresh] = removals_.emplace(tid, how);
  if (!fresh && how == Removal::kRetire) it->second = how;
  if (const Row row = arena_.find(tid); row != kNoRow && how == Removal::kRetire)
    queue_.set_removing(row, true);
}

// --- registration ---

void Core::mark_registered(ThreadId tid, ProcessId process) {
  const Row row = arena_.obtain(tid);
  if (!arena_.queue(row).registered) {
    arena_.queue(row).registered = true;
    ++arena_.header().registered_count;
    arena_.turn(row) = TurnRecord{};
    futexes_.set_timed_out(tid, false);  // of an earlier life in the same row
    renew_slots(tid);
  }
  live_[process].insert(tid);
  if (!started_) started_ = start_signal_ = true;
}

void Core::drop_registration(ThreadId tid) {
  const Row row = arena_.find(tid);
  if (row == kNoRow || !arena_.queue(row).registered) return;
  arena_.queue(row).registered = false;
  --arena_.header().registered_count;
}

Priority Core::initial_priority(ThreadId child, ThreadId parent, std::optional<Priority> supplied,
                                bool vfork) {
  if (supplied && !valid_priority(*supplied))
    fatal("initial priority {} of thread {} is out of range", supplied->value, child.value);
  if (pct_) return pct_->initial();  // whatever is supplied: the plan alone ranks threads
  if (config_.replay_preemptions) {  // FORK-3
    const auto it = config_.replay_preemptions->threads.find(child);
    if (it == config_.replay_preemptions->threads.end()) {
      if (config_.log != nullptr)
        config_.log->line(LogLevel::kWarning,
                          fmt::format("thread {} is not in the preemption record", child.value));
      return kDefaultPriority;
    }
    if (supplied) fatal("thread {} has a recorded and a supplied initial priority", child.value);
    if (!valid_priority(it->second.initial()))
      fatal("recorded priority of thread {} is out of range", child.value);
    return it->second.initial();
  }
  if (supplied) return *supplied;
  if (config_.replay_schedule) return child.value <= kRootProcess.value ? kReplayForeground : kReplayDeferred;
  if (vfork) {  // VFORK-4
    if (!config_.chaos.enabled) return kVforkChildPriority;
    const auto it = vfork_random_.find(parent);
    if (it == vfork_random_.end()) fatal("the vfork of thread {} has no random value", parent.value);
    return priority_from_random(it->second);
  }
  return kDefaultPriority;
}

void Core::register_thread(ThreadId child, ThreadId creator, ProcessId creator_process,
                           CloneFlags flags,  // FORK-5
                           Signal exit_signal, std::uint64_t child_tid_address,
                           std::optional<Priority> priority, AddressSpaceId as) {
  const bool root = child == creator;
  const bool leader = root || !flags.has(CloneFlags::kThread);  // FORK-6
  const bool vfork = flags.has(CloneFlags::kVfork);
  if (given_up(child)) reopen(child, as);
  tree_.add(child, creator, leader);
  const ProcessId process = leader ? process_led_by(child) : creator_process;
  if (root) {
    waits_.add_root(process);
  } else if (leader) {
    waits_.add_child(process, creator_process, creator, exit_signal, flags.has(CloneFlags::kParent));
  }
  creation_order_.push_back(child);
  cleared_.erase(static_cast<std::uint32_t>(child.value));
  accounted_.erase(child);
  logically_exited_.erase(process);
  if (queue_.has_persistent(child)) {  // FORK-7
    if (!config_.replay_schedule) fatal("thread {} already has a priority", child.value);
  } else {
    queue_.set_persistent(child, initial_priority(child, creator, priority, vfork));
  }
  mark_registered(child, process);
  TurnRecord* r = record(child);
  r->child_tid_address = flags.has(CloneFlags::kChildClearTid) ? child_tid_address : 0;  // FORK-12
  if (writer_ && !writer_->knows(child)) writer_->add_thread(child, queue_.persistent(child));
  if (leader) posix_tables_.erase(process);
  wake_starters(child);
}

bool Core::reopen(ThreadId tid, AddressSpaceId as) {  // EXEC-43
  if (!given_up(tid)) return false;
  if (is_registered(tid)) fatal("thread {} is reopened while registered", tid.value);
  given_up_.erase(tid);
  tombstones_.erase(tid);
  accounted_.erase(tid);
  accepted_[tid] = as;
  return true;
}

void Core::wake_starters(ThreadId tid) {
  const auto it = starting_.find(tid);
  if (it == starting_.end()) return;
  auto starters = std::move(it->second);
  starting_.erase(it);
  for (auto& [call, request, clock] : starters) begin_start(call, request, clock);
}

// --- pools ---

bool Core::leave_pools(ThreadId tid) {
  bool was = futexes_.remove(tid);
  was |= timed_.remove_thread(tid).has_value();
  was |= child_waiters_.erase(tid) != 0;
  was |= physical_waiters_.erase(tid) != 0;
  was |= host_waits_.erase(tid) != 0;
  was |= deferred_.erase(tid) != 0;
  expired_sleeps_.erase(tid);
  return was;
}

void Core::force_unblock(ThreadId tid, const ResourceRequest& request) {  // RUNQ-18
  leave_pools(tid);
  queue_.remove(tid);
  admissions_.erase(tid);
  if (const TurnRecord* r = record(tid)) drop_parked_of_slot(r->request.id());  // its wait is over
  replace_request(tid, request);
  if (config_.chaos.race_targeted && fuzz_.next() % 2 == 0) {
    queue_.push_front(tid);
  } else {
    queue_.push_back(tid);
  }
}

void Core::deliver_signal(ThreadId tid, Signal signal) {
  effects_.push_back(DeliverSignal{tid, signal});
  const TurnRecord* r = record(tid);
  if (r == nullptr || external_.contains(tid)) return;  // SIG-19
  if (queue_.selection_open()) {
    queue_.undo();
    progress_.selected = false;
  }
  const bool parked = futexes_.waiting(tid) || timed_.thread_deadline(tid) || child_waiters_.contains(tid) ||
                      physical_waiters_.contains(tid) || host_waits_.contains(tid);
  const bool polling = queue_.contains(tid) && r->request.filled() && !r->request.value().exited &&
                       r->request.value().request.is(ResourceKind::kPolledIo);
  if (parked || polling) force_unblock(tid, ResourceRequest::one(Resource::inbound_signal(signal)));
}

std::optional<ThreadId> Core::signal_target(ProcessId process, ThreadId preferred) {  // SIG-15, SIG-16
  if (!tree_.is_leader(leader_of(process))) return std::nullopt;
  const std::vector<ThreadId> live = live_threads(process);
  if (live.empty()) return std::nullopt;
  if (config_.chaos.race_targeted) return live[fuzz_.below(live.size())];
  const auto usable = [&](ThreadId tid) { return std::find(live.begin(), live.end(), tid) != live.end(); };
  if (usable(preferred)) return preferred;
  if (usable(leader_of(process))) return leader_of(process);
  return live.front();
}

bool Core::proof_matches(ThreadId parent, ThreadId child, AddressSpaceId as, bool shares) const {  // VFORK-9
  const auto it = proofs_.find(parent);
  if (it == proofs_.end() || child == parent || is_registered(child)) return false;
  return process_of(parent) == it->second.process && it->second.as.cloned(child, shares) == as;
}

void Core::release_waiters(ProcessId child) {  // WAIT-8
  for (auto it = child_waiters_.begin(); it != child_waiters_.end();) {
    if (waits_.matches(child, it->second.first, it->second.second)) {
      admit_at_drain(it->first, Admit::kBack);
      it = child_waiters_.erase(it);
    } else {
      ++it;
    }
  }
}

// --- death (EXIT-3 .. EXIT-8) ---

void Core::kill_thread(ThreadId tid, AddressSpaceId as) {
  if (config_.cancel_killed_requests) tombstones_.insert(tid);
  remove_at_drain(tid, Removal::kRetire);
  leave_pools(tid);
  external_.erase(tid);
  external_done_.erase(tid);
  child_signal_ready_.erase(tid);
  admissions_.erase(tid);
  signal_notes_.erase(tid);
  host_expiries_.erase(tid);
  proofs_.erase(tid);
  barriers_.erase(tid);
  vfork_random_.erase(tid);
  staged_slices_.erase(tid);
  first_grant_history_.erase(tid);
  if (const auto it = starting_.find(tid); it != starting_.end()) {  // FORK-16
    for (auto& [call, request, clock] : it->second) {
      if (config_.cancel_killed_requests) refuse(calls_[call].id, tid);
      free_call(call);
    }
    starting_.erase(it);
  }
  retire_parked(tid);
  TurnRecord* r = record(tid);
  if (r == nullptr) return;
  const ProcessId process = process_of(tid);
  const std::uint64_t address = r->child_tid_address;
  if (!r->request.filled()) {
    r->request.fill({true, {}});
    queue_.set_unfilled(arena_.find(tid), false);
    if (const auto it = watches_.find(r->request.id()); it != watches_.end())
      it->second = RequestState::kExited;
  } else if (config_.cancel_killed_requests && !failed() && !r->response.filled()) {  // EXIT-4, FUTEX-12
    fill_response(tid, {TurnReplyKind::kSignaled, {}, {}});
  }
  if (r->call != 0) free_call(std::exchange(r->call, 0) - 1);  // stays pending for the backend to abandon
  queue_.clear_persistent(tid);
  drop_registration(tid);
  auto& live = live_[process];
  live.erase(tid);
  const bool last = live.empty();
  timers_.retire_thread(tid, last);
  if (address != 0) {  // FUTEX-13, FUTEX-15
    const FutexKey key = FutexKey::private_key(as, address);
    cleared_[static_cast<std::uint32_t>(tid.value)].insert(key);
    for (const ThreadId woken : futexes_.take(key, 1, kFullFutexMask)) {
      timed_.remove_thread(woken);
      host_waits_.erase(woken);
      admit_at_drain(woken, Admit::kBack);
    }
  }
  if (running_ == tid) running_.reset();
  if (last) {
    live_.erase(process);
    process_emptied(process);
  }
}

void Core::process_emptied(ProcessId process) {  // EXIT-8, TIMED-19
  if (config_.reports_physical_exits) begin_physical_exit(process);
  logically_exited_.insert(process);
  waits_.mark_exited(process);
  if (const WaitMeta* meta = waits_.meta(process); meta != nullptr && meta->parent.value != 0)
    cpu_.process_ended(process, meta->parent);
  release_waiters(process);
  timed_.remove_alarm(process);
  timed_.remove_all_posix(process);
  timed_.remove_real_timer(process);
  posix_tables_.erase(process);
  preparations_.erase(process);
}

bool Core::begin_physical_exit(ProcessId process) {   // EXIT-19
  if (!config_.reports_physical_exits) return false;  // EXIT-22
  physical_reported_.erase(process);
  return physical_exits_.insert(process).second;
}

bool Core::complete_physical_exit(ProcessId process) {  // EXIT-20
  if (!config_.reports_physical_exits) return false;
  preparations_.erase(process);
  restored_.erase(leader_of(process));
  const bool known = physical_exits_.erase(process) != 0;
  if (known) {
    physical_reported_.insert(process);
    waits_.mark_physical(process);
  }
  for (auto it = physical_waiters_.begin(); it != physical_waiters_.end();) {
    if (it->second == process) {
      physical_reported_.insert(process);
      admit_at_drain(it->first, Admit::kBack);
      it = physical_waiters_.erase(it);
    } else {
      ++it;
    }
  }
  note_loop_wake();
  return known;
}

std::size_t Core::release_all_physical_exits() {  // EXIT-21
  const std::set<ProcessId> all = physical_exits_;
  for (const ProcessId process : all) complete_physical_exit(process);
  return all.size();
}

}  // namespace detrec::core
