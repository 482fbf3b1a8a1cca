// Timed events, sleeps, alarms and POSIX timers: TIMED-1 .. TIMED-26.
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

std::optional<TimerValue> tv(std::uint64_t time, std::uint64_t interval) {
  return TimerValue{ns(time), ns(interval)};
}

TEST(Timed, S_TIMED_1_deadlines_in_order) {
  TimedEvents t;
  EXPECT_FALSE(t.next_deadline());
  t.add_thread(T(101), kIndefinite);
  EXPECT_EQ(t.next_deadline(), kIndefinite);
  EXPECT_TRUE(t.only_indefinite());
  t.add_thread(T(100), ns(1'000));
  EXPECT_EQ(t.next_deadline(), ns(1'000));
  EXPECT_EQ(t.size(), 2u);
  const auto e = t.pop_due(ns(1'000));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->deadline, ns(1'000));
  EXPECT_EQ(e->first, 100);
  EXPECT_EQ(t.next_deadline(), kIndefinite);
}

TEST(Timed, S_TIMED_2_a_fired_alarm_is_forgotten) {
  TimedEvents t;
  t.set_alarm(P(100), ns(1'000), {});
  EXPECT_TRUE(t.pop_due(ns(1'000)));
  EXPECT_FALSE(t.set_alarm(P(100), ns(2'000), {}));
  EXPECT_EQ(t.size(), 1u);
  EXPECT_TRUE(t.pop_due(ns(2'000)));
  EXPECT_FALSE(t.remove_alarm(P(100)));
}

TEST(Timed, S_TIMED_3_alarms_of_two_processes) {
  TimedEvents t;
  t.set_alarm(P(100), ns(1'000), {});
  t.set_alarm(P(200), ns(1'000), {});
  EXPECT_EQ(t.remove_alarm(P(100)), tv(1'000, 0));
  EXPECT_EQ(t.alarm(P(200)), tv(1'000, 0));
  EXPECT_EQ(t.remove_alarm(P(200)), tv(1'000, 0));
  EXPECT_TRUE(t.empty());
}

TEST(Timed, S_TIMED_4_no_empty_bucket_stays) {
  TimedEvents t;
  t.set_alarm(P(100), ns(1'000), {});
  EXPECT_EQ(t.set_alarm(P(100), ns(2'000), {}), tv(1'000, 0));
  EXPECT_EQ(t.buckets(), 1u);
  EXPECT_EQ(t.pop_due(ns(2'000))->deadline, ns(2'000));
  EXPECT_TRUE(t.empty());
  EXPECT_EQ(t.buckets(), 0u);
}

TEST(Timed, S_TIMED_5_periodic_alarm) {
  TimedEvents t;
  t.set_alarm(P(100), ns(1'000), ns(250));
  EXPECT_TRUE(t.pop_due(ns(1'000)));
  EXPECT_FALSE(t.pop_due(ns(1'249)));
  EXPECT_TRUE(t.pop_due(ns(1'250)));
  EXPECT_EQ(t.remove_alarm(P(100)), tv(1'500, 250));
  EXPECT_TRUE(t.empty());
}

TEST(Timed, S_TIMED_6_alarm_before_child_exit) {
  TimedEvents t;
  t.add_child_exit(P(200), P(100), ns(1'000));
  t.set_alarm(P(100), ns(1'000), {});
  EXPECT_EQ(t.pop_due(ns(1'000))->kind, TimedKind::kAlarm);
  EXPECT_EQ(t.pop_due(ns(1'000))->kind, TimedKind::kChildExit);
  EXPECT_FALSE(t.set_alarm(P(100), ns(3'000), {}));
}

TEST(Timed, S_TIMED_7_equal_child_exits_coalesce) {
  TimedEvents t;
  for (const int child : {200, 200, 201}) t.add_child_exit(P(child), P(100), ns(1'000));
  EXPECT_EQ(t.size(), 2u);
}

TEST(Timed, S_TIMED_8_posix_timers_are_independent) {
  TimedEvents t;
  t.set_alarm(P(100), ns(1'000), {});
  t.set_posix(P(100), 7, ns(500), {}, kSigUsr1);
  const auto e = t.pop_due(ns(600));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind, TimedKind::kPosixTimer);
  EXPECT_EQ(e->second, 7);
  EXPECT_EQ(t.remove_alarm(P(100)), tv(1'000, 0));
  EXPECT_TRUE(t.empty());
}

TEST(Timed, S_TIMED_9_set_query_cancel) {
  Rig rig;
  rig.root(100);
  rig.thread(101, 100);
  const auto at = [&](std::uint64_t v) {
    const LogicalTime now = rig->clock().value();
    rig->clock_.add_extra(E(v) - now);
  };
  at(1'000);
  rig.send(101, SetAlarm{ns(250), {}, kAlarmSignal});
  EXPECT_EQ(rig->timed_.next_deadline(), E(1'250));
  EXPECT_EQ(rig->timed_.alarm_thread(P(100)), T(101));
  at(1'100);
  EXPECT_EQ(rig.get<TimerAnswer>(rig.send(100, QueryAlarm{})).previous, *tv(150, 0));
  Rig late;
  late.root(100);
  late->clock_.add_extra(ns(1'000));
  late.send(100, SetAlarm{ns(250), {}, kAlarmSignal});
  late->clock_.add_extra(ns(300));
  EXPECT_EQ(late.get<TimerAnswer>(late.send(100, QueryAlarm{})).previous, *tv(0, 0));  // overdue: zero
  EXPECT_EQ(rig.get<TimerAnswer>(rig.send(100, SetAlarm{})).previous, *tv(150, 0));
  EXPECT_TRUE(rig->timed_.empty());
}

TEST(Timed, S_TIMED_10_a_worker_takes_its_process_s_signal) {
  Rig rig;
  rig.root(100);
  rig.thread(101, 100);
  rig->kill_thread(T(100), AS(100));
  EXPECT_EQ(rig->signal_target(P(100), T(100)), T(101));
}

TEST(Timed, S_TIMED_11_a_dead_thread_sets_no_timer) {
  auto rig = fx_one();
  rig->core->kill_thread(T(17), AS(17));
  EXPECT_TRUE(rig->refused(rig->send(17, SetAlarm{ns(10), {}, kAlarmSignal})));
  EXPECT_TRUE(rig->refused(rig->send(17, SetPosixTimer{1, E(110), {}, kSigUsr1})));
  EXPECT_TRUE(rig->core->timed_.empty());
}

TEST(Timed, S_TIMED_12_exec_deletes_posix_timers_only) {
  auto rig = fx_one();
  rig->send(17, SetAlarm{ns(1'000'000), {}, kAlarmSignal});
  rig->send(17, SetPosixTimer{0, E(1'000'000), ns(10), kSigUsr2});
  const auto before = rig->core->timed_.all();
  EXPECT_EQ(before.size(), 2u);
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  EXPECT_EQ(rig->core->timed_.all(), before);
  rig->send(17, CancelExec{P(17)});
  EXPECT_EQ(rig->core->timed_.all(), before);
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  EXPECT_EQ(rig->core->timed_.all(), before);
  rig->as[17] = AS(17, 1);
  EXPECT_TRUE(rig->get<ExecAnswer>(rig->send(17, ExecCompleted{P(17), std::nullopt})).restored.empty());
  ASSERT_EQ(rig->core->timed_.size(), 1u);
  EXPECT_EQ(rig->core->timed_.alarm(P(17)), (TimerValue{E(1'000'000), {}}));
}

TEST(Timed, S_TIMED_13_timer_ids_go_on_after_exec) {
  auto rig = fx_one();
  PosixTimerTable& table = rig->core->posix_timers(P(17));
  EXPECT_EQ(table.create(kSigUsr1), 0);
  EXPECT_EQ(table.create(kSigUsr1), 1);
  EXPECT_EQ(table.create(std::nullopt), 2);
  table.set(0, ns(50), ns(100), ns(50));
  table.set(2, ns(50), ns(200), {});
  rig->clock[17].advance_by(ns(137));
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(rig->acknowledged(rig->send(17, PrepareExec{P(17), rig->as[17], {}})));
    rig->as[17] = rig->as[17].after_exec(P(17));
    const CallId done = rig->send(17, ExecCompleted{P(17), std::nullopt});
    EXPECT_FALSE(rig->pending(done));
    EXPECT_FALSE(rig->filled(17));
    EXPECT_EQ(rig->core->clock().value(), E(137));
    for (const int id : {0, 1, 2}) {
      EXPECT_FALSE(table.read(id, ns(137)));
      EXPECT_FALSE(table.set(id, ns(137), ns(1), {}));
      EXPECT_FALSE(table.signal(id));
      EXPECT_FALSE(table.remove(id));
    }
  }
  EXPECT_EQ(table.create(kSigUsr1), 3);
  EXPECT_EQ(table.set(3, ns(10), ns(300), {}), tv(0, 0));
  EXPECT_EQ(table.read(3, ns(20)), tv(280, 0));
}

TEST(Timed, S_TIMED_14_remaining_time) {
  EXPECT_EQ(PosixTimerTable::remaining(ns(100), ns(50), ns(130)), ns(20));
  EXPECT_EQ(PosixTimerTable::remaining(ns(100), {}, ns(130)), ns(0));
  EXPECT_EQ(PosixTimerTable::remaining(std::nullopt, ns(50), ns(130)), ns(0));
  EXPECT_EQ(PosixTimerTable::remaining(ns(100), ns(50), ns(30)), ns(70));
}

CoreConfig physical() {
  CoreConfig c = cancelling();
  c.reports_physical_exits = true;
  return c;
}

TEST(Timed, S_TIMED_15_physical_exits_stop_the_clock) {
  Rig rig(physical());
  rig.root(100);
  rig.process(200, 100);
  rig->queue_.remove(T(100)), rig->queue_.remove(T(200));
  EXPECT_TRUE(rig->begin_physical_exit(P(100)));
  EXPECT_TRUE(rig->begin_physical_exit(P(200)));
  EXPECT_FALSE(rig->begin_physical_exit(P(100)));
  rig->timed_.set_alarm(P(100), E(1'000), {});
  const auto waits = [&] {
    EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kWaitExternal);
    EXPECT_EQ(rig->clock().value(), E());
    EXPECT_EQ(rig->timed_.size(), 1u);
  };
  waits();
  EXPECT_FALSE(rig->complete_physical_exit(P(300)));
  waits();
  EXPECT_TRUE(rig->complete_physical_exit(P(100)));
  EXPECT_FALSE(rig->complete_physical_exit(P(100)));
  waits();
  EXPECT_TRUE(rig->complete_physical_exit(P(200)));
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kSkip);
  EXPECT_EQ(rig->clock().value(), E(1'000));
  EXPECT_TRUE(rig->timed_.empty());
}

TEST(Timed, S_TIMED_16_without_reports_there_is_no_barrier) {
  Rig rig;
  EXPECT_FALSE(rig->begin_physical_exit(P(100)));
  EXPECT_FALSE(rig->complete_physical_exit(P(100)));
  EXPECT_EQ(rig->release_all_physical_exits(), 0u);
}

TEST(Timed, S_TIMED_17_the_last_thread_begins_the_barrier) {
  Rig rig(physical());
  rig.root(100);
  rig.thread(101, 100);
  rig->kill_thread(T(100), AS(100));
  EXPECT_TRUE(rig->physical_exits_.empty());
  rig->kill_thread(T(101), AS(100));
  EXPECT_EQ(rig->physical_exits_, std::set<ProcessId>{P(100)});
}

TEST(Timed, S_TIMED_18_barriers_are_exact) {
  Rig rig(physical());
  rig.root(100);
  rig.process(200, 100);
  rig->kill_thread(T(100), AS(100));
  EXPECT_FALSE(rig->complete_physical_exit(P(200)));
  EXPECT_TRUE(rig->complete_physical_exit(P(100)));
  rig->kill_thread(T(200), AS(200));
  EXPECT_EQ(rig->physical_exits_, std::set<ProcessId>{P(200)});
  EXPECT_TRUE(rig->complete_physical_exit(P(200)));
  EXPECT_TRUE(rig->physical_exits_.empty());
}

TEST(Timed, S_TIMED_19_a_sleeper_waits_for_a_physical_exit) {
  Rig rig(physical());
  rig.root(100);
  rig.process(200, 100);
  rig.sleep(100, E(1'000));
  rig->kill_thread(T(200), AS(200));
  rig->drain();
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kWaitExternal);
  EXPECT_EQ(rig->clock().value(), E());
  rig->complete_physical_exit(P(200));
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kSkip);
  EXPECT_EQ(rig->clock().value(), E(1'000));
}

TEST(Timed, S_TIMED_20_one_deadline_a_thread) {
  TimedEvents t;
  t.add_thread(T(17), ns(100));
  EXPECT_DEATH(t.add_thread(T(17), ns(100)), "two deadlines");
  t.add_thread(T(17), ns(200));
  EXPECT_DEATH(t.remove_thread(T(17)), "deadlines at two times");
}

TEST(Timed, S_TIMED_21_one_event_a_turn) {
  Rig rig;
  rig.root(21);
  rig.process(22, 21), rig.process(23, 21);
  for (const int t : {23, 21, 22}) rig.sleep(t, E(100));
  rig->clock_.add_extra(ns(100));
  rig->charge_and_sample(false);
  std::vector<std::vector<int>> seen;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(rig->handle_due_event());
    seen.push_back(rig.queued_sorted());
  }
  EXPECT_EQ(seen, (std::vector<std::vector<int>>{{21}, {21, 22}, {21, 22, 23}}));
}

TEST(Timed, S_TIMED_22_alarms_count_from_the_global_clock) {
  Rig rig;
  rig.root(100);
  rig->clock_.add_extra(ns(1'700));
  rig->committed_ = E(1'500);
  rig.send(100, SetAlarm{ns(100), {}, kAlarmSignal});
  EXPECT_EQ(rig->timed_.next_deadline(), E(1'800));
}

TEST(Timed, S_TIMED_23_timers_die_with_their_process) {
  Rig rig;
  rig.root(100);
  rig->timed_.set_alarm(P(100), E(1'000), {});
  rig->timed_.set_posix(P(100), 1, E(1'000), {}, kSigUsr1);
  rig->kill_thread(T(100), AS(100));
  EXPECT_TRUE(rig->timed_.empty());
}

TEST(Timed, S_TIMED_24_an_alarm_without_target_is_dropped) {
  Rig rig;
  rig.root(3);
  rig->tree_.add(T(100), T(3), true);
  rig->timed_.set_alarm(P(100), E(), {});
  EXPECT_TRUE(rig->handle_due_event());
  EXPECT_EQ(rig.log.count("has no target"), 1);
  EXPECT_TRUE(rig.effects<DeliverSignal>().empty());
}

TEST(Timed, S_TIMED_25_a_due_child_exit) {
  for (const bool deferred : {true, false}) {
    Rig rig;
    rig.root(100);
    rig.process(200, 100);
    if (deferred) {
      rig.fill(100, Resource::inbound_signal(kSigChld));
      rig->queue_.remove(T(100));
      rig->deferred_.insert(T(100));
    }
    rig->timed_.add_child_exit(P(200), P(100), E());
    EXPECT_TRUE(rig->handle_due_event());
    EXPECT_TRUE(rig->child_signal_ready_.contains(T(100)));
    EXPECT_EQ(rig.effects<DeliverSignal>().size(), deferred ? 0u : 1u);
    if (deferred) {
      EXPECT_EQ(rig.priority(100), 0);
    } else {
      EXPECT_EQ(rig.effects<DeliverSignal>()[0].signal, kSigChld);
    }
  }
}

TEST(Timed, S_TIMED_26_the_timer_table_belongs_to_the_process) {
  Rig rig;
  rig.root(100);
  rig.thread(101, 100);
  const std::int64_t id = rig->posix_timers(rig->process_of(T(100))).create(kSigUsr1);
  EXPECT_TRUE(rig->posix_timers(rig->process_of(T(101))).read(id, ns(0)));
  rig->register_thread(T(200), T(100), P(100), {}, kSigChld, 0, std::nullopt, AS(200));
  EXPECT_FALSE(rig->posix_timers(P(200)).read(id, ns(0)));
}

TEST(Timed, S_TIMED_27_a_futex_wait_and_a_sleep_are_due) {
  Rig rig;
  rig.root(19);
  rig.process(21, 19), rig.process(22, 19);
  const CallId timed_out = rig.wait_futex(21, rig.key(0x10), kFullFutexMask, E(100));
  rig.sleep(22, E(100));
  rig.fill(19);
  rig->clock_.add_extra(ns(100));
  rig.step();
  EXPECT_FALSE(rig->futexes_.waiting(T(21)));
  EXPECT_EQ(rig->running(), T(21));  // the front of its band, ahead of 19
  EXPECT_EQ(rig.get<FutexAnswer>(timed_out).status, FutexStatus::kTimedOut);
  EXPECT_TRUE(rig->timed_.thread_deadline(T(22)));
  rig.fill(21);
  rig.step();
  EXPECT_EQ(rig->running(), T(22));
}

TEST(Timed, TIMED_18_signals_without_name_are_fatal) {
  Rig rig;
  rig.root(100);
  EXPECT_DEATH(rig.send(100, SetPosixTimer{1, E(5), {}, Signal{65}}), "has no name");
}

TEST(Timed, a_posix_timer_fires_its_signal_and_rearms) {
  Rig rig;
  rig.root(100);
  rig.send(100, SetPosixTimer{1, E(100), ns(50), kSigUsr1});
  rig.sleep(100, E(10'000));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  ASSERT_EQ(rig.effects<DeliverSignal>().size(), 1u);
  EXPECT_EQ(rig.effects<DeliverSignal>()[0].signal, kSigUsr1);
  EXPECT_TRUE(rig.request(100).is(ResourceKind::kInboundSignal));  // SIG-18: the sleeper is unblocked
  EXPECT_EQ(rig->timed_.posix(P(100), 1)->time, E(150));
}

TEST(Timed, recordings_leave_waiting_to_the_host) {
  CoreConfig config = cancelling();
  config.policy = RunPolicy::kRecord;
  Rig rig(config);
  rig.root(3);
  rig.process(5, 3);
  rig.fill(3, Resource::sleep_until(E(100)));
  const CallId call = rig.wait_futex(5, rig.key(0x10), kFullFutexMask, E(200));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig.kind(), StepKind::kWaitExternal);
  EXPECT_EQ(rig.effects<ArmHostTimer>().size(), 2u);
  EXPECT_TRUE(rig->timed_.empty());
  rig->host_expired(T(5));
  EXPECT_EQ(rig.step().thread, T(5));
  EXPECT_EQ(rig.get<FutexAnswer>(call).status, FutexStatus::kTimedOut);
  EXPECT_EQ(rig->clock().value(), E());  // no jump
  rig.fill(5);
  rig->host_expired(T(3));
  const StepResult r = rig.step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(3));
  rig.fill(3, Resource::sleep_until(E(100)));  // another sleep is another wait
  EXPECT_EQ(rig.step().thread, T(5));
  rig.fill(5);
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_TRUE(rig->host_waits_.contains(T(3)));
}

}  // namespace
}  // namespace detrec::core::testing
