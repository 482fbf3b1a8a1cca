// Parked requests and observations: PARK-1 .. PARK-53.
#include "server/core/helper/guest_thread.h"
#include "tests/core/control_rig.h"

namespace detrec::core::testing {
namespace {

const ProtocolFailure kIdentity = ProtocolFailure::identity(), kPhase = ProtocolFailure::phase(),
                      kUnsupported = ProtocolFailure::unsupported(), kOverflow = ProtocolFailure::overflow(),
                      kUnexpected = ProtocolFailure::unexpected_control();

TEST(Park, S_PARK_1_beginning_an_observation) {
  ControlRig rig;
  rig.control.name_on_alarm = std::vector{task(100, 100)};
  rig.alarm(100, 400);
  const CallId call = rig.park(100, 100, E(1'000));
  rig.step();
  const TurnRecord before = *rig->record(T(100));
  const TurnNumber turn = rig->turn();
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  ASSERT_EQ(rig.control.reserved.size(), 1u);
  EXPECT_EQ(rig.control.reserved[0].site, site(100, 100));
  EXPECT_EQ(rig->permits_.at(T(100)), rig.control.reserved[0]);
  EXPECT_FALSE(rig->timed_.thread_deadline(T(100)));
  ASSERT_EQ(rig->parked_.size(), 1u);
  const ParkedRequest& parked = rig->parked_.begin()->second;
  EXPECT_EQ(parked.saved.deadline, E(1'000));
  EXPECT_EQ(parked.phase, ParkedRequest::Phase::kObserving);
  const TurnRecord& after = *rig->record(T(100));
  EXPECT_EQ(after.epoch, before.epoch + 1);
  EXPECT_EQ(after.owner.kind, OwnerKind::kObservation);
  EXPECT_FALSE(after.origin.present);
  EXPECT_FALSE(after.request.filled());
  EXPECT_NE(after.request.id(), before.request.id());
  EXPECT_THAT(rig.queued(), ElementsAre(100));
  EXPECT_EQ(rig.get<ControlAnswer>(call).control.lease, parked.lease);
  EXPECT_EQ(rig->turn(), turn);
  EXPECT_EQ(rig->clock().value(), E(400));
  EXPECT_EQ(rig.kind(), StepKind::kWaitRequest);  // PARK-28: the gate
}

TEST(Park, S_PARK_2_resuming_the_same_wait) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  const SlotId original = rig->parked_.begin()->second.request.id();
  const ResumeTicket ticket = rig.resume_ticket(c);
  EXPECT_EQ(rig.control.released.size(), 1u);
  EXPECT_TRUE(rig->permits_.empty());
  EXPECT_EQ(ticket.continuation, c.continuation);
  EXPECT_EQ(ticket.cycle, 1u);
  EXPECT_EQ(ticket.epoch, rig->record(T(100))->epoch + 1);
  EXPECT_GT(ticket.nonce, c.lease);
  EXPECT_TRUE(rig->control_barrier());
  EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
  const CallId resumed = rig.send(100, ResumeParked{ticket});
  rig->apply_intents();
  EXPECT_FALSE(rig->control_barrier());
  EXPECT_EQ(rig.deadline_of(100), E(1'000));
  EXPECT_EQ(rig->record(T(100))->request.id(), original);
  EXPECT_EQ(rig->record(T(100))->owner.kind, OwnerKind::kOrdinary);
  EXPECT_EQ(rig->record(T(100))->origin.kind, MessageKind::kResumed);
  EXPECT_EQ(rig->record(T(100))->epoch, ticket.epoch);
  EXPECT_FALSE(rig->queue_.contains(T(100)));
  EXPECT_TRUE(rig.pending(resumed));
}

TEST(Park, S_PARK_3_any_number_of_cycles) {
  ControlRig rig;
  ContinuationId first;
  for (std::uint32_t cycle = 1; cycle <= 3; ++cycle) {
    if (cycle > 1) {
      rig->timed_.set_alarm(P(3), E(400 + cycle), {});  // something to wake the loop
      rig->tree_.add(T(3), T(3), true);
    }
    const ObservationControl c = rig.observe();
    if (cycle == 1) first = c.continuation;
    EXPECT_EQ(c.continuation, first);
    const ResumeTicket ticket = rig.resume_ticket(c);
    EXPECT_EQ(ticket.cycle, cycle);
    rig.sleeping = rig.send(100, ResumeParked{ticket});
    rig->apply_intents();
    EXPECT_EQ(rig.deadline_of(100), E(1'000));
  }
  rig->timed_.remove_alarm(P(3));
  while (rig.pending(rig.sleeping)) ASSERT_NE(rig.kind(), StepKind::kTerminal);
  EXPECT_EQ(rig.reply(rig.sleeping).kind, TurnReplyKind::kGo);
  EXPECT_EQ(rig->committed_time(), E(1'000));
  EXPECT_TRUE(rig->parked_.empty());  // PARK-44
}

TEST(Park, S_PARK_4_interrupted_for_a_caught_signal) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  const std::uint64_t epoch = rig->record(T(100))->epoch;
  const CallId call = rig.send(100, rig.finish(c, ObservationEnd::kInterrupt));
  rig.step();
  rig.get<Interrupted>(call);
  EXPECT_EQ(rig->record(T(100))->owner.kind, OwnerKind::kReturningAfterCaught);
  EXPECT_EQ(rig->record(T(100))->epoch, epoch + 1);
  EXPECT_TRUE(rig->parked_.empty());
  EXPECT_TRUE(rig->permits_.contains(T(100)));
  EXPECT_THAT(rig.queued(), ElementsAre(100));
  EXPECT_TRUE(rig->consume_boundary({c.permit, BoundaryReceipt::Kind::kDelivered, false, {}}));
  EXPECT_TRUE(rig->permits_.empty());
  EXPECT_EQ(rig->record(T(100))->owner.kind, OwnerKind::kOrdinary);
}

TEST(Park, S_PARK_5_terminated) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  const CallId call = rig.send(100, rig.finish(c, ObservationEnd::kTerminate));
  rig.step();
  rig.get<Terminate>(call);
  EXPECT_TRUE(rig->parked_.empty());
  EXPECT_THAT(rig.queued(), ElementsAre(100));
  EXPECT_EQ(rig.kind(), StepKind::kWaitRequest);
  EXPECT_TRUE(
      rig->consume_boundary({c.permit, BoundaryReceipt::Kind::kTermination, true, WaitStatus::killed({14})}));
  EXPECT_FALSE(rig->is_registered(T(100)));
}

TEST(Park, S_PARK_6_a_pause_is_observed_like_a_sleep) {
  ControlRig rig;
  rig.observe(kIndefinite);
  EXPECT_EQ(rig->parked_.begin()->second.saved.deadline, kIndefinite);
}

// Starts a polled read of 100 at `attempt`; 7 keeps the queue busy.
struct PollRig : ControlRig {
  explicit PollRig(std::uint32_t attempt) {
    process(7, 100, 1);
    fill(7);
    call = poll(100, 100, attempt);
    control.names[P(100)] = {task(100, 100)};
  }
  CallId call;
};

TEST(Park, S_PARK_7_a_polled_read_keeps_its_place) {
  PollRig rig(2);
  const auto priority = rig->queue_.queued_priority(T(100));
  const auto order = rig->queue_.order(T(100));
  EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
  const ObservationControl c = rig.get<ControlAnswer>(rig.call).control;
  rig.control.names.clear();
  const ResumeTicket ticket = rig.resume_ticket(c);
  rig.send(100, ResumeParked{ticket});
  rig->apply_intents();
  EXPECT_EQ(rig->queue_.queued_priority(T(100)), priority);
  EXPECT_EQ(rig->queue_.order(T(100)), order);
  EXPECT_EQ(rig.request(100).attempt, 2u);
}

TEST(Park, S_PARK_8_the_loop_s_own_upgrade_is_witnessed) {
  PollRig rig(2);
  rig.control.names.clear();
  rig->queue_.remove(T(7));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);  // requeued at attempt 0
  rig->queue_.push_back(T(7), {1});
  EXPECT_TRUE(rig->witness_matches(*rig->record(T(100))));
  for (int round = 0; round < 2; ++round) {
    rig.control.names[P(100)] = {task(100, 100)};
    EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
    ASSERT_FALSE(rig->failed());
    const ObservationControl c = rig.get<ControlAnswer>(rig.call).control;
    rig.control.names.clear();
    const ResumeTicket ticket = rig.resume_ticket(c);
    rig.call = rig.send(100, ResumeParked{ticket});
    rig->apply_intents();
    const TurnRecord& r = *rig->record(T(100));
    EXPECT_TRUE(rig->witness_matches(r));
    EXPECT_EQ(r.witness.response, r.response.id());
    EXPECT_EQ(r.witness.epoch, r.epoch);
    EXPECT_EQ(r.witness.origin, r.origin);
  }
}

TEST(Park, S_PARK_9_a_first_attempt_lends_nothing) {
  PollRig rig(0);
  EXPECT_EQ(rig.kind(), StepKind::kFailed);
  EXPECT_EQ(rig.failure(), kUnsupported);
}

TEST(Park, S_PARK_10_what_a_witness_does_not_cover) {
  PollRig rig(2);
  rig.control.names.clear();
  rig->queue_.remove(T(7));
  rig.step();
  TurnRecord& r = *rig->record(T(100));
  const TurnRecord good = r;
  ASSERT_TRUE(rig->witness_matches(r));
  r.request.mutable_value().request.items[0].write = false;
  EXPECT_FALSE(rig->witness_matches(r));
  EXPECT_EQ(rig->begin_observation(T(100)).error(), kUnsupported);
  r = good;
  r.request.mutable_value().request.count = 2;
  EXPECT_FALSE(rig->witness_matches(r));
  EXPECT_EQ(rig->begin_observation(T(100)).error(), kUnsupported);
  r = good;
  r.origin.capability.site.callback = 9;
  EXPECT_FALSE(rig->witness_matches(r));
  r = good;
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_FALSE(rig->record(T(100))->witness.present);
}

TEST(Park, S_PARK_11_another_deadline_than_the_policy_names) {
  ControlRig rig;
  rig.send(100, RequestParkable{ResourceRequest::one(Resource::sleep_until(E(900))),
                                Capability::sleep(site(100, 100), E(1'000))});
  EXPECT_EQ(rig->begin_observation(T(100)).error(), kUnsupported);
}

TEST(Park, S_PARK_12_membership_is_exact) {
  ControlRig rig;
  rig.park(100, 100, E(1'000));
  rig->timed_.add_thread(T(100), E(1'000));
  EXPECT_EQ(rig->begin_observation(T(100)).error(), kPhase);
  rig->timed_.remove_thread(T(100));
  rig->queue_.remove(T(100));
  EXPECT_EQ(rig->begin_observation(T(100)).error(), kUnsupported);
  EXPECT_TRUE(rig.control.reserved.empty());
}

TEST(Park, S_PARK_13_kinds_that_cannot_be_observed) {
  for (const MessageKind kind : {MessageKind::kParentContinue, MessageKind::kTraceEvent, MessageKind::kFutex,
                                 MessageKind::kThreadStart}) {
    ControlRig rig;
    rig.park(100, 100, E(1'000));
    rig->record(T(100))->origin.kind = kind;
    EXPECT_EQ(rig->begin_observation(T(100)).error(), kUnexpected);
  }
}

TEST(Park, S_PARK_14_a_refused_reservation_changes_nothing) {
  ControlRig rig;
  rig.park(100, 100, E(1'000));
  rig.control.refuse_reserve = Errno{1};
  const std::uint64_t nonce = rig->nonce_.last();
  const TurnRecord before = *rig->record(T(100));
  EXPECT_EQ(rig->begin_observation(T(100)).error(), kIdentity);
  EXPECT_EQ(rig->nonce_.last(), nonce);
  EXPECT_EQ(rig->record(T(100))->request.id(), before.request.id());
  EXPECT_TRUE(rig->queue_.contains(T(100)));
  EXPECT_TRUE(rig->permits_.empty());
  EXPECT_TRUE(rig->parked_.empty());
}

TEST(Park, S_PARK_15_overflows_come_before_changes) {
  for (const int what : {0, 1, 2}) {
    ControlRig rig;
    rig.park(100, 100, E(1'000));
    TurnRecord& r = *rig->record(T(100));
    if (what == 0) rig->nonce_.set_last(NonceCounter::kMax - 1);
    if (what == 1) r.epoch = NonceCounter::kMax - 1;
    if (what == 2) {
      ParkedRequest p;
      p.request = r.request;
      p.response = r.response.id();
      p.origin = r.origin;
      p.cycle = UINT32_MAX;
      rig->parked_[{T(100), 1}] = p;
    }
    EXPECT_EQ(rig->begin_observation(T(100)).error(), kOverflow) << what;
    EXPECT_TRUE(rig.control.reserved.empty());
    EXPECT_TRUE(rig->queue_.contains(T(100)));
  }
}

TEST(Park, S_PARK_16_recipients_passed_over) {
  const auto with = [](auto change) {
    ControlRig rig;
    rig.park(100, 100, E(1'000));
    EXPECT_TRUE(rig->eligible(task(100, 100)));
    change(rig);
    EXPECT_FALSE(rig->eligible(task(100, 100)));
    rig.control.names[P(100)] = {task(100, 100)};
    EXPECT_FALSE(rig->select_observations());
    EXPECT_FALSE(rig->failed());
  };
  with([](ControlRig& r) { r->committed_ = E(1'000); });
  with([](ControlRig& r) { r->fill_response(T(100), {}); });
  with([](ControlRig& r) { r->renew_slots(T(100)); });
  with([](ControlRig& r) { r->permits_[T(100)] = {}; });
  with([](ControlRig& r) { r->tombstones_.insert(T(100)); });
  with([](ControlRig& r) { r->accepted_[T(100)] = AS(100, 7); });
  with([](ControlRig& r) { r->record(T(100))->owner.kind = OwnerKind::kReturningAfterCaught; });
  with([](ControlRig& r) { r->record(T(100))->origin.capability = {}; });
}

TEST(Park, S_PARK_17_the_first_eligible_recipient) {
  ControlRig rig;
  rig.second();
  rig.park(100, 100, E(1'000));
  rig.park(101, 100, E(1'000));
  rig.control.names[P(100)] = {task(101, 100), task(100, 100)};
  EXPECT_TRUE(rig->select_observations());
  EXPECT_TRUE(rig->permits_.contains(T(101)));
  EXPECT_FALSE(rig->permits_.contains(T(100)));
  EXPECT_FALSE(rig->select_observations());
  ControlRig back;  // PARK-26: the gate goes to the back of its band
  back.second();
  back.park(100, 100, E(1'000));
  EXPECT_THAT(back.queued(), ElementsAre(100, 101));
  EXPECT_TRUE(back->begin_observation(T(100)));
  EXPECT_THAT(back.queued(), ElementsAre(101, 100));
}

TEST(Park, S_PARK_18_a_failed_query_is_the_process_s) {
  ControlRig rig;
  rig.control.recipients_error = kPhase;
  rig.fill(100);
  EXPECT_EQ(rig.kind(), StepKind::kFailed);
  EXPECT_EQ(rig->failure()->process, P(100));
  EXPECT_FALSE(rig->failure()->thread);
}

TEST(Park, S_PARK_19_processes_in_order) {
  ControlRig rig;
  rig.process(200, 100);
  rig.bind(200, 200);
  rig.park(200, 200, E(1'000));
  rig.park(100, 100, E(1'000));
  rig.control.names[P(200)] = {task(200, 200)};
  rig.control.names[P(100)] = {task(100, 100)};
  EXPECT_TRUE(rig->select_observations());
  ASSERT_EQ(rig.control.reserved.size(), 2u);
  EXPECT_EQ(rig.control.reserved[0].task.tid, T(100));
  EXPECT_EQ(rig.control.reserved[1].task.tid, T(200));
}

TEST(Park, S_PARK_20_bad_finishes) {
  const auto with = [](ProtocolFailure expected, auto change) {
    ControlRig rig;
    const ObservationControl c = rig.observe();
    FinishObservation f = rig.finish(c, ObservationEnd::kResume);
    change(rig, f);
    const CallId call = rig.send(100, f);
    EXPECT_EQ(rig.kind(), StepKind::kFailed);
    EXPECT_EQ(rig.failure(), expected);
    EXPECT_TRUE(rig.refused(call));
    EXPECT_EQ(rig->parked_.size(), 1u);
    EXPECT_EQ(rig.log.count("run failed"), 1);
  };
  with(kIdentity, [](ControlRig&, FinishObservation& f) { f.continuation.nonce += 99; });
  with(kIdentity, [](ControlRig&, FinishObservation& f) { f.lease += 1; });
  with(kIdentity, [](ControlRig&, FinishObservation& f) { f.site.callback += 1; });
  with(kPhase, [](ControlRig& r, FinishObservation&) { r->record(T(100))->owner.lease += 1; });
  with(kPhase, [](ControlRig& r, FinishObservation&) { r.fill(100); });
  with(kPhase, [](ControlRig& r, FinishObservation&) { r->queue_.remove(T(100)); });
}

TEST(Park, S_PARK_21_a_selection_from_another_site) {
  for (const ObservationEnd end : {ObservationEnd::kInterrupt, ObservationEnd::kTerminate}) {
    ControlRig rig;
    FinishObservation f = rig.finish(rig.observe(), end);
    f.selected.callback += 5;
    rig.send(100, f);
    rig.step();
    EXPECT_EQ(rig.failure(), kIdentity);
  }
}

TEST(Park, S_PARK_22_bad_resumes) {
  const auto with = [](auto change) {
    ControlRig rig;
    ResumeTicket ticket = rig.resume_ticket(rig.observe());
    int sender = 100;
    change(rig, ticket, sender);
    const CallId call = rig.send(sender, ResumeParked{ticket});
    rig.step();
    EXPECT_TRUE(rig->failed());
    EXPECT_EQ(rig.failure(), kIdentity);
    EXPECT_TRUE(rig.refused(call));
  };
  with([](ControlRig&, ResumeTicket& t, int&) { t.continuation.nonce += 50; });
  with([](ControlRig& r, ResumeTicket& t, int&) {  // used
    r.send(100, ResumeParked{t});
    r->apply_intents();
  });
  with([](ControlRig&, ResumeTicket& t, int&) { t.cycle += 1; });
  with([](ControlRig&, ResumeTicket& t, int&) { t.nonce += 1; });
  with([](ControlRig&, ResumeTicket& t, int&) { t.site.callback += 1; });
  with([](ControlRig& r, ResumeTicket&, int& sender) { r.second(), sender = 101; });
  with([](ControlRig& r, ResumeTicket&, int&) { r.as[100] = AS(100, 3); });
  with([](ControlRig& r, ResumeTicket&, int&) { r->record(T(100))->response.fill({}); });
  with([](ControlRig& r, ResumeTicket&, int&) { r->record(T(100))->epoch += 1; });
}

TEST(Park, S_PARK_23_the_first_failing_intent_stops_the_rest) {
  ControlRig rig;
  const ResumeTicket ticket = rig.resume_ticket(rig.observe());
  rig->intents_.push_back({FinishObservation{}, 0, T(100)});
  rig.send(100, ResumeParked{ticket});
  EXPECT_EQ(rig.kind(), StepKind::kFailed);
  EXPECT_EQ(rig->parked_.begin()->second.phase, ParkedRequest::Phase::kAwaitingResume);
  EXPECT_EQ(rig->intents_.size(), 1u);
}

TEST(Park, S_PARK_24_posting_needs_authority) {
  {
    ControlRig rig;
    const ObservationControl c = rig.observe();
    rig.second();
    const CallId call = rig.send(101, rig.finish(c, ObservationEnd::kResume));
    EXPECT_EQ(rig.failure(), kIdentity);
    EXPECT_TRUE(rig.refused(call));
  }
  {
    ControlRig rig;
    const ObservationControl c = rig.observe();
    rig->accepted_[T(100)] = AS(100, 5);
    EXPECT_TRUE(rig.refused(rig.send(100, rig.finish(c, ObservationEnd::kResume))));
    EXPECT_FALSE(rig->post_intent(T(100), AS(100), {rig.finish(c, ObservationEnd::kResume), 0, T(100)}));
    EXPECT_EQ(rig.failure(), kIdentity);
  }
  {
    ControlRig rig;
    rig->fail(std::nullopt, std::nullopt, "backend");
    EXPECT_FALSE(rig->post_intent(T(100), AS(100), {FinishObservation{}, 0, T(100)}));
  }
}

TEST(Park, S_PARK_25_capabilities_are_checked) {
  const auto with = [](ProtocolFailure expected, Capability lend, auto change) {
    ControlRig rig;
    change(rig);
    const CallId call = rig.send(100, RequestParkable{ResourceRequest::none(), lend});
    EXPECT_EQ(rig.failure(), expected);
    EXPECT_TRUE(rig.refused(call));
    EXPECT_FALSE(rig.filled(100));
  };
  const auto nothing = [](ControlRig&) {};
  with(kUnsupported, Capability::pause(site(100, 100)), [](ControlRig& r) { r->control_ = nullptr; });
  with(ProtocolFailure::of_timer(TimerFailureKind::kIdentity), Capability::pause({task(100, 100, 2), 1}),
       nothing);
  with(kIdentity, Capability::publish_only(site(100, 100), 5), nothing);
  const auto observing = [](ControlRig& r) { r->record(T(100))->owner = {OwnerKind::kObservation, {}, 5}; };
  with(kIdentity, Capability::publish_only(site(100, 100), 6), observing);
  with(kIdentity, Capability::pause(site(100, 100)), observing);
}

TEST(Park, S_PARK_26_a_hook_s_request_while_observing) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  const auto outer = rig->parked_.begin()->second.request.id();
  const CallId call =
      rig.send(100, RequestParkable{ResourceRequest::one(Resource::object(ResourceKind::kPath, 1)),
                                    Capability::publish_only(c.site, c.lease)});
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGo);
  EXPECT_EQ(rig->parked_.begin()->second.request.id(), outer);
  EXPECT_EQ(rig->parked_.begin()->second.phase, ParkedRequest::Phase::kObserving);
  EXPECT_EQ(rig->record(T(100))->owner.kind, OwnerKind::kObservation);
}

TEST(Park, S_PARK_27_meeting_a_scheduler_request) {
  for (const bool same : {true, false}) {
    ControlRig rig;
    Origin origin;
    origin.present = true;
    origin.as = AS(100);
    origin.capability = Capability::pause(site(100, 100, same ? 1 : 2));
    rig->record(T(100))->origin = origin;
    rig.fill(100, Resource::inbound_signal(kSigUsr1));
    const CallId call = rig.park(100, 100, kIndefinite);
    if (same) {
      EXPECT_TRUE(rig.pending(call));
      EXPECT_TRUE(rig.request(100).is(ResourceKind::kInboundSignal));
    } else {
      EXPECT_EQ(rig.failure(), kPhase);
      EXPECT_TRUE(rig.refused(call));
    }
  }
}

TEST(Park, S_PARK_28_control_replies_where_none_is_expected) {
  const auto with = [](auto send, bool refused) {
    ControlRig rig;
    const CallId call = send(rig);
    rig->fill_response(T(100), {TurnReplyKind::kControl, {}, {}}, ObservationControl{});
    rig.collect();
    EXPECT_EQ(rig.failure(), kUnexpected);
    EXPECT_EQ(rig.refused(call), refused);
    EXPECT_EQ(rig.pending(call), !refused);
  };
  with([](ControlRig& r) { return r.send(100, RequestResources{}); }, true);
  with(
      [](ControlRig& r) {
        return r.send(100, RegisterChild{T(5), P(100), 0, {}, kSigChld, std::nullopt});
      },
      true);
  with([](ControlRig& r) { return r.send(100, StartThread{task(100, 100)}); }, true);
  with([](ControlRig& r) { return r.wait_futex(100, r.key(1)); }, false);
  with(
      [](ControlRig& r) {
        ScheduleEvent a, b;
        a.tid = T(100), b.tid = T(5);
        r->config_.replay_schedule = std::vector{a, b};
        r->replayer_.emplace(*r->config_.replay_schedule, ReplayStop::kNever, false);
        return r.send(100, TraceEvent{a});
      },
      true);
}

TEST(Park, S_PARK_29_a_grant_ends_the_parked_request) {
  ControlRig rig;
  const ResumeTicket ticket = rig.resume_ticket(rig.observe());
  rig.send(100, ResumeParked{ticket});
  rig->apply_intents();
  EXPECT_EQ(rig->parked_.size(), 1u);
  rig->clock_.add_extra(ns(5'000));
  while (rig.kind() != StepKind::kGranted) {
  }
  EXPECT_TRUE(rig->parked_.empty());
}

TEST(Park, PARK_44_a_forced_unblock_ends_the_parked_request) {
  PollRig rig(2);
  EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
  const ObservationControl c = rig.get<ControlAnswer>(rig.call).control;
  rig.control.names.clear();
  rig.call = rig.send(100, ResumeParked{rig.resume_ticket(c)});
  rig->apply_intents();
  EXPECT_EQ(rig->parked_.size(), 1u);
  rig.send(7, SignalPending{T(100), kSigUsr1, std::nullopt});
  rig->drain();
  EXPECT_TRUE(rig.request(100).is(ResourceKind::kPendingSignals));
  EXPECT_TRUE(rig->parked_.empty());
}

TEST(Park, S_PARK_30_death_of_a_parked_thread) {
  ControlRig waiting;
  waiting.send(100, ResumeParked{waiting.resume_ticket(waiting.observe())});
  waiting->apply_intents();
  waiting->kill_thread(T(100), AS(100));
  EXPECT_TRUE(waiting->parked_.empty());
  ControlRig observing;
  const ObservationControl c = observing.observe();
  observing->kill_thread(T(100), AS(100));
  EXPECT_EQ(observing->parked_.size(), 1u);
  EXPECT_TRUE(observing->consume_boundary({c.permit, BoundaryReceipt::Kind::kWithdrawn, false, {}}));
  EXPECT_TRUE(observing->parked_.empty());
}

TEST(Park, S_PARK_31_an_awaited_resume_is_a_barrier) {
  ControlRig rig;
  const ResumeTicket ticket = rig.resume_ticket(rig.observe());
  rig.process(7, 100);
  rig.fill(7);
  rig->last_charged_ = true;
  rig->timed_.set_alarm(P(7), E(), {});
  const LogicalTime before = rig->clock().value();
  const std::size_t events = rig->timed_.size();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
  EXPECT_EQ(rig->clock().value(), before);
  EXPECT_EQ(rig->timed_.size(), events);
  rig.send(100, ResumeParked{ticket});
  EXPECT_NE(rig.kind(), StepKind::kWaitControl);
}

TEST(Park, S_PARK_32_pauses_do_not_multiply_a_turn) {
  ControlRig rig;
  rig.process(200, 100);
  rig.bind(200, 200);
  rig.process(301, 100), rig.process(302, 100);
  rig.park(100, 100, E(900'000));
  rig.park(200, 200, E(900'000));
  rig.step(), rig.step();
  rig.sleep(301, E(10)), rig.sleep(302, E(10));
  rig.process(7, 100);
  rig.fill(7);
  rig->clock_.add_extra(ns(10));
  rig->last_charged_ = true;
  const LogicalTime before = rig->clock().value();
  for (const int t : {100, 200}) {  // two pauses in one turn
    rig.control.names[P(t)] = {task(t, t)};
    EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
    rig.control.names.clear();
    const ObservationControl c{
        rig->parked_.rbegin()->first, T(t), AS(t), 0, site(t, t), rig->parked_.rbegin()->second.lease,
        rig->permits_.at(T(t))};
    const CallId call = rig.send(t, rig.finish(c, ObservationEnd::kResume));
    EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
    rig.send(t, ResumeParked{rig.get<TicketAnswer>(call).ticket});
    rig->apply_intents();
  }
  EXPECT_EQ(rig.step().thread, T(301));
  EXPECT_EQ(rig->clock().value(), before + ns(500'000));
  EXPECT_TRUE(rig->timed_.thread_deadline(T(302)));
  rig.fill(301);
  EXPECT_EQ(rig.step().thread, T(302));
}

TEST(Park, S_PARK_33_the_first_protocol_failure_is_kept) {
  ControlRig rig;
  rig.alarm(100, 400);
  const std::uint64_t waiter = rig->watch_failure();
  rig->protocol_failure(T(100), P(100), kPhase);
  EXPECT_TRUE(rig.effects<FailureNotice>().empty());  // not inside the step
  rig->protocol_failure(T(100), P(100), kOverflow);
  EXPECT_EQ(rig.failure(), kPhase);
  EXPECT_EQ(rig.log.count("protocol failure Phase"), 1);
  EXPECT_EQ(rig->timers_.timer(P(100))->failure, TimerFailureKind::kUnsupported);
  EXPECT_TRUE(rig->timed_.empty());
  rig.collect();
  ASSERT_EQ(rig.effects<FailureNotice>().size(), 1u);
  EXPECT_EQ(rig.effects<FailureNotice>()[0].waiter, waiter);
  ControlRig timer;
  timer->protocol_failure(T(100), P(100), ProtocolFailure::of_timer(TimerFailureKind::kSequence));
  EXPECT_EQ(timer->timers_.timer(P(100))->failure, TimerFailureKind::kSequence);
}

TEST(Park, S_PARK_34_no_second_observation_before_the_resume) {
  ControlRig rig;
  const ResumeTicket ticket = rig.resume_ticket(rig.observe());
  rig.control.names[P(100)] = {task(100, 100)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
  EXPECT_EQ(rig.control.reserved.size(), 1u);
  rig.send(100, ResumeParked{ticket});
  rig.step();
  EXPECT_EQ(rig.control.reserved.size(), 2u);
}

TEST(Park, S_PARK_35_the_guest_checks_its_control) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  GuestThread guest(T(100), AS(100), ThreadClock());
  EXPECT_FALSE(guest.check_control(c, c.site));
  ObservationControl bad = c;
  bad.tid = T(101);
  EXPECT_EQ(guest.check_control(bad, c.site), kIdentity);
  bad = c;
  bad.as = AS(100, 1);
  EXPECT_EQ(guest.check_control(bad, c.site), kIdentity);
  CallSite other = c.site;
  other.callback += 1;
  EXPECT_EQ(guest.check_control(c, other), kIdentity);
  const CallId call = rig.send(100, ProtocolFailed{kIdentity});
  EXPECT_TRUE(rig.refused(call));  // PARK-51: never a normal return
  EXPECT_EQ(rig.failure(), kIdentity);
  EXPECT_TRUE(rig->failed());
}

TEST(Park, S_PARK_36_death_wins_over_a_reply) {
  ControlRig rig;
  rig.second();
  const CallId exit =
      rig.send(101, RequestParkable{ResourceRequest::one(Resource::exit(true, P(100), AS(100))), {}});
  rig->fill_response(T(101), {});
  rig->kill_thread(T(101), AS(100));
  const CallId park = rig.park(100, 100, E(50));
  rig->fill_response(T(100), {TurnReplyKind::kControl, {}, {}}, ObservationControl{});
  rig->tombstones_.insert(T(100));
  rig.collect();
  EXPECT_TRUE(rig.refused(exit));
  EXPECT_TRUE(rig->is_registered(T(100)));  // no group exit took place
  EXPECT_TRUE(rig.refused(park));
  EXPECT_FALSE(rig->failed());
}

TEST(Park, S_PARK_37_posts_are_never_lost) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  const CallId finish = rig.send(100, rig.finish(c, ObservationEnd::kResume));
  rig.step();  // a drain, during which the reply goes out and the guest posts again
  const ResumeTicket ticket = rig.get<TicketAnswer>(finish).ticket;
  rig.send(100, ResumeParked{ticket});
  rig.step();
  EXPECT_TRUE(rig->intents_.empty());
  EXPECT_FALSE(rig->control_barrier());
}

TEST(Park, S_PARK_38_which_reads_lend_themselves) {
  EXPECT_FALSE(may_lend_polled_read({true, 2, true, 1}));
  EXPECT_FALSE(may_lend_polled_read({false, 2, true, 0}));
  EXPECT_FALSE(may_lend_polled_read({true, 0, true, 0}));
  EXPECT_FALSE(may_lend_polled_read({true, 2, false, 0}));
  EXPECT_TRUE(may_lend_polled_read({true, 2, true, 0}));
}

TEST(Park, S_PARK_39_without_call_site_a_sleep_is_ordinary) {
  const Request plain_sleep = sleep_request(E(1'000), std::nullopt);
  EXPECT_TRUE(std::holds_alternative<RequestResources>(plain_sleep));
  EXPECT_EQ(std::get<RequestParkable>(sleep_request(kIndefinite, site(1, 1))).capability.kind,
            LendKind::kPause);
  ControlRig rig;
  rig.alarm(100, 400);
  const CallId call = rig.send(100, plain_sleep);
  rig.control.name_on_alarm = std::vector{task(100, 100)};
  while (rig.pending(call)) ASSERT_NE(rig.kind(), StepKind::kTerminal);
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGo);
  EXPECT_EQ(rig->committed_time(), E(1'000));
  EXPECT_TRUE(rig.control.reserved.empty());
  EXPECT_FALSE(rig.control.names.empty());  // still pending
}

TEST(Park, S_PARK_40_a_failed_installation) {
  ControlRig rig;
  const CallId call =
      rig.send(100, RequestParkable{ResourceRequest::none(), Capability::publish_only(site(100, 100), 1)});
  EXPECT_TRUE(rig.refused(call));
  EXPECT_FALSE(rig.filled(100));
  EXPECT_TRUE(rig->failed());
}

TEST(Park, S_PARK_41_what_a_control_names) {
  ControlRig rig;
  const ObservationControl c = rig.observe();
  const auto& [id, parked] = *rig->parked_.begin();
  EXPECT_EQ(c.continuation, id);
  EXPECT_EQ(c.tid, T(100));
  EXPECT_EQ(c.as, AS(100));
  EXPECT_EQ(c.epoch, rig->record(T(100))->epoch);
  EXPECT_EQ(c.site, parked.site);
  EXPECT_EQ(c.lease, parked.lease);
  EXPECT_EQ(c.permit, rig->permits_.at(T(100)));
}

TEST(Exec, S_EXEC_34_exec_completed_in_controlled_mode) {
  for (const int variant : {0, 1, 2, 3}) {
    ControlRig rig;
    rig.send(100, PrepareExec{P(100), AS(100), {}});
    rig.as[100] = AS(100, 1);
    if (variant == 3) rig->parked_[{T(100), 1}] = {};
    std::optional<TaskIdentity> id;
    if (variant == 1) id = task(100, 100, 2);
    if (variant >= 2) id = task(100, 100, 1, 2);
    const CallId call = rig.send(100, ExecCompleted{P(100), id});
    if (variant == 2) {
      rig.get<ExecAnswer>(call);
      EXPECT_EQ(rig->timers_.binding(T(100))->as, AS(100, 1));
      EXPECT_EQ(rig->timers_.binding(T(100))->task, *id);
    } else {
      EXPECT_TRUE(rig.refused(call));
      EXPECT_EQ(rig.failure(), kIdentity);
    }
  }
}

TEST(Fork, S_FORK_18_a_start_binds_its_task) {
  for (const int variant : {0, 1, 2}) {
    ControlRig rig;
    rig.thread(101, 100);
    std::optional<TaskIdentity> id;
    if (variant == 1) id = task(101, 7);
    if (variant == 2) id = task(101, 100);
    const CallId call = rig.send(101, StartThread{id});
    if (variant == 2) {
      EXPECT_TRUE(rig.pending(call));
      ASSERT_NE(rig->timers_.live_binding(T(101)), nullptr);
    } else {
      EXPECT_TRUE(rig.refused(call));
      EXPECT_EQ(rig.failure(), ProtocolFailure::of_timer(TimerFailureKind::kIdentity));
    }
  }
}

}  // namespace
}  // namespace detrec::core::testing
