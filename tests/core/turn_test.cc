// The turn protocol: TURN-1 .. TURN-43.
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

ResourceRequest two() {
  return ResourceRequest::two(Resource::object(ResourceKind::kPath, 1),
                              Resource::object(ResourceKind::kDevice, 2));
}

TEST(Turn, S_TURN_1_the_start_is_announced_by_who_obtains_the_loop) {
  Rig rig;
  rig->announce();
  EXPECT_EQ(rig.log.count("scheduler loop starts"), 1);
  rig.step();
  EXPECT_EQ(rig.log.count("scheduler loop starts"), 1);
}

TEST(Turn, S_TURN_2_admission_order_is_canonical) {
  std::vector<std::vector<int>> results;
  for (const bool swapped : {false, true}) {
    for (const bool open : {false, true}) {
      CoreConfig config = plain();
      config.post_fork = PostForkPolicy::kRandom;
      config.scheduler_seed = 0xABCD;
      Rig rig(config);
      rig.root(5);
      rig.known(21, 5, true), rig.known(23, 5, true);
      if (open) rig->queue_.select();
      for (const int t : swapped ? std::vector{23, 21} : std::vector{21, 23})
        rig->admit_at_drain(T(t), TestCore::Admit::kPostFork);
      EXPECT_THAT(rig.queued(), ElementsAre(5));
      if (open) rig->queue_.undo();
      rig->drain();
      results.push_back(rig.queued());
    }
  }
  for (const auto& r : results) EXPECT_EQ(r, results[0]);
  EXPECT_EQ(results[0].size(), 3u);
  Rig rig;
  rig.root(5);
  rig->admit_at_drain(T(5), TestCore::Admit::kBack);
  EXPECT_DEATH(rig->admit_at_drain(T(5), TestCore::Admit::kFront), "two admissions");
}

TEST(Turn, S_TURN_3_a_pending_removal_waits_for_the_drain) {
  Rig rig;
  rig.root(5);
  rig.process(9, 5);
  rig.fill(5);
  ASSERT_EQ(rig->queue_.select_exact(T(5)), T(5));
  rig->remove_at_drain(T(9), TestCore::Removal::kRetire);
  rig->drop_registration(T(9));
  EXPECT_FALSE(rig->queue_.first_unfilled());  // 9 is ignored, and nothing fails
  rig->queue_.commit(RunQueue::CommitKind::kSchedulerOnly);
  EXPECT_TRUE(rig->queue_.contains(T(9)));
  rig->drain();
  EXPECT_FALSE(rig->queue_.contains(T(9)));
}

TEST(Turn, S_TURN_4_removals_and_admissions_at_the_drain) {
  Rig rig;
  rig.root(9);
  rig.known(7, 9, true);
  rig->admit_at_drain(T(7), TestCore::Admit::kBack);
  rig->remove_at_drain(T(9), TestCore::Removal::kRetire);
  EXPECT_THAT(rig.queued(), ElementsAre(9));
  rig->drain();
  EXPECT_THAT(rig.queued(), ElementsAre(7));
}

TEST(Turn, S_TURN_5_a_removal_cancels_the_admission) {
  Rig rig;
  rig.root(5);
  rig.known(11, 5, true);
  rig->admit_at_drain(T(11), TestCore::Admit::kBack);
  rig->remove_at_drain(T(11), TestCore::Removal::kRetire);
  rig->drop_registration(T(11));
  rig->drain();
  EXPECT_FALSE(rig->queue_.contains(T(11)));
  EXPECT_TRUE(rig->admissions_.empty());
  EXPECT_TRUE(rig->removals_.empty());
  rig->remove_at_drain(T(5), TestCore::Removal::kReplaceThenAdmit);
  EXPECT_DEATH(rig->drain(), "cannot be replaced");  // TURN-35: no admission pending
}

TEST(Turn, S_TURN_6_an_exited_thread_is_skipped) {
  Rig rig;
  rig.root(7);
  TurnRecord* r = rig->record(T(7));
  r->request.fill({true, {}});
  rig->queue_.set_unfilled(rig->arena_.find(T(7)), false);
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_FALSE(rig->queue_.selection_open());
  rig->remove_at_drain(T(7), TestCore::Removal::kRetire);
  rig->drop_registration(T(7));
  rig->drain();
  EXPECT_TRUE(rig.queued().empty());
}

TEST(Turn, S_TURN_7_a_vanished_registration_undoes_the_selection) {
  Rig rig;
  rig.root(11);
  rig.process(13, 11);
  rig.fill(11), rig.fill(13);
  rig->queue_.select_exact(T(11));
  rig->drop_registration(T(11));
  EXPECT_EQ(rig->revalidate(T(11)), TestCore::Decided::kSkipped);
  EXPECT_FALSE(rig->queue_.selection_open());
  rig->queue_.select_exact(T(13));
  EXPECT_EQ(rig->revalidate(T(13)), TestCore::Decided::kGranted);
  EXPECT_TRUE(rig->queue_.selection_open());
}

TEST(Turn, S_TURN_8_a_drain_inside_the_window_is_fatal) {
  Rig rig;
  rig.root(7);
  rig->queue_.select();
  rig->remove_at_drain(T(7), TestCore::Removal::kRetire);
  EXPECT_DEATH(rig->drain(), "while a selection is open");
  EXPECT_DEATH(rig->queue_.push_back(T(8), kDefaultPriority), "while a selection is open");  // TURN-13
  EXPECT_DEATH(rig->queue_.select(), "while one is open");
}

TEST(Turn, S_TURN_9_charges_follow_completed_turns) {
  Rig rig;
  rig.root(7);
  rig->last_charged_ = true;
  rig->charge_and_sample(true);
  EXPECT_EQ(rig->clock().value(), E(500'000));
  rig->charge_and_sample(true);
  EXPECT_EQ(rig->clock().value(), E(500'000));
}

TEST(Turn, S_TURN_10_post_fork_draws_are_made_in_drain_order) {
  const auto run = [](int first, int second) {
    CoreConfig config = plain();
    config.post_fork = PostForkPolicy::kRandom;
    config.scheduler_seed = 0x5107;
    Rig rig(config);
    rig.root(3);
    rig.known(31, 3, true), rig.known(37, 3, true);
    for (const int t : {first, second}) {
      rig->admit_at_drain(T(t), TestCore::Admit::kPostFork);
      rig->drain();
    }
    return rig.queued();
  };
  EXPECT_EQ(run(31, 37), run(31, 37));
  EXPECT_EQ(run(37, 31), run(37, 31));
  EXPECT_NE(run(31, 37), run(37, 31));
}

TEST(Turn, S_TURN_11_finished_operations_wait_for_ordinary_work) {
  Rig rig;
  rig.root(11);
  rig.process(17, 11);
  rig.external(11, 291);
  rig.fill(11, Resource::external(ResourceKind::kExternalDone, {T(11), 291}));
  rig.fill(17);
  rig->harvest_external();
  EXPECT_TRUE(rig->external_.contains(T(11)));
  const StepResult r = rig.step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(17));
}

TEST(Turn, a_recording_lets_finished_operations_queue_up_with_the_others) {
  CoreConfig config = cancelling();
  config.policy = RunPolicy::kRecord;
  Rig rig(config);
  rig.root(11);
  rig.process(17, 11);
  rig.process(19, 11);
  for (const int t : {11, 17, 19}) rig.fill(t);
  EXPECT_EQ(rig.step().thread, T(11));
  // Outside at once, although two others are before it in the queue.
  rig.send(11, RequestResources{
                   ResourceRequest::one(Resource::external(ResourceKind::kExternalBlock, {T(11), 1}))});
  EXPECT_TRUE(rig->external_.contains(T(11)));
  EXPECT_THAT(rig.queued(), ElementsAre(17, 19));
  EXPECT_EQ(rig.step().thread, T(17));
  rig.send(11, RequestResources{
                   ResourceRequest::one(Resource::external(ResourceKind::kExternalDone, {T(11), 1}))});
  rig.fill(17);
  EXPECT_EQ(rig.step().thread, T(19));
  rig.fill(19);
  EXPECT_EQ(rig.step().thread, T(17));
  rig.fill(17);
  EXPECT_EQ(rig.step().thread, T(11));
}

TEST(Turn, a_recording_s_operation_inside_a_selection_window_waits_for_its_turn) {
  CoreConfig config = cancelling();
  config.policy = RunPolicy::kRecord;
  Rig rig(config);
  rig.root(11);
  rig.process(17, 11);
  rig->queue_.select_exact(T(17));
  rig->progress_.selected = true;
  rig.send(11, RequestResources{
                   ResourceRequest::one(Resource::external(ResourceKind::kExternalBlock, {T(11), 1}))});
  EXPECT_FALSE(rig->external_.contains(T(11)));
  rig.fill(17);
  EXPECT_EQ(rig.step().thread, T(17));
  rig.fill(17);
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_TRUE(rig->external_.contains(T(11)));
}

TEST(Turn, S_TURN_12_finished_operations_precede_last_priority) {
  Rig rig;
  rig.root(11);
  rig.process(17, 11, 10000);
  rig.external(11, 291);
  rig.fill(11, Resource::external(ResourceKind::kExternalDone, {T(11), 291}));
  rig.fill(17);
  rig->harvest_external();
  EXPECT_EQ(rig.priority(11), 0);
  EXPECT_EQ(rig.step().thread, T(11));
}

std::string deadlock_text(bool swapped) {
  Rig rig;
  rig.root(3);
  std::vector<int> tids{5, 7, 9, 11};
  if (swapped) std::reverse(tids.begin(), tids.end());
  for (const int t : tids) rig.process(t, 3);
  for (const int t : tids) {
    if (t == 11) continue;
    rig->queue_.remove(T(t));
    rig->futexes_.add(T(t), rig.key(0x404000u + 0x100u * static_cast<unsigned>((t - 3) / 2), 3),
                      kFullFutexMask);
    rig->futexes_.set_timed_out(T(t), true);
  }
  for (const int t : {3, 5, 7, 9}) rig.fill(t, two());
  rig.sleep(11, kIndefinite);
  rig->queue_.remove(T(3));
  rig->handle_empty_queue();
  return rig->take_terminal_report()->text;
}

TEST(Turn, S_TURN_13_the_deadlock_report_is_canonical) {
  const std::string text = deadlock_text(false);
  EXPECT_EQ(text, deadlock_text(true));
  const std::string headline = text.substr(0, text.find('\n'));
  EXPECT_THAT(headline, HasSubstr("futex waiters"));
  EXPECT_THAT(headline, HasSubstr("indefinite waiters"));
  for (const char* part : {"thread 3", "thread 5", "thread 7", "thread 9", "thread 11", "0x404100",
                           "0x404200", "0x404300", "indefinite", "timed out: 5 7 9"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("0x7f")));
}

TEST(Turn, S_TURN_14_an_indefinite_wait_alone_is_a_deadlock) {
  Rig rig;
  rig.root(100);
  rig.sleep(100, kIndefinite);
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kTerminal);
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kTerminal);
  EXPECT_EQ(rig.effects<RunEnds>().size(), 1u);
  EXPECT_EQ(rig->clock().value(), E());
  EXPECT_TRUE(rig->timed_.thread_deadline(T(100)));
  const auto report = rig->take_terminal_report();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, 1);
  EXPECT_FALSE(rig->take_terminal_report());
}

TEST(Turn, S_TURN_15_futex_waiters_alone_are_a_deadlock) {
  Rig rig;
  rig.root(100);
  rig.wait_futex(100, rig.key(0x1000));
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("blocked: futex waiters"));
}

TEST(Turn, S_TURN_16_both_classes_are_named) {
  Rig rig;
  rig.root(100);
  rig->timed_.set_posix(P(100), 1, kIndefinite, {}, kSigUsr1);
  rig.wait_futex(100, rig.key(0x1000));
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("blocked: futex waiters, indefinite waiters"));
}

TEST(Turn, S_TURN_17_a_saturated_timer_never_fires) {
  Rig rig;
  rig.root(100);
  rig->queue_.remove(T(100));
  rig->timed_.set_posix(P(100), 7, ns(LogicalTime::kMax - 5) + ns(100), {}, kSigUsr1);
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kTerminal);
  EXPECT_TRUE(rig.effects<DeliverSignal>().empty());
  EXPECT_EQ(rig->clock().value(), E());
}

TEST(Turn, S_TURN_18_a_finite_event_is_jumped_to) {
  Rig rig;
  rig.root(100);
  rig.process(200, 100);
  rig.sleep(200, kIndefinite);
  rig->queue_.remove(T(100));
  rig->timed_.set_alarm(P(100), E(1'000), {});
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kSkip);
  EXPECT_EQ(rig->clock().value(), E(1'000));
  ASSERT_EQ(rig->timed_.size(), 1u);
  EXPECT_TRUE(rig->timed_.only_indefinite());
}

TEST(Turn, S_TURN_19_an_external_operation_is_no_deadlock) {
  Rig rig;
  rig.root(100);
  rig.process(101, 100);
  rig.sleep(100, kIndefinite);
  rig.external(101, 1);
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kWaitExternal);
  EXPECT_FALSE(rig->terminal_report());
  EXPECT_EQ(rig->clock().value(), E());
}

TEST(Turn, S_TURN_20_two_resources_are_fatal) {
  Rig rig;
  rig.root(3);
  rig.fill(3, two());
  EXPECT_DEATH(rig.step(), "requests 2 resources");
}

TEST(Turn, S_TURN_21_only_scheduler_requests_may_be_met_by_a_late_one) {
  Rig rig;
  rig.root(3);
  rig.fill(3, Resource::inbound_signal(kSigUsr1));
  rig.fill(3, Resource::polled_io());
  EXPECT_TRUE(rig.request(3).is(ResourceKind::kInboundSignal));
  rig.process(4, 3);
  rig.fill(4);
  EXPECT_DEATH(rig.fill(4), "filled twice");
}

TEST(Turn, S_TURN_22_an_exhausted_epoch_is_an_overflow) {
  CoreConfig config = plain();
  config.log_decisions = true;
  Rig rig(config);
  rig.root(3);
  rig.fill(3);
  rig->record(T(3))->epoch = NonceCounter::kMax;
  EXPECT_EQ(rig.kind(), StepKind::kFailed);
  EXPECT_EQ(rig->protocol_failure_, ProtocolFailure::overflow());
  EXPECT_EQ(rig->turn().value, 0u);
  EXPECT_TRUE(rig->decisions().empty());
  EXPECT_TRUE(rig->queue_.contains(T(3)));
  EXPECT_FALSE(rig->record(T(3))->response.filled());
}

TEST(Turn, S_TURN_23_sleeping) {
  Rig due;
  due.root(17);
  due.fill(17, Resource::sleep_until(E()));
  EXPECT_EQ(due.kind(), StepKind::kGranted);

  Rig rig;
  rig.root(17);
  rig.fill(17, Resource::sleep_until(E(1)));
  const SlotId request = rig->record(T(17))->request.id(), response = rig->record(T(17))->response.id();
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_TRUE(rig.queued().empty());
  EXPECT_EQ(rig.deadline_of(17), E(1));
  EXPECT_EQ(rig->record(T(17))->request.id(), request);
  EXPECT_EQ(rig->record(T(17))->response.id(), response);
  EXPECT_FALSE(rig->record(T(17))->response.filled());
  EXPECT_EQ(rig->turn().value, 1u);
  rig->charge_and_sample(true);
  EXPECT_EQ(rig->clock().value(), E());
}

TEST(Turn, S_TURN_24_polling_backs_off) {
  Rig rig;
  rig.root(17);
  rig.fill(17, ResourceRequest::one(Resource::polled_io()).with_attempt(3));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig.priority(17), 8000);
  EXPECT_EQ(rig.request(17).attempt, 0u);
  EXPECT_FALSE(rig->record(T(17))->response.filled());
  EXPECT_EQ(rig->turn().value, 1u);
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
}

TEST(Turn, S_TURN_25_external_operations) {
  Rig rig;
  rig.root(17);
  const auto block = Resource::external(ResourceKind::kExternalBlock, {T(17), 5});
  const CallId call = rig.send(17, RequestResources{ResourceRequest::one(block)});
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGo);
  EXPECT_TRUE(rig.queued().empty());
  EXPECT_EQ(rig->external_[T(17)], (ExternalOpId{T(17), 5}));
  EXPECT_FALSE(rig->running());  // TURN-32
  rig.fill(17, Resource::external(ResourceKind::kExternalDone, {T(17), 5}));
  rig->harvest_external();
  EXPECT_EQ(rig.priority(17), 0);
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  rig.external(17, 5);
  rig.fill(17, block);
  rig->queue_.push_back(T(17));
  EXPECT_DEATH(rig.step(), "second external operation");
  rig->queue_.remove(T(17));
  rig->replace_request(T(17),
                       ResourceRequest::one(Resource::external(ResourceKind::kExternalDone, {T(17), 6})));
  EXPECT_DEATH(rig->harvest_external(), "never began");
}

TEST(Turn, S_TURN_26_waiting_for_the_host) {
  Rig rig;
  rig.root(17);
  rig.external(17, 1);
  EXPECT_EQ(rig.kind(), StepKind::kWaitExternal);
  EXPECT_EQ(rig->clock().value(), E());
  EXPECT_EQ(rig->turn().value, 0u);
  EXPECT_FALSE(rig->terminal_report());
}

TEST(Turn, S_TURN_27_priority_points) {
  Rig rig;
  rig.root(17);
  rig.process(19, 17);
  rig.fill(17, Resource::priority_point({20}));
  rig.fill(19);
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig->queue_.persistent(T(17)), Priority{20});
  EXPECT_EQ(rig.priority(17), 20);
  EXPECT_EQ(rig.request(17).count, 0);
  EXPECT_EQ(rig->turn().value, 1u);
  const StepResult r = rig.step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(17));
}

TEST(Turn, S_TURN_28_child_signals_wait_for_ordinary_work) {
  Rig rig;
  rig.root(17);
  rig.process(19, 17);
  rig.fill(17, Resource::inbound_signal(kSigChld));
  rig.fill(19);
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_TRUE(rig->deferred_.contains(T(17)));
  EXPECT_FALSE(rig->queue_.contains(T(17)));
  EXPECT_EQ(rig->turn().value, 0u);
  rig->queue_.remove(T(19));
  rig->requeue_deferred();
  EXPECT_EQ(rig.priority(17), 0);
  rig->queue_.push_back(T(19));
  EXPECT_EQ(rig.step().thread, T(17));
  EXPECT_EQ(rig->turn().value, 1u);
}

TEST(Turn, S_TURN_29_other_signals_are_granted) {
  Rig rig;
  rig.root(17);
  rig.process(19, 17);
  rig.fill(19);
  const CallId call =
      rig.send(17, RequestResources{ResourceRequest::one(Resource::inbound_signal(kSigUsr1))});
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kSignaled);
  EXPECT_THAT(rig.reply(call).signals.list(), ElementsAre(kSigUsr1));
}

TEST(Turn, S_TURN_30_replies) {
  Rig rig;
  rig.root(17);
  rig->staged_slices_[T(17)] = ns(700);
  CallId call = rig.send(17, RequestResources{});
  rig.step();
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGoSlice);
  EXPECT_EQ(rig.reply(call).slice, ns(700));
  call = rig.send(17, RequestResources{});
  rig.step();
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGo);
  rig->futexes_.set_timed_out(T(17), true);
  rig->staged_slices_[T(17)] = ns(700);
  call = rig.send(17, RequestResources{});
  rig.step();
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGoTimedOut);
  rig->staged_slices_.clear();
  SignalSet set;
  for (const Signal s : {kSigTerm, kSigUsr1, kSigTerm}) set.add(s);
  call = rig.send(17, RequestResources{ResourceRequest::one(Resource::pending_signals(set))});
  rig.step();
  EXPECT_THAT(rig.reply(call).signals.list(), ElementsAre(kSigUsr1, kSigTerm));
}

TEST(Turn, S_TURN_31_what_a_grant_changes) {
  Rig rig;
  rig.root(17);
  rig.process(19, 17);
  rig.fill(19);
  const CallId call = rig.send(17, RequestResources{});
  const TurnRecord before = *rig->record(T(17));
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  const TurnRecord& after = *rig->record(T(17));
  EXPECT_EQ(after.epoch, before.epoch + 1);
  EXPECT_EQ(rig->turn().value, 1u);
  EXPECT_EQ(rig->running(), T(17));
  EXPECT_FALSE(after.request.filled());
  EXPECT_FALSE(after.response.filled());
  EXPECT_NE(after.request.id(), before.request.id());
  EXPECT_NE(after.response.id(), before.response.id());
  EXPECT_FALSE(after.origin.present);
  EXPECT_FALSE(rig.pending(call));
  EXPECT_THAT(rig.queued(), ElementsAre(19, 17));
  EXPECT_EQ(rig.kind(), StepKind::kWaitRequest);  // 17 has not asked again
}

TEST(Turn, S_TURN_32_round_robin) {
  Rig rig;
  rig.root(1);
  rig.process(2, 1), rig.process(3, 1);
  for (const int t : {1, 2, 3}) rig.fill(t);
  std::vector<int> granted;
  for (int i = 0; i < 6; ++i) {
    const StepResult r = rig.step();
    granted.push_back(r.thread.value);
    rig.fill(r.thread.value);
  }
  EXPECT_THAT(granted, ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(Turn, S_TURN_33_the_loop_ends_after_the_drain) {
  Rig rig;
  rig.root(7);
  rig->kill_thread(T(7), AS(7));
  EXPECT_FALSE(rig->nothing_left());
  rig->drain();
  EXPECT_TRUE(rig->nothing_left());
  EXPECT_EQ(rig.kind(), StepKind::kFinished);
}

TEST(Turn, S_TURN_34_turn_limit) {
  CoreConfig config = plain();
  config.stop_after_turn = 3;
  Rig rig(config);
  rig.root(7);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(rig->terminal_report());
    rig.fill(7);
    rig.step();
  }
  ASSERT_TRUE(rig->terminal_report());
  EXPECT_EQ(rig->terminal_report()->status, 1);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("thread 7"));
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);
  CoreConfig iterations = plain();
  iterations.stop_after_iteration = 2;
  Rig other(iterations);
  other.root(7);
  EXPECT_EQ(other.kind(), StepKind::kWaitRequest);
  EXPECT_EQ(other.kind(), StepKind::kWaitRequest);
  EXPECT_EQ(other.kind(), StepKind::kTerminal);
}

TEST(Turn, S_TURN_35_the_order_of_maintenance) {
  // At one turn: 9 is to be removed, 21 and 22 are due, 11 finished outside, 13 has a deferred child signal.
  Rig rig;
  rig.root(9);
  for (const int t : {11, 13, 21, 22}) rig.process(t, 9, t == 21 || t == 22 ? 10000 : 1000);
  rig.clock[21] = ThreadClock();
  rig.clock[21].advance_by(ns(100));
  rig.send(21, AskGlobalTime{});
  rig.sleep(21, E(50)), rig.sleep(22, E(50));
  rig.external(11, 4);
  rig.fill(11, Resource::external(ResourceKind::kExternalDone, {T(11), 4}));
  rig.fill(13, Resource::inbound_signal(kSigChld));
  rig->queue_.remove(T(13));
  rig->deferred_.insert(T(13));
  rig->kill_thread(T(9), AS(9));
  // 9 leaves first, then one sleeper enters at 10000; 11 comes back while nothing better is queued, and its
  // presence is what keeps 13 deferred: timed event, then external operation, then deferred signal.
  const StepResult r = rig.step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(11));
  EXPECT_THAT(rig.queued(), ElementsAre(11, 21));
  EXPECT_TRUE(rig->deferred_.contains(T(13)));
  EXPECT_TRUE(rig->timed_.thread_deadline(T(22)));  // at most one timed event
}

TEST(Turn, S_TURN_36_kinds_granted_at_once) {
  const ResourceKind kinds[] = {
      ResourceKind::kFileContents,   ResourceKind::kFileMetadata,   ResourceKind::kDirectoryContents,
      ResourceKind::kPath,           ResourceKind::kPathTree,       ResourceKind::kDevice,
      ResourceKind::kAddressSpace,   ResourceKind::kParentContinue, ResourceKind::kPolledIo,
      ResourceKind::kFutexWait,      ResourceKind::kReplayYield,    ResourceKind::kYield,
      ResourceKind::kExternalDone,   ResourceKind::kVforkFailed,    ResourceKind::kPendingSignals,
      ResourceKind::kOrderCheckpoint};
  for (const ResourceKind kind : kinds) {
    Rig rig;
    rig.root(17);
    rig.fill(17, Resource::of(kind));
    EXPECT_EQ(rig.kind(), StepKind::kGranted) << static_cast<int>(kind);
    EXPECT_EQ(rig->turn().value, 1u);
  }
}

TEST(Turn, S_TURN_37_death_releases_who_waits_for_a_request) {
  Rig rig;
  rig.root(17);
  const SlotId watch = rig->watch_request(T(17));
  EXPECT_EQ(rig->watched(watch), Core::RequestState::kEmpty);
  EXPECT_EQ(rig.kind(), StepKind::kWaitRequest);
  rig->kill_thread(T(17), AS(17));
  EXPECT_EQ(rig->watched(watch), Core::RequestState::kExited);
  EXPECT_NE(rig.kind(), StepKind::kWaitRequest);
}

TEST(Turn, S_TURN_38_nothing_happens_before_a_registration) {
  Rig rig;
  EXPECT_EQ(rig.kind(), StepKind::kNotStarted);
  EXPECT_FALSE(rig->take_start_signal());
  rig.root(17);
  EXPECT_TRUE(rig->take_start_signal());
  rig.thread(18, 17);
  EXPECT_FALSE(rig->take_start_signal());
}

TEST(Turn, S_TURN_39_the_first_terminal_report_is_kept) {
  Rig rig;
  rig->terminal("one", 1);
  rig->terminal("two", 2);
  EXPECT_EQ(rig->terminal_report()->text, "one");
  EXPECT_EQ(rig.effects<RunEnds>().size(), 1u);
}

TEST(Turn, TURN_34_a_later_retire_overrides_a_replacement) {
  Rig rig;
  rig.root(5);
  rig->remove_at_drain(T(5), TestCore::Removal::kReplaceThenAdmit);
  rig->remove_at_drain(T(5), TestCore::Removal::kRetire);
  EXPECT_EQ(rig->removals_.at(T(5)), TestCore::Removal::kRetire);
  rig->remove_at_drain(T(5), TestCore::Removal::kReplaceThenAdmit);
  EXPECT_EQ(rig->removals_.at(T(5)), TestCore::Removal::kRetire);
}

TEST(Turn, the_deadlock_report_is_the_same_on_every_run) {
  const auto run = [] {
    Rig rig;
    rig.root(3);
    rig.thread(4, 3), rig.thread(5, 3);
    for (const int t : {3, 4, 5}) {
      rig.clock[t].advance_by(ns(100u * static_cast<unsigned>(t)));
      rig.wait_futex(t, rig.key(0x1000u + static_cast<unsigned>(t % 2), 3));
    }
    while (rig.kind() != StepKind::kTerminal) {
    }
    return rig->terminal_report()->text;
  };
  const std::string text = run();
  EXPECT_EQ(text, run());
  EXPECT_THAT(text, HasSubstr("thread 4 of process 3: FutexWait, since 1_767_225_600.000_000_400s"));
}

}  // namespace
}  // namespace detrec::core::testing
