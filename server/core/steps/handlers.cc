// What each admitted message does. Handlers never touch the run queue except futex wait and wake (TURN-33).
#include <algorithm>

#include "server/core/core.h"

namespace detrec::core {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

void Core::dispatch(CallId id, const Message& m) {
  const ThreadId me = m.sender;
  const ProcessId mine = process_of(me);
  const auto answer = [&](Answer a) { reply_now(id, me, m.clock.value(), std::move(a)); };
  std::visit(
      Overloaded{
          [&](const RequestResources& r) {
            if (!r.epochs.empty()) pending_epochs_[me] = r.epochs;
            on_resources(id, m, r.request, {}, false);
          },
          [&](const RequestParkable& r) { on_resources(id, m, r.request, r.capability, true); },
          [&](const ResumeParked& r) {  // PARK-38
            const auto it = parked_.find(r.ticket.continuation);
            const bool good = r.ticket.continuation.tid == me && it != parked_.end() &&
                              it->second.phase == ParkedRequest::Phase::kAwaitingResume &&  // PARK-39
                              it->second.ticket == r.ticket && it->second.origin.as == m.as;
            if (!good) {
              protocol_failure(me, mine, ProtocolFailure::identity());
              refuse(id, me);
              return;
            }
            const CallIndex call = new_call(id, m, CallKind::kResume);
            if (!post_intent(me, m.as, {r.ticket, call, me})) {
              free_call(call);
              refuse(id, me);
            }
          },
          [&](const FinishObservation& r) {
            const CallIndex call = new_call(id, m, CallKind::kFinish);
            if (!post_intent(me, m.as, {r, call, r.continuation.tid})) {
              free_call(call);
              refuse(id, me);
            }
          },
          [&](const ProtocolFailed& r) {  // PARK-51
            protocol_failure(me, mine, r.failure);
            refuse(id, me);
          },
          [&](const SignalDequeued& r) { on_dequeued(id, m, r); },
          [&](const ReleaseResources&) { answer(Acknowledged{}); },  // RPC-11
          [&](const ReleaseAllResources&) { answer(Acknowledged{}); },
          [&](const ReportUnsupported& r) {
            unsupported_.add(r.name);
            answer(Acknowledged{});
          },
          [&](const PrepareExec& r) {
            if (prepare_exec(me, r, m.as)) {
              answer(Acknowledged{});
            } else {
              refuse(id, me);
            }
          },
          [&](const CancelExec& r) {  // EXEC-4
            if (const auto it = preparations_.find(r.process); it != preparations_.end())
              end_exec(r.process, me, it->second.as, false);
            answer(Acknowledged{});
          },
          [&](const ExecCompleted& r) { on_exec_completed(id, m, r); },
          [&](const RegisterChild& r) {
            if (is_reconnect(m)) {
              reconnect(id, m, r);
            } else {
              on_register_child(id, m, r);
            }
          },
          [&](const RegisterVforkChild& r) { on_register_vfork(id, m, r); },
          [&](const StartThread& r) { on_start(id, m, r); },
          [&](const Deregister& r) { on_deregister(id, m, r); },
          [&](const SetChildTidAddress& r) {  // FORK-13
            TurnRecord* record_of = record(me);
            if (record_of == nullptr) {
              refuse(id, me);
              return;
            }
            record_of->child_tid_address = r.address;
            answer(Acknowledged{});
          },
          [&](const FutexWait& r) { on_futex_wait(id, m, r); },
          [&](const FutexWake& r) { on_futex_wake(id, m, r); },
          [&](const FutexRequeue& r) { on_futex_requeue(id, m, r); },
          [&](const FutexFinished&) {
            answer(FutexAnswer{FutexStatus::kNothing, 0});
          },  // FUTEX-9
          [&](const RobustWakes& r) { on_robust(id, m, r); },
          [&](const MapInode& r) { answer(InodeAnswer{inodes_.map(r.host, r.seen)}); },
          [&](const ForgetInode& r) { answer(BoolAnswer{inodes_.forget(r.host)}); },
          [&](const TouchFile& r) {  // INODE-7, TIME-33
            const LogicalTime now =
                !config_.virtual_time && config_.virtual_metadata ? config_.host_time() : clock_.value();
            answer(InodeAnswer{inodes_.touch(r.host, now)});
          },
          [&](const SetFileTime& r) { answer(InodeAnswer{inodes_.set_time(r.host, r.time)}); },
          [&](const MapDevice& r) { answer(NumberAnswer{devices_.map(r.host)}); },
          [&](const MapMountId& r) {
            const auto number = r.order ? mounts_.map(r.raw, *r.order) : mounts_.map(r.raw);
            answer(NumberAnswer{number ? std::optional<std::uint64_t>(*number) : std::nullopt});
          },
          [&](const CheckMountOrder& r) { answer(BoolAnswer{mounts_.check_order(r.order)}); },
          [&](const AskGlobalTime&) { answer(TimeAnswer{clock_.value()}); },  // TIME-32
          [&](const TraceEvent& r) { on_trace(id, m, r); },
          [&](const SetAlarm& r) { on_set_alarm(id, m, r); },
          [&](const QueryAlarm&) { on_query_alarm(id, m); },
          [&](const SetPosixTimer& r) { on_posix_timer(id, m, r); },
          [&](const ReadyChild& r) {  // WAIT-6
            const auto ready = waits_.ready(mine, r.spec);
            answer(ReadyAnswer{ready.child, ready.any});
          },
          [&](const ConsumeChild& r) {  // WAIT-9
            const WaitMeta* meta = waits_.meta(r.child);
            if (meta == nullptr || meta->parent != mine) {
              answer(BoolAnswer{false});
              return;
            }
            release_waiters(r.child);
            const bool existed = waits_.consume(mine, r.child);  // WAIT-10
            if (existed) cpu_.reap(mine, r.child);
            answer(BoolAnswer{existed});
          },
          [&](const ChildState& r) { answer(ChildStateAnswer{child_status(mine, r.child)}); },
          [&](const GetProcessGroup& r) {
            const auto group = waits_.group(r.process);
            answer(NumberAnswer{group ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(group->value))
                                      : std::nullopt});
          },
          [&](const SetProcessGroup& r) { answer(BoolAnswer{waits_.set_group(r.process, r.group)}); },
          [&](const CreateSession& r) { answer(BoolAnswer{waits_.create_session(r.process)}); },
          [&](const KillTargets& r) {  // KILL-1
            answer(ThreadsAnswer{tree_.is_leader({r.pid}) ? live_threads({r.pid}) : std::vector<ThreadId>{}});
          },
          [&](const SignalPending& r) { on_signal_pending(id, m, r); },
          [&](const IsThreadLive& r) { answer(BoolAnswer{is_registered(r.tid)}); },  // KILL-2
          [&](const Shutdown& r) {  // SHUT-5: the status is the caller's, SHUT-4
            terminal(fmt::format("shutdown with status {}\n{}", r.status, state_text()), r.status);
            answer(Acknowledged{});
          },
          [&](const AllocatePort& r) {
            const auto port = ports_.allocate(r.file);
            answer(NumberAnswer{port ? std::optional<std::uint64_t>(*port) : std::nullopt});
          },
          [&](const AddPort& r) {
            ports_.add(r.port, r.file);
            answer(Acknowledged{});
          },
          [&](const ReleasePort& r) {
            const auto port = ports_.release(r.file);
            answer(NumberAnswer{port ? std::optional<std::uint64_t>(*port) : std::nullopt});
          },
      },
      m.request);
}

void Core::on_resources(CallId id, const Message& m, const ResourceRequest& request,
                        const Capability& capability, bool parkable) {
  if (record(m.sender) == nullptr)
    fatal("thread {} requests a resource without turn record", m.sender.value);  // RPC-10
  Origin origin;
  origin.present = true;
  origin.as = m.as;
  origin.capability = capability;
  if (const auto installed = install_origin(m.sender, origin); !installed) {  // PARK-8
    protocol_failure(m.sender, process_of(m.sender), installed.error());
    refuse(id, m.sender);
    return;
  }
  CallKind kind = parkable ? CallKind::kParkable : CallKind::kResources;
  if (request.is(ResourceKind::kExit)) kind = CallKind::kExit;
  const CallIndex call = new_call(id, m, kind);
  if (kind == CallKind::kExit) calls_[call].exit = request.items[0];
  fill_request(m.sender, request);
  await_response(m.sender, call);
  // While recording a thread that goes outside is there already: its place in the queue must not keep it.
  if (config_.policy == RunPolicy::kRecord && request.is(ResourceKind::kExternalBlock) &&
      !queue_.selection_open() && queue_.select_exact(m.sender))
    decide(m.sender);
}

void Core::on_register_child(CallId id, const Message& m, const RegisterChild& r) {
  const bool root = r.child == m.sender;
  const AddressSpaceId as = root ? m.as : m.as.cloned(r.child, r.flags.has(CloneFlags::kVm));
  register_thread(r.child, m.sender, root ? process_led_by(r.child) : r.process, r.flags, r.exit_signal,
                  r.child_tid_address, r.priority, as);
  if (root) {
    admit_at_drain(r.child, Admit::kBack);
    reply_now(id, m.sender, m.clock.value(), Acknowledged{});
    return;
  }
  admit_at_drain(r.child, Admit::kPostFork);  // FORK-9
  Origin origin;
  origin.present = true;
  origin.kind = MessageKind::kParentContinue;
  origin.as = m.as;
  if (record(m.sender) == nullptr) fatal("the registering thread {} has no turn record", m.sender.value);
  if (const auto installed = install_origin(m.sender, origin); !installed) {
    protocol_failure(m.sender, process_of(m.sender), installed.error());
    refuse(id, m.sender);
    return;
  }
  const CallIndex call = new_call(id, m, CallKind::kParentContinue);  // FORK-11
  calls_[call].child = r.child;
  fill_request(m.sender, ResourceRequest::one(Resource::parent_continue(m.sender, r.child)));
  await_response(m.sender, call);
}

void Core::on_register_vfork(CallId id, const Message& m, const RegisterVforkChild& r) {
  const auto barrier = barriers_.find(r.parent);
  if (barrier == barriers_.end() || barrier->second.child)  // VFORK-3
    fatal("vfork child {} registers, but {} has no open barrier", r.child.value, r.parent.value);
  CloneFlags flags = r.flags;
  flags.bits |= CloneFlags::kVfork;
  register_thread(r.child, r.parent, process_of(r.parent), flags, r.exit_signal, r.child_tid_address,
                  r.priority, m.as);
  barrier->second.child = r.child;
  proofs_.erase(r.parent);
  vfork_random_.erase(r.parent);
  admit_at_drain(r.child, Admit::kBack);
  note_loop_wake();
  reply_now(id, m.sender, m.clock.value(), Acknowledged{});
}

void Core::on_start(CallId id, const Message& m, const StartThread& r) {
  const CallIndex call = new_call(id, m, CallKind::kStart);
  if (!is_registered(m.sender)) {  // FORK-14
    starting_[m.sender].emplace_back(call, r, m.clock);
    return;
  }
  begin_start(call, r, m.clock);
}

void Core::begin_start(CallIndex call, const StartThread& r, const ThreadClock& clock) {
  const Call c = calls_[call];
  const auto refused = [&] {
    free_call(call);
    refuse(c.id, c.sender);
  };
  if (dead_or_stale(c.sender, c.as)) return refused();  // FORK-16
  const ProcessId process = process_of(c.sender);
  if (control_ != nullptr) {  // FORK-19
    std::optional<ProtocolFailure> failure;
    if (!r.task) {
      failure = ProtocolFailure::of_timer(TimerFailureKind::kIdentity);
    } else if (const auto bound = timers_.bind(c.sender, process, c.as, *r.task); !bound) {
      failure = ProtocolFailure::of_timer(bound.error());
    }
    if (failure) {
      protocol_failure(c.sender, process, *failure);
      return refused();
    }
  }
  if (!clock_.contains(c.sender)) clock_.report(c.sender, clock);  // TIME-25, TIME-29, VFORK-5
  account_cpu(c.sender, clock);
  if (config_.replay_preemptions) {  // FORK-18
    PreemptionHistory history;
    const auto& threads = config_.replay_preemptions->threads;
    if (const auto it = threads.find(c.sender); it != threads.end()) {
      history = it->second;
    } else if (config_.log != nullptr) {
      config_.log->line(LogLevel::kWarning,
                        fmt::format("thread {} has no preemption history", c.sender.value));
    }
    queue_.set_persistent(c.sender, history.initial());
    first_grant_history_[c.sender] = std::move(history);
  }
  Origin origin;
  origin.present = true;
  origin.kind = MessageKind::kThreadStart;
  origin.as = c.as;
  if (const auto installed = install_origin(c.sender, origin); !installed) {
    protocol_failure(c.sender, process, installed.error());
    return refused();
  }
  fill_request(c.sender, ResourceRequest::one(Resource::address_space(process)));
  await_response(c.sender, call);
}

void Core::on_deregister(CallId id, const Message& m, const Deregister& r) {  // EXIT-9
  AddressSpaceId as = r.as;
  if (const auto it = preparations_.find(r.process);
      it != preparations_.end() && it->second.caller == r.tid) {
    as = it->second.as;  // EXIT-17
    end_exec(r.process, r.tid, as, false);
  }
  if (accounted_.insert(r.tid).second) {  // EXIT-13, EXIT-14
    if (writer_ && writer_->knows(r.tid) && !config_.replay_schedule) {
      for (const ChaosEpoch& e : r.epochs) writer_->epoch(r.tid, e);
    }
    if (r.timeslices.count != 0) slices_[r.tid].merge(r.timeslices);  // EXIT-18
    syscalls_[r.tid] += r.syscalls;
    restored_.erase(r.tid);
    if (!observe_sibling(r.process, r.tid, as) && is_registered(r.tid)) kill_thread(r.tid, as);  // EXIT-16
    cpu_.thread_ended(r.tid);
  }
  reply_now(id, m.sender, m.clock.value(), Acknowledged{}, false);
}

void Core::on_futex_wait(CallId id, const Message& m, const FutexWait& r) {
  const auto now = [&](FutexStatus status) {
    reply_now(id, m.sender, m.clock.value(), FutexAnswer{status, 0});
  };
  TurnRecord* rec = record(m.sender);
  if (rec == nullptr) return now(FutexStatus::kInterrupted);  // FUTEX-10
  if (const auto it = cleared_.find(r.observed); it != cleared_.end() && it->second.contains(r.key))
    return now(FutexStatus::kWoken);  // FUTEX-14
  Origin origin;
  origin.present = true;
  origin.kind = MessageKind::kFutex;
  origin.as = m.as;
  if (const auto installed = install_origin(m.sender, origin); !installed) {
    protocol_failure(m.sender, process_of(m.sender), installed.error());
    refuse(id, m.sender);
    return;
  }
  const CallIndex call = new_call(id, m, CallKind::kFutex);
  if (!rec->request.filled()) {
    fill_request(m.sender, ResourceRequest::one(Resource::of(ResourceKind::kFutexWait)));
    queue_.remove(m.sender);  // TURN-33: the running thread's own
    futexes_.add(m.sender, r.key, r.mask);
    if (r.deadline && config_.policy == RunPolicy::kRun) {  // FUTEX-3
      timed_.add_thread(m.sender, *r.deadline);
    } else if (r.deadline) {
      host_waits_.insert(m.sender);
      effects_.push_back(ArmHostTimer{m.sender, *r.deadline});
    }
  }
  await_response(m.sender, call);
}

void Core::on_futex_wake(CallId id, const Message& m, const FutexWake& r) {
  if (record(m.sender) == nullptr) {
    reply_now(id, m.sender, m.clock.value(), FutexAnswer{FutexStatus::kInterrupted, 0});
    return;
  }
  reply_now(id, m.sender, m.clock.value(),
            FutexAnswer{FutexStatus::kWoken, wake_waiters(r.key, r.count, r.mask)});
}

std::uint32_t Core::wake_waiters(const FutexKey& key, std::uint32_t count, std::uint32_t mask) {
  RandomStream* fuzz = config_.shuffle_futexes ? &fuzz_ : nullptr;
  const std::vector<ThreadId> woken = futexes_.take(key, count, mask, fuzz);
  for (const ThreadId tid : woken) {  // FUTEX-8
    timed_.remove_thread(tid);
    host_waits_.erase(tid);
    if (queue_.selection_open()) {
      admit_at_drain(tid, Admit::kBack);
    } else {
      queue_.push_back(tid);
    }
  }
  return static_cast<std::uint32_t>(woken.size());
}

void Core::on_futex_requeue(CallId id, const Message& m, const FutexRequeue& r) {
  FutexAnswer answer{FutexStatus::kInterrupted, 0, 0};
  if (record(m.sender) != nullptr) {
    answer = {FutexStatus::kWoken, wake_waiters(r.key, r.count, kFullFutexMask), 0};
    answer.moved = futexes_.move(r.key, r.move, r.to);
  }
  reply_now(id, m.sender, m.clock.value(), answer);
}

void Core::on_robust(CallId id, const Message& m, const RobustWakes& r) {  // ROBUST-6
  RobustAnswer out;
  for (const auto& [owner, key] : r.wakes) {
    const std::vector<ThreadId> woken = futexes_.take(key, 1, kFullFutexMask);
    for (const ThreadId tid : woken) {  // FUTEX-16
      timed_.remove_thread(tid);
      host_waits_.erase(tid);
      admit_at_drain(tid, Admit::kBack);
    }
    out.counts.push_back(static_cast<std::uint32_t>(woken.size()));
  }
  reply_now(id, m.sender, m.clock.value(), std::move(out));
}

void Core::on_trace(CallId id, const Message& m, const TraceEvent& r) {  // TRACE-5, TRACE-23
  TraceAnswer out;
  const bool recording = config_.record_schedule;
  if ((!recording && !replayer_) || r.event.count == 0) {  // TRACE-2, TRACE-9
    reply_now(id, m.sender, m.clock.value(), out);
    return;
  }
  ScheduleEvent event = r.event;
  event.tid = m.sender;
  const bool exec = event.op.kind == OperationKind::kSyscall && event.op.phase == SyscallPhase::kPre &&
                    (event.op.number == 59 || event.op.number == 322);  // execve, execveat
  if (!first_exec_passed_) {                                            // TRACE-6
    event.start.reset();
    event.end.reset();
    if (exec) first_exec_passed_ = true;
  }
  std::optional<std::uint64_t> number = events_recorded_;  // TRACE-24: of the recorded event when replaying
  bool yields = false;
  if (replayer_) {  // TRACE-10
    const Replayer::Advice advice = replayer_->observe(event);
    out.slice = advice.slice;
    number = advice.recorded;
    if (advice.stop) {
      terminal(fmt::format("divergence: thread {} did {}\n{}", m.sender.value, event.text(),
                           replayer_->describe()),
               125);
      return;
    }
    if (advice.change != Replayer::Switch::kNone) {  // TRACE-18
      out.slice.reset();
      if (queue_.has_persistent(m.sender)) queue_.move_to(m.sender, kReplayDeferred);
      if (is_registered(advice.next)) {
        queue_.move_to(advice.next, kReplayForeground);
        if (const auto slice = replayer_->next_slice()) staged_slices_[advice.next] = *slice;
        if (!queue_.contains(advice.next) && config_.log != nullptr)
          config_.log->line(LogLevel::kInfo,
                            fmt::format("switch to thread {}, which cannot run", advice.next.value));
      }
      yields = advice.change == Replayer::Switch::kImmediate;
    }
  }
  if (recording) {
    if (writer_) writer_->add_event(event);
    ++events_recorded_;
  }
  const auto point = number
                         ? std::lower_bound(config_.stack_points.begin(), config_.stack_points.end(), *number)
                         : config_.stack_points.end();
  if (point != config_.stack_points.end() && *point == *number) {
    config_.stack_points.erase(point);
    out.print_stack = true;
    out.stack_signal = config_.stack_signal;
    effects_.push_back(TakeStackTrace{m.sender, *number, config_.stack_signal});
    if (config_.stack_signal) effects_.push_back(DeliverSignal{m.sender, *config_.stack_signal});  // TRACE-25
  }
  if (!yields || record(m.sender) == nullptr) {
    reply_now(id, m.sender, m.clock.value(), out);
    return;
  }
  Origin origin;  // TRACE-19
  origin.present = true;
  origin.kind = MessageKind::kTraceEvent;
  origin.as = m.as;
  if (const auto installed = install_origin(m.sender, origin); !installed) {
    protocol_failure(m.sender, process_of(m.sender), installed.error());
    refuse(id, m.sender);
    return;
  }
  const CallIndex call = new_call(id, m, CallKind::kTraceYield);
  fill_request(m.sender, ResourceRequest::one(Resource::of(ResourceKind::kReplayYield)));
  await_response(m.sender, call);
}

void Core::on_set_alarm(CallId id, const Message& m, const SetAlarm& r) {  // TIMED-20
  const ProcessId process = process_of(m.sender);
  const LogicalTime now = clock_.value();  // TIMED-7
  if (control_ != nullptr) {               // RTIMER-4, RTIMER-5
    const auto before = timers_.set(m.sender, process, now, r.value, r.interval, r.signal);
    if (!before) {
      protocol_failure(m.sender, process, ProtocolFailure::of_timer(before.error()));
      refuse(id, m.sender);
      return;
    }
    if (r.value.ns == 0) {
      timed_.remove_real_timer(process);
    } else {
      timed_.set_real_timer(process, timers_.timer(process)->deadline);  // RTIMER-24
    }
    reply_now(id, m.sender, m.clock.value(), TimerAnswer{*before});
    return;
  }
  const auto previous = r.value.ns == 0 ? timed_.remove_alarm(process)
                                        : timed_.set_alarm(process, now + r.value, r.interval, m.sender);
  TimerValue out;  // TIMED-6
  if (previous) out = {LogicalTime::saturating_sub(previous->time, now), previous->interval};
  reply_now(id, m.sender, m.clock.value(), TimerAnswer{out});
}

void Core::on_query_alarm(CallId id, const Message& m) {
  const ProcessId process = process_of(m.sender);
  if (control_ != nullptr) {
    const auto value = timers_.snapshot(process, clock_.value());
    if (!value) {
      protocol_failure(m.sender, process, ProtocolFailure::of_timer(value.error()));
      refuse(id, m.sender);
      return;
    }
    reply_now(id, m.sender, m.clock.value(), TimerAnswer{*value});
    return;
  }
  TimerValue out;  // TIMED-11
  if (const auto alarm = timed_.alarm(process))
    out = {LogicalTime::saturating_sub(alarm->time, clock_.value()), alarm->interval};
  reply_now(id, m.sender, m.clock.value(), TimerAnswer{out});
}

void Core::on_posix_timer(CallId id, const Message& m, const SetPosixTimer& r) {  // TIMED-12
  if (r.deadline && (r.signal.value < 0 || r.signal.value > 64))
    fatal("timer signal {} has no name", r.signal.value);
  const ProcessId process = process_of(m.sender);
  if (r.deadline) {
    timed_.set_posix(process, r.id, *r.deadline, r.interval, r.signal);
  } else {
    timed_.remove_posix(process, r.id);
  }
  reply_now(id, m.sender, m.clock.value(), Acknowledged{});
}

void Core::on_signal_pending(CallId id, const Message& m, const SignalPending& r) {  // SIG-20, KILL-4, KILL-5
  const TurnRecord* target = record(r.target);
  const bool polling = target != nullptr && queue_.contains(r.target) && target->request.filled() &&
                       !target->request.value().exited &&
                       target->request.value().request.is(ResourceKind::kPolledIo);
  const bool waiting = child_waiters_.contains(r.target) || signal_notes_.contains(r.target);
  if (target != nullptr && (waiting || polling)) signal_notes_[r.target].add(r.signal);
  reply_now(id, m.sender, m.clock.value(), Acknowledged{});
}

void Core::on_dequeued(CallId id, const Message& m, const SignalDequeued& r) {  // RTIMER-18
  const bool live = !tombstones_.contains(m.sender) && is_registered(m.sender) && accepts(m.sender, m.as);
  if (live && !failed()) account(m);
  const auto ack = timers_.dequeued(r.notice, clock_.value());
  if (ack && ack->rearmed && !failed()) timed_.set_real_timer(r.notice.consumer.process.pid, *ack->rearmed);
  if (!ack && !failed()) {
    protocol_failure(m.sender, r.notice.consumer.process.pid, ProtocolFailure::of_timer(ack.error()));
  }
  reply_now(id, m.sender, m.clock.value(), DequeueAnswer{ack, !live || failed()}, live && !failed());
}

ChildStatus Core::child_status(ProcessId parent, ProcessId child) const {  // WAIT-5
  const WaitMeta* meta = waits_.meta(child);
  if (meta == nullptr || meta->parent != parent) return ChildStatus::kUnknown;
  if (!live_threads(child).empty()) return ChildStatus::kRunning;
  if (!meta->exited) return ChildStatus::kUnknown;
  if (!config_.reports_physical_exits) return ChildStatus::kLogicallyExited;
  return meta->physical ? ChildStatus::kPhysicallyExited : ChildStatus::kPhysicalExitPending;
}

}  // namespace detrec::core
