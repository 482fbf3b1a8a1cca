// Waiting, groups, sessions, kill targets, exits, CPU time: WAIT, KILL, EXIT, CPU.
#include "server/core/helper/guest_thread.h"
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

CoreConfig reporting() {
  CoreConfig c = cancelling();
  c.reports_physical_exits = true;
  return c;
}
WaitSpec any(int owner = 0, ExitClass cls = ExitClass::kAll) {
  return {WaitSpec::Selector::kAny, {}, T(owner), cls};
}
ChildStatus child_state(Rig& rig, int parent, int child) {
  return rig.get<ChildStateAnswer>(rig.send(parent, ChildState{P(child)})).status;
}
bool consume(Rig& rig, int parent, int child) {
  return rig.get<BoolAnswer>(rig.send(parent, ConsumeChild{P(child)})).value;
}
CallId wait_for(Rig& rig, int tid, int parent, WaitSpec spec) {
  return rig.send(tid, RequestResources{ResourceRequest::one(Resource::wait_child(P(parent), spec))});
}

TEST(Wait, S_WAIT_1_states_without_physical_reports) {
  Rig rig(cancelling());
  rig.root(1);
  rig.process(17, 1);
  EXPECT_EQ(child_state(rig, 1, 17), ChildStatus::kRunning);
  EXPECT_EQ(child_state(rig, 17, 1), ChildStatus::kUnknown);
  rig->kill_thread(T(17), AS(17));
  EXPECT_EQ(child_state(rig, 1, 17), ChildStatus::kLogicallyExited);
  EXPECT_TRUE(consume(rig, 1, 17));
  EXPECT_EQ(child_state(rig, 1, 17), ChildStatus::kUnknown);
}

TEST(Wait, S_WAIT_2_states_with_physical_reports) {
  Rig rig(reporting());
  rig.root(1);
  rig.process(17, 1);
  rig->kill_thread(T(17), AS(17));
  EXPECT_EQ(child_state(rig, 1, 17), ChildStatus::kPhysicalExitPending);
  rig->complete_physical_exit(P(17));
  EXPECT_EQ(child_state(rig, 1, 17), ChildStatus::kPhysicallyExited);
}

TEST(Wait, S_WAIT_3_the_lowest_child_first) {
  Rig rig(cancelling());
  rig.root(1);
  for (const int t : {42, 41}) {
    rig.process(t, 1);
    rig->kill_thread(T(t), AS(t));
  }
  EXPECT_EQ(rig.get<ReadyAnswer>(rig.send(1, ReadyChild{any()})).child, P(41));
  consume(rig, 1, 41);
  EXPECT_EQ(rig.get<ReadyAnswer>(rig.send(1, ReadyChild{any()})).child, P(42));
}

TEST(Wait, S_WAIT_4_exit_classes) {
  WaitBook w;
  w.add_root(P(1));
  w.add_child(P(41), P(1), T(1), kSigChld, false);
  w.add_child(P(42), P(1), T(1), {}, false);
  for (const int c : {41, 42}) w.mark_exited(P(c));
  EXPECT_TRUE(w.matches(P(41), P(1), any(0, ExitClass::kChildSignal)));
  EXPECT_FALSE(w.matches(P(42), P(1), any(0, ExitClass::kChildSignal)));
  EXPECT_FALSE(w.matches(P(41), P(1), any(0, ExitClass::kClone)));
  EXPECT_TRUE(w.matches(P(42), P(1), any(0, ExitClass::kClone)));
  EXPECT_TRUE(w.matches(P(41), P(1), any()));
  EXPECT_TRUE(w.matches(P(42), P(1), any()));
}

TEST(Wait, S_WAIT_5_owner_restriction) {
  WaitBook w;
  w.add_root(P(100));
  w.add_child(P(200), P(100), T(101), kSigChld, false);
  EXPECT_FALSE(w.matches(P(200), P(100), any(100)));
  EXPECT_TRUE(w.matches(P(200), P(100), any(101)));
  EXPECT_TRUE(w.matches(P(200), P(100), any()));
}

TEST(Wait, S_WAIT_6_clone_parent) {
  WaitBook w;
  w.add_root(P(100));
  w.add_child(P(200), P(100), T(101), kSigChld, false);
  w.add_child(P(300), P(200), T(200), kSigChld, true);
  EXPECT_TRUE(w.matches(P(300), P(100), any()));
  EXPECT_FALSE(w.matches(P(300), P(200), any()));
  EXPECT_EQ(w.meta(P(300))->owner, T(101));
}

TEST(Wait, S_WAIT_7_waiters_are_released_at_the_drain) {
  Rig rig(cancelling());
  rig.root(1);
  rig.process(17, 1), rig.process(50, 17), rig.process(60, 17);
  for (const int t : {17, 50, 60}) rig.fill(t);
  wait_for(rig, 1, 1, any());
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_TRUE(rig->child_waiters_.contains(T(1)));
  EXPECT_EQ(rig->turn().value, 1u);
  rig->kill_thread(T(50), AS(50));
  EXPECT_TRUE(rig->child_waiters_.contains(T(1)));
  rig->kill_thread(T(17), AS(17));
  EXPECT_FALSE(rig->child_waiters_.contains(T(1)));
  EXPECT_TRUE(rig->admissions_.contains(T(1)));
}

TEST(Wait, S_WAIT_8_nothing_to_wait_for) {
  Rig rig;
  rig.root(1);
  const CallId call = wait_for(rig, 1, 1, any());
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_EQ(rig.reply(call).kind, TurnReplyKind::kGo);
}

TEST(Wait, S_WAIT_9_only_the_parent_consumes_once) {
  Rig rig(cancelling());
  rig.root(1);
  rig.process(17, 1), rig.process(18, 1);
  rig->kill_thread(T(17), AS(17));
  EXPECT_FALSE(consume(rig, 18, 17));
  EXPECT_TRUE(consume(rig, 1, 17));
  EXPECT_FALSE(consume(rig, 1, 17));
}

TEST(Wait, S_WAIT_10_physical_exits) {
  for (const bool early : {true, false}) {
    Rig rig(reporting());
    rig.root(1);
    rig.process(17, 1), rig.thread(2, 1);
    rig.fill(2);
    rig->kill_thread(T(17), AS(17));
    if (early) rig->complete_physical_exit(P(17));
    rig.fill(1, Resource::wait_physical(P(17)));
    rig->queue_.remove(T(2));
    rig->queue_.push_back(T(2));
    StepResult r = rig.step();
    if (early) {
      EXPECT_EQ(r.kind, StepKind::kGranted);
      EXPECT_EQ(r.thread, T(1));
      continue;
    }
    EXPECT_EQ(r.kind, StepKind::kSkip);
    EXPECT_EQ(rig.kind(), StepKind::kWaitExternal);  // the sibling is not selected
    rig->complete_physical_exit(P(17));
    r = rig.step();
    EXPECT_EQ(r.thread, T(2));
    EXPECT_TRUE(rig->queue_.contains(T(1)));
  }
}

TEST(Wait, S_WAIT_11_groups_and_sessions) {
  Rig rig;
  rig.root(1);
  rig.process(5, 1), rig.process(6, 1);
  EXPECT_EQ(rig.get<NumberAnswer>(rig.send(1, GetProcessGroup{P(5)})).number, 1u);
  EXPECT_TRUE(rig.get<BoolAnswer>(rig.send(1, SetProcessGroup{P(6), P(5)})).value);
  EXPECT_TRUE(rig.get<BoolAnswer>(rig.send(5, CreateSession{P(5)})).value);
  EXPECT_EQ(rig.get<NumberAnswer>(rig.send(1, GetProcessGroup{P(5)})).number, 5u);
  EXPECT_EQ(rig->waits_.meta(P(5))->session, P(5));
  EXPECT_TRUE(rig->waits_.matches(P(6), P(1), {WaitSpec::Selector::kGroup, P(5), {}, ExitClass::kAll}));
  EXPECT_FALSE(rig.get<NumberAnswer>(rig.send(1, GetProcessGroup{P(99)})).number);
  EXPECT_FALSE(rig.get<BoolAnswer>(rig.send(1, SetProcessGroup{P(99), P(5)})).value);
  EXPECT_FALSE(rig.get<BoolAnswer>(rig.send(1, CreateSession{P(99)})).value);
  EXPECT_TRUE(rig.effects<DeliverSignal>().empty());  // WAIT-14
}

TEST(Wait, S_WAIT_12_the_exact_wait_helper) {
  const auto asks = [](const std::optional<Request>& r) {
    return r && std::holds_alternative<ChildState>(*r);
  };
  const auto parks = [](const std::optional<Request>& r) {
    return r && std::holds_alternative<RequestResources>(*r);
  };
  ExactWait pending(P(17));
  EXPECT_TRUE(asks(pending.next()));
  pending.told(ChildStatus::kPhysicalExitPending);
  EXPECT_TRUE(parks(pending.next()));
  pending.woken();
  EXPECT_TRUE(asks(pending.next()));
  pending.told(ChildStatus::kPhysicallyExited);
  EXPECT_FALSE(pending.next());
  EXPECT_EQ(pending.status(), ChildStatus::kPhysicallyExited);
  for (const ChildStatus known :
       {ChildStatus::kUnknown, ChildStatus::kRunning, ChildStatus::kPhysicallyExited}) {
    ExactWait wait(P(17));
    EXPECT_TRUE(asks(wait.next()));
    wait.told(known);
    EXPECT_FALSE(wait.next());
  }
}

TEST(Wait, S_WAIT_13_inherited_metadata) {
  WaitBook w;
  w.add_root(P(3));
  w.add_child(P(5), P(3), T(3), kSigChld, false);
  w.add_child(P(7), P(5), T(5), kSigChld, false);
  for (const int p : {3, 5, 7}) {
    EXPECT_EQ(w.meta(P(p))->group, P(3));
    EXPECT_EQ(w.meta(P(p))->session, P(3));
  }
  EXPECT_EQ(w.meta(P(5))->parent, P(3));
  EXPECT_EQ(w.meta(P(7))->parent, P(5));
}

TEST(Kill, S_KILL_1_targets) {
  Rig rig;
  rig.root(100);
  rig.thread(102, 100), rig.thread(101, 100);
  const auto targets = [&](int pid) {
    return rig.get<ThreadsAnswer>(rig.send(100, KillTargets{pid})).threads;
  };
  EXPECT_EQ(targets(100), Ts({100, 101, 102}));
  EXPECT_TRUE(targets(101).empty());
  EXPECT_TRUE(targets(999).empty());
}

TEST(Kill, S_KILL_2_live_threads) {
  Rig rig;
  rig.root(100);
  rig.thread(101, 100), rig.thread(102, 100);
  rig->kill_thread(T(102), AS(100));
  EXPECT_TRUE(rig.get<BoolAnswer>(rig.send(100, IsThreadLive{T(101)})).value);
  EXPECT_FALSE(rig.get<BoolAnswer>(rig.send(100, IsThreadLive{T(102)})).value);
}

TEST(Kill, S_KILL_3_noted_signals_interrupt_a_child_wait) {
  Rig rig;
  rig.root(100);
  rig.process(200, 100);
  const CallId call = wait_for(rig, 100, 100, any());
  rig.fill(200);
  rig.step();
  ASSERT_TRUE(rig->child_waiters_.contains(T(100)));
  for (const Signal s : {kSigUsr1, kSigUsr1, kSigUsr2})
    EXPECT_TRUE(rig.acknowledged(rig.send(200, SignalPending{T(100), s, std::nullopt})));
  rig->drain();
  EXPECT_TRUE(rig.request(100).is(ResourceKind::kPendingSignals));
  rig.step();
  rig.fill(200);
  rig.step();
  EXPECT_THAT(rig.reply(call).signals.list(), ElementsAre(kSigUsr1, kSigUsr2));
}

TEST(Kill, S_KILL_4_running_targets_are_not_noted) {
  Rig rig;
  rig.root(100);
  rig.process(200, 100);
  rig.send(200, SignalPending{T(100), kSigUsr1, std::nullopt});
  EXPECT_TRUE(rig->signal_notes_.empty());
  EXPECT_TRUE(
      rig.acknowledged(rig.send(200, SignalPending{T(100), kSigKill, P(100)})));  // KILL-4: no handles here
  EXPECT_TRUE(rig->is_registered(T(100)));
  rig.fill(100, Resource::polled_io());
  rig.send(200, SignalPending{T(100), Signal{40}, std::nullopt});  // SIG-22: by number
  EXPECT_TRUE(rig->signal_notes_.at(T(100)).contains(Signal{40}));
}

TEST(Kill, S_KILL_6_only_sole_targets_are_announced) {
  EXPECT_TRUE(pending_note(false, Ts({101}), kSigUsr1, std::nullopt));
  EXPECT_EQ(pending_note(false, Ts({101}), kSigUsr1, std::nullopt)->target, T(101));
  EXPECT_FALSE(pending_note(true, Ts({101}), kSigUsr1, std::nullopt));
  EXPECT_FALSE(pending_note(false, Ts({101, 102}), kSigUsr1, std::nullopt));
}

// --- EXIT ---

TEST(Exit, S_EXIT_1_a_group_exit_kills_the_others_first) {
  Rig rig(cancelling());
  rig.root(1);
  rig->queue_.remove(T(1));
  rig.process(17, 1);
  rig.thread(18, 17), rig.thread(19, 17);
  const CallId exit =
      rig.send(17, RequestResources{ResourceRequest::one(Resource::exit(true, P(17), AS(17)))});
  const CallId others[] = {rig.send(18, RequestResources{}), rig.send(19, RequestResources{})};
  EXPECT_EQ(rig.step().thread, T(17));
  EXPECT_FALSE(rig.refused(exit));
  EXPECT_EQ(rig->live_threads(P(17)), Ts({17}));
  for (const CallId call : others) EXPECT_TRUE(rig.refused(call));
  EXPECT_EQ(rig.order[0], exit);
}

TEST(Exit, S_EXIT_2_a_dead_thread_s_exit_touches_nobody) {
  Rig rig(cancelling());
  rig.root(17);
  rig.thread(18, 17), rig.thread(19, 17);
  const CallId exit =
      rig.send(17, RequestResources{ResourceRequest::one(Resource::exit(true, P(17), AS(17)))});
  rig.fill(18), rig.fill(19);
  EXPECT_EQ(rig->step().thread, T(17));
  rig->kill_thread(T(17), AS(17));
  rig.collect();
  EXPECT_TRUE(rig.refused(exit));
  EXPECT_EQ(rig->live_threads(P(17)), Ts({18, 19}));
}

TEST(Exit, S_EXIT_3_death_is_idempotent) {
  Rig rig(cancelling());
  rig.root(1);
  rig.process(17, 1);
  rig->kill_thread(T(17), AS(17));
  rig->drain();
  const std::string before = rig->state_text();
  rig->kill_thread(T(17), AS(17));
  EXPECT_EQ(rig->state_text(), before);
  EXPECT_EQ(rig->removals_.size(), 1u);
}

TEST(Exit, S_EXIT_4_the_last_thread_ends_the_process) {
  Rig rig(cancelling());
  rig.root(1);
  rig.process(17, 1);
  rig.thread(18, 17);
  rig.fill(17), rig.fill(18);
  wait_for(rig, 1, 1, any());
  rig.step();
  rig->kill_thread(T(17), AS(17));
  EXPECT_FALSE(rig->process_exited(P(17)));
  EXPECT_TRUE(rig->child_waiters_.contains(T(1)));
  rig->kill_thread(T(18), AS(17));
  EXPECT_TRUE(rig->process_exited(P(17)));
  EXPECT_TRUE(rig->admissions_.contains(T(1)));
}

TEST(Exit, S_EXIT_5_accounting_a_tombstoned_thread) {
  auto rig = fx_one();
  rig->thread(18, 17);
  rig->as[18] = AS(17);
  rig->core->kill_thread(T(18), AS(17));
  const GlobalClock before = rig->core->clock();
  rig->clock[18].advance_by(ns(70));
  for (int i = 0; i < 2; ++i) rig->send(18, rig->leaving(18, 17, 2, {5}));
  EXPECT_EQ(rig->core->syscalls_.at(T(18)), 2u);
  EXPECT_EQ(rig->core->slices_.at(T(18)), (TimesliceStats{1, 5, 5, 5}));
  EXPECT_EQ(rig->core->clock(), before);
}

TEST(Exit, S_EXIT_6_releasing_all_physical_exits) {
  Rig rig(reporting());
  rig.root(1);
  for (const int t : {5, 6, 7}) rig.process(t, 1);
  for (const int t : {5, 6, 7}) rig->kill_thread(T(t), AS(t));
  rig.fill(1, Resource::wait_physical(P(6)));
  rig.step();
  ASSERT_TRUE(rig->physical_waiters_.contains(T(1)));
  EXPECT_EQ(rig->release_all_physical_exits(), 3u);
  EXPECT_EQ(rig->release_all_physical_exits(), 0u);
  EXPECT_TRUE(rig->admissions_.contains(T(1)));
}

TEST(Exit, S_EXIT_7_the_post_exit_event) {
  CoreConfig config = cancelling();
  config.record_schedule = true;
  Rig rig(config);
  rig.root(17);
  rig.clock[17].advance_by(ns(4'000));
  rig.send(17, RequestResources{ResourceRequest::one(Resource::exit(false, P(17), AS(17)))});
  rig.step();
  const auto& events = rig->writer_->record().events;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].op.kind, OperationKind::kPostExit);
  EXPECT_EQ(events[0].end_time, ns(4'000));
}

TEST(Exit, S_EXIT_8_death_leaves_every_pool) {
  auto rig = fx_one();
  TestCore& core = *rig->core;
  rig->thread(18, 17);
  rig->wait_futex(18, rig->key(0x1234, 17));
  core.record(T(17))->child_tid_address = 0x1234;
  core.staged_slices_[T(17)] = ns(5);
  rig->sleep(17, E(900));
  core.parked_[{T(17), 1}] = {};
  core.kill_thread(T(17), AS(17));
  EXPECT_TRUE(core.timed_.empty());
  EXPECT_TRUE(core.parked_.empty());
  EXPECT_TRUE(core.staged_slices_.empty());
  EXPECT_TRUE(core.cleared_[17].contains(rig->key(0x1234, 17)));
  EXPECT_TRUE(core.admissions_.contains(T(18)));
  EXPECT_FALSE(core.arena_.turn(core.arena_.find(T(17))).request.value().exited);  // it was filled
}

TEST(Exit, S_EXIT_9_frozen_siblings_are_only_marked) {
  auto rig = fx_one();
  for (const int t : {18, 19}) rig->thread(t, 17);
  rig->core->preparations_[P(17)] = {T(17), AS(17), {}, {T(18)}, {}};
  rig->send(18, rig->leaving(18, 17, 1));
  rig->send(19, rig->leaving(19, 17, 2));
  EXPECT_EQ(rig->core->syscalls_.at(T(18)), 1u);
  EXPECT_EQ(rig->core->syscalls_.at(T(19)), 2u);
  EXPECT_TRUE(rig->core->is_registered(T(18)));
  EXPECT_TRUE(rig->core->preparations_.at(P(17)).observed.contains(T(18)));
  EXPECT_TRUE(rig->core->is_tombstoned(T(19)));
}

TEST(Cpu, S_CPU_1_process_time) {
  CpuBook book;
  for (int i = 0; i < 2; ++i) book.account(P(17), T(17), ns(30), ns(40));
  book.account(P(17), T(18), ns(5), ns(6));
  EXPECT_EQ(book.of(P(17)), (CpuTime{ns(35), ns(46)}));
  book.process_ended(P(17), P(1));
  EXPECT_EQ(book.exited_children(P(1)).at(P(17)), (CpuTime{ns(35), ns(46)}));
  for (int i = 0; i < 2; ++i) {
    book.reap(P(1), P(17));
    EXPECT_EQ(book.children_of(P(1)), (CpuTime{ns(35), ns(46)}));
  }
}

TEST(Cpu, CPU_4_the_survivor_of_an_exec_goes_on) {
  CpuBook book;
  book.account(P(17), T(17), ns(30), ns(40));
  book.account(P(17), T(18), ns(5), ns(6));
  book.move_owner(T(18), T(17));
  book.account(P(17), T(17), ns(7), ns(6));
  EXPECT_EQ(book.of(P(17)), (CpuTime{ns(37), ns(46)}));
}

TEST(Cpu, CPU_4_a_reloaded_image_counts_from_its_own_zero) {
  for (const int caller : {17, 18}) {
    auto rig = fx_one();
    rig->thread(18, 17);
    rig->as[18] = AS(17);
    rig->clock[17].add_syscall(ns(100));
    rig->send(17, AskGlobalTime{});
    rig->clock[18] = rig->clock[17].child_copy();
    rig->send(18, StartThread{});
    rig->clock[18].add_syscall(ns(30));
    rig->send(18, AskGlobalTime{});
    rig->send(caller, PrepareExec{P(17), AS(17), {}});
    rig->clock[17] = ThreadClock();
    rig->as[17] = AS(17, 1);
    const CallId reconnect = rig->send(17, RegisterChild{T(17), P(17), 0, {}, {}, std::nullopt});
    rig->clock[17].advance_to(*rig->time(reconnect));
    rig->send(17, StartThread{});
    EXPECT_EQ(rig->core->cpu().of(P(17)), (CpuTime{{}, ns(130)})) << caller;
    rig->clock[17].add_syscall(ns(7));
    rig->send(17, AskGlobalTime{});
    EXPECT_EQ(rig->core->cpu().of(P(17)), (CpuTime{{}, ns(137)})) << caller;
  }
}

TEST(Cpu, CPU_1_messages_feed_the_record_without_history) {
  auto rig = fx_one();
  rig->clock[17].add_syscall(ns(100));
  rig->send(17, AskGlobalTime{});
  rig->thread(18, 17);
  rig->as[18] = AS(17);
  rig->clock[18] = rig->clock[17].child_copy();
  rig->send(18, StartThread{});
  EXPECT_EQ(rig->core->cpu().of(P(17)), (CpuTime{{}, ns(100)}));
  rig->clock[18].add_ticks(2);
  rig->send(18, AskGlobalTime{});
  EXPECT_EQ(rig->core->cpu().of(P(17)), (CpuTime{ns(20), ns(100)}));
}

}  // namespace
}  // namespace detrec::core::testing
