// FX-CTL: controlled mode with a scripted signal control object.
#pragma once

#include "tests/core/rig.h"

namespace detrec::core::testing {

class ScriptedControl : public SignalControl {
 public:
  std::optional<Errno> reserve(const DeliveryPermit& permit) override {
    reserved.push_back(permit);
    return refuse_reserve;
  }
  std::optional<Errno> release(const DeliveryPermit& permit) override {
    released.push_back(permit);
    return refuse_release;
  }
  bool may_have_recipients() override { return !names.empty() || recipients_error; }
  Outcome<std::vector<TaskIdentity>, ProtocolFailure> recipients(ProcessKey process) override {
    if (recipients_error) return *recipients_error;
    const auto it = names.find(process.pid);
    return it == names.end() ? std::vector<TaskIdentity>{} : it->second;
  }
  PublishOutcome publish_alarm(const AlarmPublication& alarm) override {
    alarms.push_back(alarm);
    if (name_on_alarm) names[alarm.expiry.process.pid] = *name_on_alarm;
    return alarm_outcome;
  }
  ChildExitResult publish_child_exit(const ChildExitCompletion& completion) override {
    published.push_back(completion);
    ChildExitResult r = result;
    if (r.kind != ChildExitResult::Kind::kRejected && !keep_receipt) r.receipt = completion;
    return r;
  }
  void forward_process(ProcessId process) override {
    note("process"), forwarded_processes.push_back(process);
  }
  std::optional<Errno> forward_receipt(const ChildExitCompletion& receipt) override {
    note("receipt");
    forwarded.push_back(receipt);
    return forward_error;
  }
  void note(const char* what) {
    const bool woken = core != nullptr &&
                       std::any_of(core->effects_.begin(), core->effects_.end(),
                                   [](const Effect& e) { return std::holds_alternative<FailureNotice>(e); });
    order.push_back(std::string(what) + (woken ? " after wake-ups" : " before wake-ups"));
  }

  std::optional<Errno> refuse_reserve, refuse_release, forward_error;
  std::optional<ProtocolFailure> recipients_error;
  std::map<ProcessId, std::vector<TaskIdentity>> names;
  std::optional<std::vector<TaskIdentity>> name_on_alarm;
  PublishOutcome alarm_outcome = PublishOutcome::kCommitted;
  ChildExitResult result;
  bool keep_receipt = false;
  std::vector<DeliveryPermit> reserved, released;
  std::vector<AlarmPublication> alarms;
  std::vector<ChildExitCompletion> published, forwarded;
  std::vector<ProcessId> forwarded_processes;
  std::vector<std::string> order;
  TestCore* core = nullptr;
};

inline CoreConfig controlled_mode() {
  CoreConfig c = cancelling();
  c.controlled = true;
  return c;
}
inline TaskIdentity task(int tid, int pid, std::uint64_t generation = 1, std::uint64_t task_generation = 1) {
  return {{P(pid), generation}, T(tid), task_generation};
}
inline CallSite site(int tid, int pid, std::uint64_t callback = 1) { return {task(tid, pid), callback}; }

struct ControlRig : Rig {
  explicit ControlRig(bool with_parent = false, CoreConfig config = controlled_mode())
      : Rig(std::move(config)) {
    EXPECT_EQ(core->install_control(&control).value(), Core::ControlMode::kToolControlled);
    control.core = core.get();
    if (with_parent) {
      root(50);
      bind(50, 50);
      core->queue_.remove(T(50));
      process(100, 50);
    } else {
      root(100);
    }
    bind(100, 100);
  }
  void bind(int tid, int pid) { EXPECT_TRUE(core->timers_.bind(T(tid), P(pid), as[tid], task(tid, pid))); }
  void second() {
    thread(101, 100);
    bind(101, 100);
  }
  CallId park(int tid, int pid, LogicalTime until, std::uint64_t callback = 1) {
    const Capability lend = until.indefinite() ? Capability::pause(site(tid, pid, callback))
                                               : Capability::sleep(site(tid, pid, callback), until);
    return send(tid, RequestParkable{ResourceRequest::one(Resource::sleep_until(until)), lend});
  }
  CallId poll(int tid, int pid, std::uint32_t attempt) {
    return send(tid, RequestParkable{ResourceRequest::one(Resource::polled_io()).with_attempt(attempt),
                                     Capability::polled_read(site(tid, pid))});
  }
  void alarm(int tid, std::uint64_t after) { send(tid, SetAlarm{ns(after), {}, kAlarmSignal}); }
  /// S-PARK-1: 100 sleeps until E+1000 and is observed when its timer fires at E+400.
  ObservationControl observe(LogicalTime until = E(1'000)) {
    if (sleeping == 0) {
      alarm(100, 400);
      sleeping = park(100, 100, until);
      step();
    }
    control.names[P(100)] = {task(100, 100)};
    step();
    control.names.clear();
    return get<ControlAnswer>(sleeping).control;
  }
  FinishObservation finish(const ObservationControl& c, ObservationEnd end) {
    return {c.continuation, c.lease, c.site, end, c.site};
  }
  /// Finishes with "resume" and gives back the ticket.
  ResumeTicket resume_ticket(const ObservationControl& c) {
    const CallId call = send(c.tid.value, finish(c, ObservationEnd::kResume));
    step();
    return get<TicketAnswer>(call).ticket;
  }
  ProtocolFailure failure() {
    EXPECT_TRUE(core->protocol_failure_);
    return core->protocol_failure_.value_or(ProtocolFailure{ProtocolFailureKind::kObservation, {}, -1});
  }
  ScriptedControl control;
  CallId sleeping = 0;
};

}  // namespace detrec::core::testing
