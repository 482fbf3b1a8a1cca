// Real timers and signal boundaries: RTIMER-1 .. RTIMER-24, SIG-1 .. SIG-23.
#include <cerrno>

#include "server/core/helper/guest_thread.h"
#include "tests/core/control_rig.h"

namespace detrec::core::testing {
namespace {

using Kind = TimerFailureKind;
using Phase = RealTimers::Phase;

struct Timers : RealTimers {
  Timers() { EXPECT_TRUE(bind(T(100), P(100), AS(100), task(100, 100))); }
  TimerOutcome<TimerValue> arm(std::uint64_t now, std::uint64_t value, std::uint64_t interval) {
    return set(T(100), P(100), ns(now), ns(value), ns(interval), kAlarmSignal);
  }
  ExpiryId fire(std::uint64_t deadline) {
    const auto e = expire(P(100), ns(deadline));
    EXPECT_TRUE(e);
    EXPECT_TRUE(publication(*e, PublishOutcome::kCommitted));
    return *e;
  }
  TimerOutcome<DequeueAck> dequeue(std::uint64_t sequence, std::uint64_t now, int tid = 100) {
    return dequeued({task(tid, 100), sequence, kAlarmSignal, true}, ns(now));
  }
  TimerValue at(std::uint64_t now) { return *snapshot(P(100), ns(now)); }
};

TEST(RealTimer, S_RTIMER_1_an_old_alarm_rearms_only_an_expired_timer) {
  for (const bool expired : {false, true}) {
    Timers t;
    t.arm(0, 10, 10);
    t.fire(10);
    t.arm(20, expired ? 10 : 30, 10);
    if (expired) t.fire(30);
    const auto ack = t.dequeue(1, 35);
    ASSERT_TRUE(ack);
    EXPECT_EQ(ack->rearmed.has_value(), expired);
    EXPECT_EQ(t.at(35).time, ns(expired ? 5 : 15));
    if (expired) {
      EXPECT_EQ(ack->rearmed, ns(40));
    }
  }
}

TEST(RealTimer, S_RTIMER_2_disarming_clears_the_interval) {
  Timers t;
  t.arm(0, 10, 10);
  t.fire(10);
  t.arm(20, 0, 999);
  EXPECT_EQ(t.at(30), TimerValue{});
  EXPECT_FALSE(t.dequeue(1, 35)->rearmed);
  EXPECT_EQ(t.timer(P(100))->phase, Phase::kDisarmed);
}

TEST(RealTimer, S_RTIMER_3_dequeue_sequences_and_lives) {
  Timers t;
  EXPECT_TRUE(t.bind(T(101), P(100), AS(100), task(101, 100)));
  EXPECT_EQ(t.dequeue(2, 0).error(), Kind::kSequence);
  EXPECT_TRUE(t.dequeue(1, 0));
  EXPECT_EQ(*t.dequeue(1, 5), *t.dequeue(1, 9));
  EXPECT_EQ(t.dequeue(1, 0, 101).error(), Kind::kSequence);
  EXPECT_EQ(t.bind(T(100), P(100), AS(100, 1), task(100, 100, 2)).error(), Kind::kIdentity);
  t.retire_thread(T(101), false);
  t.retire_thread(T(100), true);
  const auto birth = t.bind(T(100), P(100), AS(100), task(100, 100, 2));
  ASSERT_TRUE(birth);
  EXPECT_EQ(*birth, 2u);
  const auto late = t.dequeue(2, 50);
  ASSERT_TRUE(late);
  EXPECT_TRUE(late->retired);
  EXPECT_FALSE(late->rearmed);
  EXPECT_TRUE(t.dequeued({task(100, 100, 2), 1, kAlarmSignal, true}, ns(0)));
  EXPECT_EQ(t.dequeued({task(100, 100, 3), 1, kAlarmSignal, true}, ns(0)).error(),
            Kind::kIdentity);  // RTIMER-16
}

TEST(RealTimer, S_RTIMER_4_overdue_and_retired_timers) {
  Timers t;
  t.arm(0, 10, 7);
  EXPECT_EQ(t.at(35), (TimerValue{ns(1'000), ns(7)}));
  const auto e = t.expire(P(100), ns(10));
  ASSERT_TRUE(e);
  EXPECT_EQ(t.at(35).time, ns(1'000));
  t.retire_thread(T(100), true);
  EXPECT_EQ(t.timer(P(100))->phase, Phase::kFailed);
  EXPECT_EQ(t.timer(P(100))->failure, Kind::kPublicationUnknown);
  EXPECT_EQ(t.timer(P(100))->expiry, *e);
  Timers quiet;
  quiet.arm(0, 10, 7);
  quiet.retire_thread(T(100), true);
  EXPECT_EQ(quiet.timer(P(100))->phase, Phase::kDisarmed);
  EXPECT_EQ(quiet.timer(P(100))->interval, ns(0));
}

TEST(RealTimer, S_RTIMER_5_overflows_change_nothing) {
  Timers t;
  t.arm(0, 10, 10);
  EXPECT_EQ(t.arm(LogicalTime::kMax - 2, 2, 10).error(), Kind::kOverflow);
  EXPECT_EQ(t.at(0), (TimerValue{ns(10), ns(10)}));
  t.fire(10);
  EXPECT_EQ(t.dequeue(1, LogicalTime::kMax - 1).error(), Kind::kOverflow);
  EXPECT_EQ(t.at(20).time, ns(0));
  EXPECT_EQ(t.timer(P(100))->phase, Phase::kInactive);
  EXPECT_EQ(t.timer(P(100))->sequence, 0u);
}

TEST(RealTimer, S_RTIMER_6_outcomes_of_a_publication) {
  for (const PublishOutcome outcome :
       {PublishOutcome::kCommitted, PublishOutcome::kRejected, PublishOutcome::kFailedAfterCommit}) {
    ControlRig rig;
    rig.control.alarm_outcome = outcome;
    rig.alarm(100, 400);
    rig->watch_failure();
    rig.park(100, 100, E(1'000));
    rig.step(), rig.step();
    ASSERT_EQ(rig.control.alarms.size(), 1u);
    const bool good = outcome == PublishOutcome::kCommitted;
    EXPECT_EQ(rig->timers_.timer(P(100))->phase, good ? Phase::kInactive : Phase::kFailed);
    EXPECT_EQ(rig->failed(), !good);
    const bool forwards = outcome == PublishOutcome::kFailedAfterCommit;
    EXPECT_EQ(rig.control.forwarded_processes.size(), forwards ? 1u : 0u);
    if (forwards) {
      EXPECT_EQ(rig.control.order, (std::vector<std::string>{"process before wake-ups"}));
    }
  }
}

TEST(RealTimer, S_RTIMER_7_one_publication_an_expiry) {
  ControlRig rig;
  rig.alarm(100, 400);
  rig.park(100, 100, E(1'000));
  for (int i = 0; i < 3; ++i) rig.step();
  ASSERT_EQ(rig.control.alarms.size(), 1u);
  EXPECT_EQ(rig.control.alarms[0].signal, kAlarmSignal);
  EXPECT_EQ(rig.control.alarms[0].code, 0x80);
  EXPECT_EQ(rig.control.alarms[0].expiry.process, (ProcessKey{P(100), 1}));
}

TEST(RealTimer, S_RTIMER_8_refused_settings) {
  for (const bool bound : {true, false}) {
    ControlRig rig;
    if (!bound) rig.thread(101, 100);
    const CallId call = bound ? rig.send(100, SetAlarm{ns(5), {}, kSigUsr1})
                              : rig.send(101, SetAlarm{ns(5), {}, kAlarmSignal});
    EXPECT_TRUE(rig.refused(call));
    EXPECT_EQ(rig.failure(), ProtocolFailure::of_timer(bound ? Kind::kUnsupported : Kind::kIdentity));
  }
}

TEST(RealTimer, S_RTIMER_9_consuming_notifications) {
  ControlRig rig;
  rig.second();
  const auto notice = [](int tid, std::uint64_t n) {
    return SignalDequeued{{task(tid, 100), n, kAlarmSignal, true}};
  };
  rig.clock[101].advance_by(ns(5));
  const CallId live = rig.send(101, notice(101, 1));
  EXPECT_FALSE(rig.get<DequeueAnswer>(live).terminal);
  EXPECT_EQ(rig->clock().value(), E(5));
  rig->kill_thread(T(101), AS(100));
  rig->kill_thread(T(100), AS(100));
  rig.clock[100].advance_by(ns(50));
  const CallId retired = rig.send(100, notice(100, 2));
  EXPECT_TRUE(rig.get<DequeueAnswer>(retired).terminal);
  EXPECT_TRUE(rig.get<DequeueAnswer>(retired).ack->retired);
  EXPECT_EQ(rig->clock().value(), E(5));
  ControlRig failed;
  failed->fail(std::nullopt, std::nullopt, "backend");
  failed.clock[100].advance_by(ns(50));
  const CallId after = failed.send(100, notice(100, 1));
  EXPECT_TRUE(failed.get<DequeueAnswer>(after).terminal);
  EXPECT_EQ(failed.get<DequeueAnswer>(after).ack->sequence, 1u);
  EXPECT_EQ(failed->clock().value(), E());
  // RTIMER-19
  EXPECT_TRUE(check_dequeue(1, failed.get<DequeueAnswer>(after)));
  EXPECT_EQ(check_dequeue(2, failed.get<DequeueAnswer>(after)).error(), Errno{EIO});
}

TEST(RealTimer, S_RTIMER_10_rebinding) {
  Timers t;
  EXPECT_TRUE(t.bind(T(100), P(100), AS(100), task(100, 100)));
  EXPECT_EQ(t.bind(T(100), P(100), AS(100), task(100, 100, 1, 2)).error(), Kind::kIdentity);
  EXPECT_TRUE(t.bind(T(100), P(100), AS(100, 1), task(100, 100, 1, 2)));
  EXPECT_EQ(t.binding(T(100))->as, AS(100, 1));
  EXPECT_EQ(t.bind(T(100), P(100), AS(100, 2), task(101, 100)).error(), Kind::kIdentity);
}

TEST(RealTimer, S_RTIMER_11_phases) {
  Timers t;
  t.arm(0, 10, 0);
  EXPECT_EQ(t.publication({{P(100), 1}, 1, 1}, PublishOutcome::kCommitted).error(), Kind::kInvalidPhase);
  EXPECT_EQ(t.expire(P(100), ns(11)).error(), Kind::kInvalidPhase);
  EXPECT_TRUE(t.expire(P(100), ns(10)));
  EXPECT_EQ(t.timer(P(100))->phase, Phase::kPublishing);
  EXPECT_EQ(t.expire(P(100), ns(10)).error(), Kind::kInvalidPhase);
}

TEST(RealTimer, S_RTIMER_12_repeated_outcomes) {
  Timers t;
  t.arm(0, 10, 0);
  const ExpiryId e = t.fire(10);
  EXPECT_TRUE(t.publication(e, PublishOutcome::kCommitted));
  ExpiryId next = e;
  ++next.number;
  EXPECT_EQ(t.publication(next, PublishOutcome::kCommitted).error(), Kind::kIdentity);
}

TEST(RealTimer, S_RTIMER_13_exec_keeps_the_timer) {
  for (const int variant : {0, 1, 2}) {
    Timers t;
    t.arm(0, 10, 0);
    t.dequeue(1, 0);
    const std::uint64_t arm = t.timer(P(100))->arm;
    const auto done = t.exec(T(100), P(100), AS(100), AS(100, variant == 1 ? 2 : 1),
                             task(100, 100, variant == 2 ? 2 : 1, 2));
    EXPECT_EQ(done.ok(), variant == 0);
    if (variant == 0) {
      EXPECT_EQ(t.timer(P(100))->arm, arm);
      EXPECT_EQ(t.timer(P(100))->sequence, 1u);
      EXPECT_EQ(t.binding(T(100))->as, AS(100, 1));
    } else {
      EXPECT_EQ(done.error(), Kind::kIdentity);
    }
  }
}

TEST(RealTimer, S_RTIMER_14_the_first_failure_stays) {
  Timers t;
  t.arm(0, 10, 0);
  t.fail(P(100), Kind::kSequence);
  t.fail(P(100), Kind::kOverflow);
  EXPECT_EQ(t.arm(0, 10, 0).error(), Kind::kSequence);
  EXPECT_EQ(t.snapshot(P(100), ns(0)).error(), Kind::kSequence);
  EXPECT_EQ(t.expire(P(100), ns(10)).error(), Kind::kSequence);
}

TEST(RealTimer, S_RTIMER_15_one_timed_event_a_process) {
  ControlRig rig;
  rig.alarm(100, 100);
  EXPECT_EQ(rig->timed_.size(), 1u);
  EXPECT_EQ(rig->timed_.next_deadline(), E(100));
  rig.alarm(100, 200);
  EXPECT_EQ(rig->timed_.size(), 1u);
  EXPECT_EQ(rig->timed_.next_deadline(), E(200));
  EXPECT_EQ(rig.get<TimerAnswer>(rig.send(100, QueryAlarm{})).previous.time, ns(200));
  ControlRig disarmed;
  disarmed.alarm(100, 100);
  disarmed.alarm(100, 0);
  EXPECT_TRUE(disarmed->timed_.empty());
  rig->protocol_failure(T(100), P(100), ProtocolFailure::phase());
  EXPECT_TRUE(rig->timed_.empty());
}

TEST(RealTimer, S_RTIMER_16_late_notices_of_a_retired_thread) {
  Timers t;
  t.retire_thread(T(100), true);
  EXPECT_TRUE(t.dequeue(1, 0)->retired);
  EXPECT_EQ(t.dequeued({task(100, 100, 1, 9), 1, kAlarmSignal, true}, ns(0)).error(), Kind::kIdentity);
}

TEST(RealTimer, a_dequeued_periodic_alarm_fires_again) {
  ControlRig rig;
  rig.send(100, SetAlarm{ns(400), ns(300), kAlarmSignal});
  rig.park(100, 100, E(2'000));
  rig.step(), rig.step();
  EXPECT_EQ(rig.control.alarms.size(), 1u);
  rig.send(100, SignalDequeued{{task(100, 100), 1, kAlarmSignal, true}});
  EXPECT_EQ(rig->timed_.next_deadline(), E(700));
  rig.step();
  EXPECT_EQ(rig.control.alarms.size(), 2u);
}

// --- SIG ---

TEST(Sig, S_SIG_1_installing_the_control_object) {
  ScriptedControl control;
  Rig off(plain());
  EXPECT_EQ(off->install_control(&control).value(), Core::ControlMode::kUnchanged);
  CoreConfig recording = controlled_mode();
  recording.policy = RunPolicy::kRecord;
  EXPECT_EQ(Rig(recording)->install_control(&control).value(), Core::ControlMode::kUnchanged);
  Rig on(controlled_mode());
  EXPECT_EQ(on->install_control(nullptr).error(), Errno{ENOSYS});
  EXPECT_EQ(on->install_control(&control).value(), Core::ControlMode::kToolControlled);
  EXPECT_EQ(on->install_control(&control).error(), Errno{EINVAL});
  Rig late(controlled_mode());
  late.root(3);
  EXPECT_EQ(late->install_control(&control).error(), Errno{EINVAL});
}

std::optional<DeliveryPermit> permit_of(ControlRig& rig, const TaskIdentity& t) {
  const auto p = rig->authorise(t, AS(100));
  EXPECT_TRUE(p);
  return p.ok() ? *p : std::nullopt;
}

TEST(Sig, S_SIG_2_one_permit_a_task) {
  ControlRig rig;
  rig->running_ = T(100);
  const auto first = permit_of(rig, task(100, 100));
  ASSERT_TRUE(first);
  EXPECT_EQ(permit_of(rig, task(100, 100)), first);
  EXPECT_EQ(rig.control.reserved.size(), 1u);
  EXPECT_EQ(rig->authorise(task(100, 100, 1, 2), AS(100)).error(), Errno{EINVAL});
}

TEST(Sig, S_SIG_3_one_permit_a_process) {
  ControlRig rig;
  rig.second();
  rig->running_ = T(100);
  EXPECT_FALSE(permit_of(rig, task(101, 100)));
  EXPECT_TRUE(permit_of(rig, task(100, 100)));
  rig->running_ = T(101);
  EXPECT_FALSE(permit_of(rig, task(101, 100)));
}

TEST(Sig, S_SIG_4_refusals_change_nothing) {
  ControlRig rig;
  rig->running_ = T(77);
  EXPECT_EQ(rig->authorise(task(77, 77), AS(77)).error(), Errno{ESRCH});
  rig->running_ = T(100);
  EXPECT_EQ(rig->authorise(task(100, 100), AS(100, 1)).error(), Errno{EINVAL});
  rig->nonce_.set_last(NonceCounter::kMax);
  EXPECT_EQ(rig->authorise(task(100, 100), AS(100)).error(), Errno{EOVERFLOW});
  rig->nonce_.set_last(5);
  rig.control.refuse_reserve = Errno{EBUSY};
  EXPECT_EQ(rig->authorise(task(100, 100), AS(100)).error(), Errno{EBUSY});
  EXPECT_EQ(rig->nonce_.last(), 5u);
  EXPECT_TRUE(rig->permits_.empty());
}

TEST(Sig, S_SIG_5_no_permit) {
  ControlRig failed;
  failed->running_ = T(100);
  failed->fail(std::nullopt, std::nullopt, "backend");
  EXPECT_FALSE(permit_of(failed, task(100, 100)));
  ControlRig dead;
  dead->running_ = T(100);
  dead->tombstones_.insert(T(100));
  EXPECT_FALSE(permit_of(dead, task(100, 100)));
  Rig none(controlled_mode());
  none.root(100);
  none->running_ = T(100);
  EXPECT_FALSE(*none->authorise(task(100, 100), AS(100)));
}

struct Permitted : ControlRig {
  explicit Permitted(bool with_parent = false) : ControlRig(with_parent) {
    core->running_ = T(100);
    permit = *permit_of(*this, task(100, 100));
  }
  BoundaryReceipt ends(bool group, WaitStatus status = WaitStatus::killed(kSigTerm)) {
    return {permit, BoundaryReceipt::Kind::kTermination, group, status};
  }
  DeliveryPermit permit;
};

TEST(Sig, S_SIG_6_receipts) {
  Permitted rig;
  const BoundaryReceipt receipt{rig.permit, BoundaryReceipt::Kind::kDelivered, false, {}};
  BoundaryReceipt other = receipt;
  other.permit.sequence += 1;
  EXPECT_EQ(rig->consume_boundary(other).error(), Errno{EINVAL});
  EXPECT_TRUE(rig->consume_boundary(receipt));
  EXPECT_TRUE(rig->consume_boundary(receipt));
  EXPECT_EQ(rig->consume_boundary(other).error(), Errno{EINVAL});
  EXPECT_TRUE(rig->permits_.empty());
  EXPECT_TRUE(rig->is_registered(T(100)));  // SIG-14
}

TEST(Sig, S_SIG_7_a_fence_wants_its_own_receipt) {
  ControlRig rig;
  ASSERT_TRUE(rig->reserve_exit(T(100), true, P(100), AS(100)));
  const DeliveryPermit permit = rig->permits_.at(T(100));
  EXPECT_EQ(rig->consume_boundary({permit, BoundaryReceipt::Kind::kDelivered, false, {}}).error(),
            Errno{EINVAL});
  EXPECT_EQ(rig->consume_boundary({permit, BoundaryReceipt::Kind::kTermination, false, {}}).error(),
            Errno{EINVAL});
  EXPECT_EQ(rig->fences_.size(), 1u);
  EXPECT_TRUE(rig->consume_boundary({permit, BoundaryReceipt::Kind::kTermination, true, {}}));
  EXPECT_TRUE(rig->fences_.empty());
  EXPECT_TRUE(rig->permits_.empty());
}

TEST(Sig, S_SIG_8_group_terminations_cover_one_generation) {
  enum class Flaw { kGeneration, kAddressSpace, kNone };
  for (const Flaw flaw : {Flaw::kGeneration, Flaw::kAddressSpace, Flaw::kNone}) {
    Permitted rig;
    rig.second();
    rig.thread(102, 100);
    EXPECT_TRUE(rig->timers_.bind(T(102), P(100), AS(100), task(102, 100)));
    if (flaw == Flaw::kGeneration)
      const_cast<RealTimers::Binding*>(rig->timers_.live_binding(T(102)))->task.process.generation = 2;
    const bool consistent = flaw == Flaw::kNone;
    std::vector<CallId> blocked;
    for (const int t : {102, 101, 100}) blocked.push_back(rig.send(t, RequestResources{}));
    if (flaw == Flaw::kAddressSpace) rig->accepted_[T(102)] = AS(100, 3);
    const auto done = rig->consume_boundary(rig.ends(true));
    rig.collect();
    EXPECT_EQ(done.ok(), consistent);
    std::vector<CallId> ended(blocked.rbegin(), blocked.rend());  // 100, 101, 102
    EXPECT_EQ(rig.order, consistent ? ended : std::vector<CallId>{});
    if (!consistent) {
      EXPECT_EQ(done.error(), Errno{EINVAL});
      EXPECT_EQ(rig->live_threads(P(100)), Ts({100, 101, 102}));
      EXPECT_EQ(rig->permits_.size(), 1u);
    } else {
      EXPECT_TRUE(rig->live_threads(P(100)).empty());
    }
  }
}

TEST(Sig, S_SIG_9_a_thread_termination) {
  ControlRig rig;
  rig.second();
  rig->running_ = T(101);
  const auto permit = permit_of(rig, task(101, 100));
  EXPECT_TRUE(rig->consume_boundary({*permit, BoundaryReceipt::Kind::kTermination, false, {}}));
  EXPECT_EQ(rig->live_threads(P(100)), Ts({100}));
  EXPECT_FALSE(rig->process_exited(P(100)));
}

TEST(Sig, S_SIG_10_terminations_of_threads_already_gone) {
  Permitted gone;
  gone.second();
  gone->kill_thread(T(100), AS(100));
  EXPECT_TRUE(gone->consume_boundary(gone.ends(false)));
  Permitted half;
  half.second();
  half->timers_.retire_thread(T(100), false);
  EXPECT_EQ(half->consume_boundary(half.ends(false)).error(), Errno{EINVAL});
}

TEST(Sig, S_SIG_11_target_of_a_process_signal) {
  Rig rig(cancelling());
  rig.root(100);
  for (const int t : {101, 102, 103}) rig.thread(t, 100);
  EXPECT_EQ(rig->signal_target(P(100), T(102)), T(102));
  rig->kill_thread(T(102), AS(100));
  EXPECT_EQ(rig->signal_target(P(100), T(102)), T(100));
  rig->kill_thread(T(100), AS(100));
  EXPECT_EQ(rig->signal_target(P(100), T(102)), T(101));
  EXPECT_FALSE(rig->signal_target(P(101), T(101)));
}

TEST(Sig, S_SIG_12_deliveries_by_the_scheduler) {
  Rig rig;
  rig.root(100);
  for (const int t : {101, 102, 103}) rig.thread(t, 100);
  rig.sleep(100, E(900));
  rig.fill(101, Resource::polled_io());
  rig.fill(102, Resource::object(ResourceKind::kFileContents, 3));
  rig.external(103, 5);
  rig.fill(103, Resource::external(ResourceKind::kExternalBlock, {T(103), 5}));
  const auto place = rig->queue_.order(T(102));
  for (const int t : {100, 101, 102, 103}) rig->deliver_signal(T(t), kSigUsr1);
  EXPECT_TRUE(rig.request(100).is(ResourceKind::kInboundSignal));
  EXPECT_TRUE(rig->queue_.contains(T(100)));
  EXPECT_TRUE(rig.request(101).is(ResourceKind::kInboundSignal));
  EXPECT_TRUE(rig->queue_.contains(T(101)));
  EXPECT_TRUE(rig.request(102).is(ResourceKind::kFileContents));
  EXPECT_EQ(rig->queue_.order(T(102)), place);
  EXPECT_TRUE(rig.request(103).is(ResourceKind::kExternalBlock));
  EXPECT_TRUE(rig->external_.contains(T(103)));
  EXPECT_EQ(rig.effects<DeliverSignal>().size(), 4u);
}

TEST(Sig, S_SIG_14_what_a_group_termination_changes) {
  Permitted rig;
  rig.second();
  rig.thread(102, 100);
  rig.bind(102, 100);
  rig->parked_[{T(100), 1}] = {};
  rig->record(T(100))->owner.kind = OwnerKind::kReturningAfterCaught;
  const TurnNumber turn = rig->turn();
  const LogicalTime now = rig->clock().value();
  const CallId late = rig.send(102, RequestResources{}), early = rig.send(101, RequestResources{});
  EXPECT_TRUE(rig->consume_boundary(rig.ends(true)));
  rig.collect();
  EXPECT_EQ(rig.order, (std::vector<CallId>{early, late}));
  EXPECT_TRUE(rig->permits_.empty());
  EXPECT_EQ(rig->last_receipts_.at(T(100)), rig.ends(true));
  EXPECT_TRUE(rig->parked_.empty());
  for (const int t : {100, 101, 102}) EXPECT_TRUE(rig->is_tombstoned(T(t)));
  EXPECT_EQ(rig->turn(), turn);
  EXPECT_EQ(rig->clock().value(), now);
}

TEST(Sig, S_SIG_15_the_grant_is_the_authority) {
  ControlRig rig;
  rig.second();
  rig->running_ = T(100);
  EXPECT_FALSE(permit_of(rig, task(101, 100)));
  EXPECT_TRUE(permit_of(rig, task(100, 100)));
}

TEST(Sig, S_SIG_16_chaotic_targets_are_seeded) {
  const auto targets = [] {
    CoreConfig config = cancelling();
    config.chaos.race_targeted = true;
    config.fuzz_seed = 5;
    Rig rig(config);
    rig.root(100);
    rig.thread(101, 100), rig.thread(103, 100);
    std::vector<int> out;
    for (int i = 0; i < 32; ++i) out.push_back(rig->signal_target(P(100), T(100))->value);
    return out;
  };
  const auto drawn = targets();
  EXPECT_EQ(drawn, targets());
  EXPECT_GT(std::set<int>(drawn.begin(), drawn.end()).size(), 1u);
}

}  // namespace
}  // namespace detrec::core::testing
