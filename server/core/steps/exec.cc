// Exec with identity take-over, for an engine that is loaded afresh (EXEC-1 .. EXEC-14, EXEC-16 .. EXEC-26,
// EXEC-43 .. EXEC-46, EXEC-55).
#include "server/core/core.h"

namespace detrec::core {

bool Core::prepare_exec(ThreadId caller, const PrepareExec& p, AddressSpaceId header) {  // EXEC-1 .. EXEC-3
  if (p.as != header || process_of(caller) != p.process || !is_registered(caller) ||
      !accepts(caller, header) || preparations_.contains(p.process))
    return false;
  ExecPreparation prepared{caller, p.as, p.restored, {}, {}};
  for (const ThreadId tid : live_threads(p.process)) {
    if (tid != caller) prepared.siblings.insert(tid);
  }
  preparations_[p.process] = std::move(prepared);
  return true;
}

bool Core::observe_sibling(ProcessId process, ThreadId tid, AddressSpaceId as) {  // EXEC-7
  const auto it = preparations_.find(process);
  if (it == preparations_.end() || it->second.as != as || !it->second.siblings.contains(tid)) return false;
  it->second.observed.insert(tid);
  return true;
}

void Core::end_exec(ProcessId process, ThreadId caller, AddressSpaceId as, bool success) {  // EXEC-8, EXEC-9
  const auto it = preparations_.find(process);
  if (it == preparations_.end() || it->second.caller != caller || it->second.as != as) return;
  const ExecPreparation prepared = std::move(it->second);
  preparations_.erase(it);
  for (const ThreadId tid : success ? prepared.siblings : prepared.observed) {
    drop_barriers_naming(tid);
    kill_thread(tid, prepared.as);
  }
}

void Core::drop_barriers_naming(ThreadId tid) {  // VFORK-10
  for (auto it = barriers_.begin(); it != barriers_.end();) {
    if (it->first == tid || it->second.child == tid) {
      proofs_.erase(it->first);
      it = barriers_.erase(it);
    } else {
      ++it;
    }
  }
}

void Core::reconnect(CallId id, const Message& m, const RegisterChild& r) {  // EXEC-12, EXEC-13
  const ProcessId process = r.process;
  const ThreadId leader = leader_of(process);
  const AddressSpaceId candidate = preparations_.at(process).as.after_exec(process);
  commit_exec(process, r.child_tid_address, r.priority);
  cpu_.start(leader, {}, {});  // CPU-4: the new image's clock counts from its own zero
  std::optional<LogicalTime> time;
  if (clock_.contains(leader)) time = clock_.time_of(leader);
  replies_.push_back({id, m.sender, time, ReconnectAnswer{candidate}});
}

// One step: no observer ever sees the process without a registered thread (EXEC-17).
void Core::commit_exec(ProcessId process, std::uint64_t child_tid_address, std::optional<Priority> supplied) {
  const ExecPreparation prepared = preparations_.at(process);
  const ThreadId leader = leader_of(process);
  const ThreadId caller = prepared.caller;
  const AddressSpaceId candidate = prepared.as.after_exec(process);
  if (caller == leader) {  // EXEC-16
    end_exec(process, caller, prepared.as, true);
    staged_slices_.erase(leader);
    drop_barriers_naming(leader);
    if (TurnRecord* r = record(leader)) r->child_tid_address = child_tid_address;
  } else {
    std::optional<Priority> priority = supplied;
    if (queue_.has_persistent(caller)) priority = queue_.persistent(caller);  // EXEC-18
    if (!priority)
      fatal("the exec of thread {} leaves process {} without priority", caller.value, process.value);
    // The displaced leader is a sibling like any other; it may be gone already.
    end_exec(process, caller, prepared.as, true);
    tombstones_.erase(leader);
    accounted_.erase(leader);
    mark_registered(leader, process);
    record(leader)->child_tid_address = child_tid_address;
    std::optional<LogicalTime> slice;
    if (config_.replay_schedule && replayer_) {  // EXEC-39
      const ScheduleEvent* next = replayer_->next();
      const bool mine = next != nullptr && next->tid == leader;
      priority = mine ? kReplayForeground : kReplayDeferred;
      if (mine) slice = replayer_->next_slice();
    }
    queue_.set_persistent(leader, *priority);
    if (slice) staged_slices_[leader] = *slice;
    if (writer_) {
      if (writer_->knows(leader)) {
        writer_->set_current(leader, *priority);
      } else {
        writer_->add_thread(leader, *priority);
      }
    }
    // EXEC-19: recorded together, before the caller's request is released.
    removals_[leader] = Removal::kReplaceThenAdmit;
    if (const Row row = arena_.find(leader); row != kNoRow) queue_.set_removing(row, true);
    admissions_.erase(leader);
    admit_at_drain(leader, Admit::kBack);
    physical_exits_.erase(process);
    logically_exited_.erase(process);
    drop_barriers_naming(caller);
    kill_thread(caller, prepared.as);
    if (clock_.contains(caller)) clock_.move_component(caller, leader);
    cpu_.move_owner(caller, leader);
    given_up_.insert(caller);
    waits_.move_owner(caller, leader, process);  // EXEC-21
  }
  accepted_[leader] = candidate;
  if (!prepared.restored.empty()) restored_[leader] = prepared.restored;  // EXEC-22
  note_loop_wake();
}

void Core::on_exec_completed(CallId id, const Message& m, const ExecCompleted& r) {  // EXEC-23 .. EXEC-26
  const auto it = preparations_.find(r.process);
  if (control_ != nullptr) {  // EXEC-25
    std::optional<ProtocolFailure> failure;
    if (!r.task || r.task->tid != m.sender || r.task->process.pid != r.process) {
      failure = ProtocolFailure::identity();
    } else {
      for (const auto& [continuation, parked] : parked_) {  // PARK-46
        if (continuation.tid == m.sender) failure = ProtocolFailure::identity();
      }
      if (!failure && it != preparations_.end()) {
        const bool mine = it->second.caller == m.sender;
        const auto bound = timers_.exec(m.sender, r.process, it->second.as, m.as, *r.task);
        if (!mine || !bound) failure = ProtocolFailure::identity();
      } else if (!failure && !timers_.check_task(m.sender, r.process, m.as, *r.task)) {
        failure = ProtocolFailure::identity();
      }
    }
    if (failure) {
      protocol_failure(m.sender, r.process, *failure);
      refuse(id, m.sender);
      return;
    }
  }
  first_exec_passed_ = true;
  timed_.remove_all_posix(r.process);  // TIMED-16, TIMED-17
  posix_tables_[r.process].clear_for_exec();
  if (it != preparations_.end() && it->second.caller == m.sender && m.sender == leader_of(r.process) &&
      m.as == it->second.as.after_exec(r.process)) {  // EXEC-24
    const TurnRecord* kept = record(m.sender);
    commit_exec(r.process, kept == nullptr ? 0 : kept->child_tid_address, std::nullopt);
  }
  ExecAnswer out;
  if (const auto kept = restored_.find(m.sender); kept != restored_.end()) {
    out.restored = std::move(kept->second);
    restored_.erase(kept);
  }
  reply_now(id, m.sender, m.clock.value(), std::move(out));
}

}  // namespace detrec::core
