// Exec with identity take-over (EXEC-1 .. EXEC-26, EXEC-43 .. EXEC-46, EXEC-54, EXEC-55).
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

RegisterChild again(int process, std::uint64_t address = 0, std::optional<Priority> priority = std::nullopt) {
  return {T(process), P(process), address, {}, {}, priority};
}
ThreadClock elapsed(std::uint64_t v) {
  ThreadClock c;
  c.advance_by(ns(v));
  return c;
}
bool was_cleared(Rig& rig, int tid, AddressSpaceId as, std::uint64_t address) {
  const auto it = rig->cleared_.find(static_cast<std::uint32_t>(tid));
  return it != rig->cleared_.end() && it->second.contains(FutexKey::private_key(as, address));
}

// FX-GROUP
std::unique_ptr<Rig> fx_group(CoreConfig config = cancelling()) {
  auto rig = std::make_unique<Rig>(std::move(config));
  rig->root(1);
  rig->core->queue_.remove(T(1));
  rig->process(17, 1);
  for (const int t : {18, 19, 23}) rig->thread(t, 17);
  rig->core->tree_.add(T(13), T(17), false);
  rig->process(31, 17);
  rig->core->turn_ = {41};
  rig->core->clock_.add_extra(ns(17'000));
  rig->core->committed_ = E(17'000);
  return rig;
}
/// Leader 17 and worker 18, queued.
std::unique_ptr<Rig> pair_of(CoreConfig config = cancelling()) {
  auto rig = std::make_unique<Rig>(std::move(config));
  rig->root(17);
  rig->thread(18, 17);
  return rig;
}

TEST(Exec, S_EXEC_1_a_worker_s_exec_by_reload) {
  auto rig = fx_one(false);
  rig->core->queue_.remove(T(17));
  rig->root(17);
  rig->thread(18, 17);
  const ThreadClock ancestor = elapsed(1'000);
  ThreadClock leader = ancestor.child_copy();
  leader.advance_by(ns(100));
  ThreadClock worker = leader.child_copy();
  worker.advance_by(ns(250));
  rig->core->clock_.report(T(16), ancestor);
  rig->core->clock_.report(T(17), leader);
  rig->core->clock_.report(T(18), worker);
  rig->clock[17] = leader, rig->clock[18] = worker;
  ASSERT_EQ(rig->core->clock().value(), E(1'350));
  EXPECT_TRUE(rig->acknowledged(rig->send(18, PrepareExec{P(17), AS(17), {}})));
  EXPECT_TRUE(rig->acknowledged(rig->send(18, CancelExec{P(17)})));
  EXPECT_TRUE(rig->core->preparations_.empty());
  EXPECT_EQ(rig->core->clock().value(), E(1'350));
  EXPECT_EQ(rig->core->clock().time_of(T(18)), E(1'350));
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  rig->clock[17] = ThreadClock();
  const CallId reconnect = rig->send_as(17, AS(17, 1), again(17));
  EXPECT_EQ(rig->get<ReconnectAnswer>(reconnect).as, AS(17, 1));
  EXPECT_EQ(rig->time(reconnect), E(1'350));
  rig->clock[17] = leader;
  EXPECT_TRUE(rig->refused(rig->send_as(17, AS(17, 0), AskGlobalTime{})));
  EXPECT_EQ(rig->core->clock().value(), E(1'350));
  rig->clock[17] = ThreadClock();
  rig->clock[17].advance_to(*rig->time(reconnect));
  rig->as[17] = AS(17, 1);
  const CallId start = rig->send(17, StartThread{});
  EXPECT_EQ(rig->core->clock().value(), E(1'350));
  EXPECT_EQ(rig->step().thread, T(17));
  EXPECT_FALSE(rig->pending(start));
  EXPECT_EQ(rig->core->clock().value(), E(1'350));
  rig->clock[17].advance_by(ns(1));
  rig->send(17, AskGlobalTime{});
  EXPECT_EQ(rig->core->clock().value(), E(1'351));
  EXPECT_EQ(rig->core->clock().time_of(T(17)), rig->clock[17].value());
  EXPECT_FALSE(rig->core->clock().contains(T(18)));
  EXPECT_EQ(rig->clock[17].inherited(), ns(0));
}

TEST(Exec, S_EXEC_2_the_leader_s_exec) {  // without host ids, which we do not need
  auto rig = pair_of();
  for (const int t : {17, 18}) rig->as[t] = AS(17, 1);
  rig->core->record(T(18))->child_tid_address = 0x1234;
  rig->clock[17].add_syscall();
  rig->clock[17].add_syscall();
  rig->send(17, PrepareExec{P(17), AS(17, 1), {}});
  const LogicalTime before = rig->core->clock().value();
  const AddressSpaceId candidate = AS(17, 2);
  EXPECT_TRUE(rig->acknowledged(rig->send_as(17, candidate, ReportUnsupported{"x"})));  // EXEC-11
  EXPECT_TRUE(rig->refused(rig->send_as(18, AS(99), PrepareExec{P(17), AS(17, 1), {}})));
  const SlotId watch = rig->core->watch_request(T(18));
  const CallId reconnect = rig->send_as(17, candidate, again(17));
  EXPECT_EQ(rig->get<ReconnectAnswer>(reconnect).as, candidate);
  EXPECT_EQ(rig->time(reconnect), before);
  rig->as[17] = candidate;
  rig->send(17, StartThread{});
  EXPECT_TRUE(rig->core->is_tombstoned(T(18)));
  EXPECT_EQ(rig->core->watched(watch), Core::RequestState::kExited);
  EXPECT_TRUE(was_cleared(*rig, 18, AS(17, 1), 0x1234));
  EXPECT_EQ(rig->core->live_threads(P(17)), Ts({17}));
  EXPECT_EQ(rig->core->clock().value(), before);
  EXPECT_EQ(rig->core->clock().time_of(T(17)), before);
}

TEST(Exec, S_EXEC_3_a_worker_takes_the_leader_s_identity) {
  auto rig = pair_of();
  rig->thread(19, 17);
  for (const int t : {17, 18, 19}) rig->as[t] = AS(17, 1);
  rig->core->record(T(19))->child_tid_address = 0x5678;
  rig->core->staged_slices_[T(17)] = ns(99);
  rig->core->barriers_[T(17)].child = T(19);
  rig->clock[17].add_syscall();
  for (int i = 0; i < 3; ++i) rig->clock[18].add_syscall();
  rig->send(17, AskGlobalTime{});
  rig->send(18, PrepareExec{P(17), AS(17, 1), {42}});
  const LogicalTime total = rig->core->clock().value(), worker = rig->core->clock().time_of(T(18));
  SlotId watches[3];
  for (int i = 0; i < 3; ++i) watches[i] = rig->core->watch_request(T(17 + i));
  const ThreadClock old = rig->clock[17];
  rig->clock[17] = ThreadClock();
  const CallId reconnect = rig->send_as(17, AS(17, 2), again(17));
  EXPECT_EQ(rig->get<ReconnectAnswer>(reconnect).as, AS(17, 2));
  EXPECT_EQ(rig->time(reconnect), worker);
  EXPECT_TRUE(rig->core->preparations_.empty());
  EXPECT_EQ(rig->core->restored_.at(T(17)), std::vector<int>{42});
  rig->clock[17] = old;
  EXPECT_TRUE(rig->refused(rig->send_as(17, AS(17, 1), AskGlobalTime{})));  // EXEC-41
  EXPECT_TRUE(rig->acknowledged(rig->send_as(17, AS(17, 1), rig->leaving(17, 17, 5))));
  EXPECT_FALSE(rig->core->syscalls_.contains(T(17)));
  EXPECT_TRUE(rig->refused(rig->send_as(17, AS(17, 1), again(17))));  // EXEC-14
  EXPECT_FALSE(rig->core->is_tombstoned(T(17)));
  EXPECT_TRUE(rig->core->is_tombstoned(T(18)));
  EXPECT_TRUE(rig->core->is_tombstoned(T(19)));
  for (const SlotId w : watches) EXPECT_EQ(rig->core->watched(w), Core::RequestState::kExited);
  EXPECT_FALSE(rig->core->staged_slices_.contains(T(17)));
  EXPECT_TRUE(rig->core->barriers_.empty());
  EXPECT_TRUE(was_cleared(*rig, 19, AS(17, 1), 0x5678));
  rig->as[17] = AS(17, 2);
  rig->clock[17] = ThreadClock();
  rig->clock[17].advance_to(worker);
  rig->send(17, StartThread{});
  EXPECT_EQ(rig->step().thread, T(17));
  EXPECT_THAT(rig->queued(), ElementsAre(17));
  EXPECT_EQ(rig->core->clock().value(), total);
  EXPECT_EQ(rig->core->clock().time_of(T(17)), worker);
  EXPECT_FALSE(rig->core->clock().contains(T(18)));
  EXPECT_EQ(rig->get<ExecAnswer>(rig->send(17, ExecCompleted{P(17), std::nullopt})).restored,
            std::vector<int>{42});
  EXPECT_TRUE(rig->get<ExecAnswer>(rig->send(17, ExecCompleted{P(17), std::nullopt})).restored.empty());
}

TEST(Exec, S_EXEC_4_prepare_and_cancel) {
  auto rig = pair_of();
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  EXPECT_TRUE(rig->core->preparations_.contains(P(17)));
  rig->send(18, CancelExec{P(17)});  // not the caller
  EXPECT_TRUE(rig->core->preparations_.contains(P(17)));
  rig->send(17, CancelExec{P(17)});
  EXPECT_TRUE(rig->core->preparations_.empty());
  EXPECT_EQ(rig->core->live_threads(P(17)), Ts({17, 18}));
}

TEST(Exec, S_EXEC_5_the_end_of_the_caller_ends_its_preparation) {
  for (const int how : {0, 1, 2}) {
    CoreConfig config = cancelling();
    config.reports_physical_exits = true;
    auto rig = fx_one(true, config);
    rig->send(17, PrepareExec{P(17), AS(17), {}});
    rig->core->restored_[T(17)] = {42};
    if (how == 2) {
      rig->core->complete_physical_exit(P(17));
    } else {
      rig->as[17] = how == 0 ? AS(17) : AS(17, 1);
      EXPECT_TRUE(rig->acknowledged(rig->send(17, rig->leaving(17, 17))));
    }
    EXPECT_TRUE(rig->core->preparations_.empty());
    EXPECT_FALSE(rig->core->restored_.contains(T(17)));
  }
}

TEST(Exec, S_EXEC_22_removal_and_admission_are_recorded_together) {
  auto rig = pair_of();
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  const SlotId watch = rig->core->watch_request(T(17));
  rig->send_as(17, AS(17, 1), again(17));
  EXPECT_EQ(rig->core->watched(watch), Core::RequestState::kExited);
  EXPECT_TRUE(rig->core->removals_.contains(T(17)));
  EXPECT_TRUE(rig->core->admissions_.contains(T(17)));
  rig->core->drain();
  EXPECT_THAT(rig->queued(), ElementsAre(17));
}

TEST(Exec, S_EXEC_23_death_before_the_drain) {
  auto rig = pair_of();
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  rig->send_as(17, AS(17, 1), again(17));
  rig->core->kill_thread(T(17), AS(17, 1));
  EXPECT_EQ(rig->core->removals_.at(T(17)), TestCore::Removal::kRetire);
  EXPECT_FALSE(rig->core->admissions_.contains(T(17)));
  rig->core->drain();
  EXPECT_TRUE(rig->queued().empty());
  EXPECT_FALSE(rig->core->is_registered(T(17)));
}

TEST(Exec, S_EXEC_24_inside_a_selection_window) {
  auto rig = pair_of();
  rig->process(3, 17);
  rig->core->queue_.select_exact(T(3));
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  rig->send_as(17, AS(17, 1), again(17));
  EXPECT_THAT(rig->queued_sorted(), ElementsAre(3, 17, 18));
  rig->core->queue_.undo();
  rig->core->drain();
  EXPECT_THAT(rig->queued_sorted(), ElementsAre(3, 17));
}

std::string exec_25(int idle_steps, bool before, bool caller_filled) {
  CoreConfig config = cancelling();
  config.post_fork = PostForkPolicy::kRandom;
  config.scheduler_seed = 0x5107;
  auto rig = std::make_unique<Rig>(config);
  rig->root(17, 1);
  rig->thread(18, 17);
  rig->known(31, 17, true), rig->known(37, 17, true);
  for (const int t : {31, 37}) rig->core->admit_at_drain(T(t), TestCore::Admit::kPostFork);
  rig->fill(17);
  rig->core->barriers_[T(31)] = {};  // stops the turn after the drain
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  if (caller_filled) rig->fill(18);
  if (before) rig->send_as(17, AS(17, 1), again(17));
  for (int i = 0; i < idle_steps + 1; ++i) rig->step();
  if (!before) {
    rig->send_as(17, AS(17, 1), again(17));
    rig->step();
  }
  std::string out = fmt::format("turn {} draw {} queue", rig->core->turn().value,
                                rig->core->queue_.draw_post_fork_front(PostForkPolicy::kRandom));
  for (const int t : rig->queued()) out += fmt::format(" {}", t);
  return out;
}

TEST(Exec, S_EXEC_25_host_delays_change_nothing) {
  const std::string expected = exec_25(0, true, false);
  for (const int delay : {0, 1, 64}) EXPECT_EQ(exec_25(delay, false, false), expected);
  EXPECT_THAT(expected, HasSubstr(" 17"));
  EXPECT_THAT(expected, Not(HasSubstr(" 18")));
  EXPECT_NE(exec_25(0, false, true), expected);  // control: a caller that has asked does not hold the loop
}

std::vector<int> sorted(std::vector<int> list) {
  std::sort(list.begin(), list.end());
  return list;
}
/// The threads whose blocked calls were refused, in that order.
std::vector<int> died(Rig& rig, const std::vector<int>& threads, const std::vector<CallId>& calls) {
  std::vector<int> out;
  for (const CallId call : rig.order) {
    const auto at = std::find(calls.begin(), calls.end(), call) - calls.begin();
    if (at != static_cast<std::ptrdiff_t>(calls.size()) && rig.refused(call))
      out.push_back(threads[static_cast<std::size_t>(at)]);
  }
  return out;
}

TEST(Exec, S_EXEC_26_siblings_die_at_the_commit_in_order) {
  const std::vector<std::vector<int>> orders17 = {{18, 19, 23}, {18, 23, 19}, {19, 18, 23},
                                                  {19, 23, 18}, {23, 18, 19}, {23, 19, 18}};
  for (const int caller : {17, 19}) {
    for (auto order : orders17) {
      if (caller == 19) std::replace(order.begin(), order.end(), 19, 17);
      for (std::size_t early = 0; early <= 3; ++early) {
        auto rig = fx_group();
        rig->send(caller, PrepareExec{P(17), AS(17), {}});
        std::vector<CallId> blocked;  // in callback order; they end in the order of the deaths
        for (const int t : order) blocked.push_back(rig->send(t, RequestResources{}));
        for (std::size_t i = 0; i < early; ++i) rig->send(order[i], rig->leaving(order[i], 17, 1));
        EXPECT_EQ(rig->core->live_threads(P(17)), Ts({17, 18, 19, 23}));
        rig->order.clear();
        rig->send_as(17, AS(17, 1), again(17));
        EXPECT_EQ(rig->core->live_threads(P(17)), Ts({17}));
        EXPECT_FALSE(rig->core->is_tombstoned(T(17)));
        EXPECT_EQ(died(*rig, order, blocked), sorted(order));
        for (std::size_t i = early; i < 3; ++i) {
          EXPECT_TRUE(rig->acknowledged(rig->send(order[i], rig->leaving(order[i], 17, 1))));
          EXPECT_EQ(rig->core->live_threads(P(17)), Ts({17}));
        }
        EXPECT_EQ(rig->core->turn().value, 41u);
        EXPECT_EQ(rig->core->committed_time(), E(17'000));
        EXPECT_FALSE(rig->filled(17));
        EXPECT_TRUE(rig->core->is_registered(T(31)));
        EXPECT_FALSE(rig->core->process_exited(P(17)));
        for (const int t : order) {
          if (t != 17) {
            EXPECT_EQ(rig->core->syscalls_[T(t)], 1u);  // EXEC-54: its statistics count once
          }
        }
      }
    }
  }
}

TEST(Exec, S_EXEC_27_marks_and_failed_attempts) {
  for (const bool swapped : {false, true}) {
    auto rig = fx_group();
    EXPECT_TRUE(rig->acknowledged(rig->send(17, PrepareExec{P(17), AS(17), {}})));
    EXPECT_TRUE(rig->refused(rig->send(17, PrepareExec{P(17), AS(17), {}})));
    TestCore& core = *rig->core;
    std::vector<CallId> blocked;
    for (const int t : {23, 18}) blocked.push_back(rig->send(t, RequestResources{}));
    for (const int t : swapped ? std::vector{23, 18} : std::vector{18, 23})
      EXPECT_TRUE(core.observe_sibling(P(17), T(t), AS(17)));
    EXPECT_FALSE(core.observe_sibling(P(17), T(17), AS(17)));
    EXPECT_FALSE(core.observe_sibling(P(17), T(13), AS(17)));
    EXPECT_FALSE(core.observe_sibling(P(17), T(31), AS(17)));
    EXPECT_FALSE(core.observe_sibling(P(31), T(18), AS(17)));
    EXPECT_FALSE(core.observe_sibling(P(17), T(18), AS(17, 1)));
    core.end_exec(P(17), T(17), AS(17, 1), false);  // EXEC-9
    EXPECT_TRUE(core.preparations_.contains(P(17)));
    core.end_exec(P(17), T(17), AS(17), false);
    rig->collect();
    EXPECT_EQ(died(*rig, {23, 18}, blocked), (std::vector{18, 23}));
    EXPECT_TRUE(core.is_tombstoned(T(18)));
    EXPECT_TRUE(core.is_tombstoned(T(23)));
    core.end_exec(P(17), T(17), AS(17), false);
    EXPECT_TRUE(rig->acknowledged(rig->send(17, PrepareExec{P(17), AS(17), {}})));
    core.end_exec(P(17), T(17), AS(17), false);
    EXPECT_EQ(core.live_threads(P(17)), Ts({17, 19}));
    EXPECT_TRUE(core.is_registered(T(31)));
  }
}

TEST(Exec, S_EXEC_28_commit_inside_a_window) {
  auto rig = fx_group();
  rig->core->queue_.select_exact(T(31));
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  for (const int t : {18, 19, 23}) rig->core->observe_sibling(P(17), T(t), AS(17));
  rig->send_as(17, AS(17, 1), again(17));
  EXPECT_EQ(rig->queued().size(), 5u);
  rig->core->queue_.undo();
  rig->core->drain();
  EXPECT_THAT(rig->queued_sorted(), ElementsAre(17, 31));
  EXPECT_EQ(rig->core->turn().value, 41u);
  EXPECT_EQ(rig->core->committed_time(), E(17'000));
}

TEST(Exec, S_EXEC_29_reopening_an_id) {
  for (const AddressSpaceId as : {AS(17, 0), AS(17, 1)}) {
    auto rig = fx_group();
    TestCore& core = *rig->core;
    core.kill_thread(T(19), AS(17));
    core.given_up_.insert(T(19));
    EXPECT_FALSE(core.accepts(T(19), AS(17, 0)));
    EXPECT_FALSE(core.accepts(T(19), AS(17, 1)));
    EXPECT_TRUE(core.reopen(T(19), as));
    EXPECT_TRUE(core.accepts(T(19), as));
    EXPECT_FALSE(core.accepts(T(19), as == AS(17, 0) ? AS(17, 1) : AS(17, 0)));
    EXPECT_FALSE(core.reopen(T(19), as));
  }
  auto rig = fx_group();
  rig->core->given_up_.insert(T(19));
  EXPECT_DEATH(rig->core->reopen(T(19), AS(17)), "while registered");
}

TEST(Exec, S_EXEC_30_wait_ownership_follows_the_exec) {
  for (const bool kept :
       {true, false}) {  // a worker's exec always reloads here; the leader's may keep its state
    auto rig = fx_group();
    TestCore& core = *rig->core;
    core.waits_.add_child(P(41), P(17), T(19), kSigChld, false);
    core.waits_.add_child(P(42), P(17), T(19), {}, false);
    core.waits_.mark_exited(P(41));
    core.waits_.mark_exited(P(42));
    const auto ready = [&](int owner, ExitClass cls) {
      return core.waits_.ready(P(17), {WaitSpec::Selector::kAny, {}, T(owner), cls});
    };
    EXPECT_EQ(ready(19, ExitClass::kChildSignal).child, P(41));
    const auto unrestricted = core.waits_.ready(P(17), {});
    rig->send(19, PrepareExec{P(17), AS(17), {}});
    if (kept) {
      core.waits_.move_owner(T(19), T(17), P(17));
    } else {
      rig->send_as(17, AS(17, 1), again(17));
    }
    EXPECT_EQ(ready(17, ExitClass::kChildSignal).child, P(41));
    EXPECT_EQ(ready(17, ExitClass::kClone).child, P(42));
    EXPECT_FALSE(ready(19, ExitClass::kAll).any);
    EXPECT_EQ(core.waits_.ready(P(17), {}), unrestricted);
    const auto exact = core.waits_.ready(P(17), {WaitSpec::Selector::kExact, P(31), {}, ExitClass::kAll});
    EXPECT_TRUE(exact.any);
    EXPECT_FALSE(exact.child);
    EXPECT_EQ(core.turn().value, 41u);
  }
}

TEST(Exec, S_EXEC_31_only_the_caller_s_own_children_move) {
  WaitBook w;
  w.add_root(P(1));
  w.add_child(P(17), P(1), T(1), kSigChld, false);
  w.add_child(P(51), P(1), T(1), kSigChld, false);
  w.add_child(P(52), P(51), T(19), kSigChld, false);  // made by 19 in an earlier life
  w.add_child(P(31), P(17), T(17), kSigChld, false);
  w.add_child(P(41), P(17), T(19), kSigChld, false);
  w.add_child(P(42), P(41), T(41), kSigChld, false);
  w.add_child(P(43), P(17), T(19), kSigChld, true);  // clone-parent: owned by 17's creator
  w.move_owner(T(19), T(17), P(17));
  EXPECT_EQ(w.meta(P(41))->owner, T(17));
  EXPECT_EQ(w.meta(P(31))->owner, T(17));
  EXPECT_EQ(w.meta(P(42))->owner, T(41));
  EXPECT_EQ(w.meta(P(43))->owner, T(1));
  EXPECT_EQ(w.meta(P(52))->owner, T(19));
  EXPECT_EQ(w.meta(P(41))->parent, P(17));
  EXPECT_EQ(w.meta(P(43))->parent, P(1));
  EXPECT_EQ(w.meta(P(41))->session, P(1));
}

TEST(Exec, S_EXEC_32_cancelling_a_second_exec) {  // EXEC-55
  auto rig = std::make_unique<Rig>(cancelling());
  rig->root(1);
  rig->process(17, 1);
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  rig->send_as(17, AS(17, 1), again(17));
  rig->as[17] = AS(17, 1);
  rig->send(17, PrepareExec{P(17), AS(17, 1), {}});
  rig->as[17] = AS(17, 2);
  rig->clock[17].advance_by(ns(123));
  const LogicalTime before = rig->core->clock().value();
  EXPECT_TRUE(rig->acknowledged(rig->send(17, rig->leaving(17, 17, 9))));
  EXPECT_TRUE(rig->core->preparations_.empty());
  EXPECT_FALSE(rig->core->is_registered(T(17)));
  EXPECT_EQ(rig->core->syscalls_.at(T(17)), 9u);
  EXPECT_EQ(rig->get<ChildStateAnswer>(rig->send(1, ChildState{P(17)})).status,
            ChildStatus::kLogicallyExited);
  EXPECT_EQ(rig->core->clock().value(), before + ns(123));
  EXPECT_EQ(rig->core->turn().value, 0u);
}

TEST(Exec, S_EXEC_35_refused_preparations) {
  auto rig = pair_of();
  rig->process(31, 17);
  EXPECT_TRUE(rig->refused(rig->send(17, PrepareExec{P(17), AS(17, 3), {}})));
  rig->as[31] = AS(17);
  EXPECT_TRUE(rig->refused(rig->send(31, PrepareExec{P(17), AS(17), {}})));
  rig->core->tree_.add(T(13), T(17), false);
  rig->as[13] = AS(17);
  EXPECT_TRUE(rig->refused(rig->send(13, PrepareExec{P(17), AS(17), {}})));
  EXPECT_TRUE(rig->acknowledged(rig->send(17, PrepareExec{P(17), AS(17), {}})));
  EXPECT_TRUE(rig->refused(rig->send(18, PrepareExec{P(17), AS(17), {}})));
}

TEST(Exec, S_EXEC_36_the_frozen_set) {
  auto rig = fx_group();
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  EXPECT_EQ(rig->core->preparations_.at(P(17)).siblings, (std::set<ThreadId>{T(18), T(19), T(23)}));
  rig->send_as(17, AS(17, 1), again(17));
  EXPECT_FALSE(rig->core->is_tombstoned(T(13)));
}

TEST(Exec, S_EXEC_37_priority_of_the_new_leader) {
  for (const int variant : {0, 1, 2}) {
    auto rig = pair_of();
    if (variant == 0) rig->core->queue_.set_persistent(T(18), {7});
    if (variant != 0) rig->core->queue_.clear_persistent(T(18));
    rig->send(18, PrepareExec{P(17), AS(17), {}});
    const auto request = again(17, 0, variant == 1 ? std::optional(Priority{9}) : std::nullopt);
    if (variant == 2) {
      EXPECT_DEATH(rig->send_as(17, AS(17, 1), request), "without priority");
      continue;
    }
    rig->send_as(17, AS(17, 1), request);
    EXPECT_EQ(rig->core->queue_.persistent(T(17)), Priority{variant == 0 ? 7u : 9u});
  }
}

TEST(Exec, S_EXEC_38_a_leader_keeps_its_place) {
  auto rig = pair_of();
  const SlotId slot = rig->core->record(T(17))->request.id();
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  rig->send_as(17, AS(17, 1), again(17, 0x777));
  EXPECT_EQ(rig->core->record(T(17))->request.id(), slot);
  EXPECT_EQ(rig->core->record(T(17))->child_tid_address, 0x777u);
  rig->core->drain();
  EXPECT_THAT(rig->queued(), ElementsAre(17));
  EXPECT_TRUE(rig->core->is_tombstoned(T(18)));
}

TEST(Exec, S_EXEC_39_schedule_replay_places_the_replacement) {
  for (const bool mine : {true, false}) {
    CoreConfig config = cancelling();
    ScheduleEvent batch, other;
    batch.tid = T(mine ? 17 : 31);
    batch.op = Operation::ticks();
    batch.count = 123;
    other.tid = T(5);
    config.replay_schedule = {batch, other};
    auto rig = pair_of(config);
    rig->core->staged_slices_[T(17)] = ns(99);
    rig->send(18, PrepareExec{P(17), AS(17), {}});
    rig->send_as(17, AS(17, 1), again(17));
    EXPECT_EQ(rig->core->queue_.persistent(T(17)), mine ? kReplayForeground : kReplayDeferred);
    EXPECT_EQ(rig->core->staged_slices_.contains(T(17)), mine);
    if (mine) {
      EXPECT_EQ(rig->core->staged_slices_.at(T(17)), ns(1'230));
    }
  }
}

TEST(Exec, S_EXEC_40_the_first_exec_is_marked) {
  CoreConfig config = cancelling();
  config.record_schedule = true;
  auto rig = fx_one(true, config);
  EXPECT_FALSE(rig->core->first_exec_passed_);
  rig->send(17, ExecCompleted{P(17), std::nullopt});
  EXPECT_TRUE(rig->core->first_exec_passed_);
  ScheduleEvent e;
  e.start = 1, e.end = 2;
  rig->send(17, TraceEvent{e});
  EXPECT_EQ(rig->core->writer_->record().events.at(0).end, 2u);
}

TEST(Exec, S_EXEC_41_a_leader_that_kept_its_state) {
  auto rig = pair_of();
  rig->core->timed_.set_posix(P(17), 1, E(50), {}, kSigUsr1);
  rig->send(17, PrepareExec{P(17), AS(17), {}});
  EXPECT_FALSE(rig->refused(rig->send(17, ExecCompleted{P(17), std::nullopt})));
  EXPECT_TRUE(rig->core->timed_.empty());
  EXPECT_TRUE(rig->core->is_registered(T(18)));
  EXPECT_TRUE(rig->core->preparations_.contains(P(17)));
  EXPECT_FALSE(rig->refused(rig->send_as(17, AS(17, 1), ExecCompleted{P(17), std::nullopt})));
  EXPECT_FALSE(rig->core->is_registered(T(18)));
  EXPECT_TRUE(rig->core->preparations_.empty());
}

TEST(Exec, EXEC_43_EXEC_45_EXEC_46_a_given_up_id_is_reopened_by_registration) {
  auto rig = pair_of();
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  rig->send_as(17, AS(17, 1), again(17));
  rig->as[17] = AS(17, 1);
  rig->send(17, StartThread{});
  EXPECT_EQ(rig->step().thread, T(17));
  const GlobalClock before = rig->core->clock();
  rig->clock[18].advance_by(ns(999'999));
  EXPECT_TRUE(rig->refused(rig->send_as(18, AS(17, 0), AskGlobalTime{})));  // EXEC-40
  EXPECT_TRUE(rig->refused(rig->send_as(18, AS(17, 1), AskGlobalTime{})));
  EXPECT_TRUE(rig->acknowledged(rig->send_as(18, AS(17, 0), rig->leaving(18, 17))));
  EXPECT_EQ(rig->core->clock(), before);
  rig->clock[18] = rig->clock[17].child_copy();
  const CallId start = rig->send_as(18, AS(17, 1), StartThread{});
  EXPECT_TRUE(rig->pending(start));
  EXPECT_FALSE(rig->core->is_registered(T(18)));
  const CallId registered = rig->send(
      17, RegisterChild{T(18), P(17), 0, {CloneFlags::kThread | CloneFlags::kVm}, {}, Priority{999}});
  EXPECT_TRUE(rig->pending(registered));
  EXPECT_TRUE(rig->core->accepts(T(18), AS(17, 1)));
  EXPECT_FALSE(rig->core->accepts(T(18), AS(17, 0)));
  EXPECT_EQ(rig->step().thread, T(18));
  EXPECT_FALSE(rig->pending(start));
  const GlobalClock granted = rig->core->clock();
  EXPECT_EQ(granted.entry(T(18))->elapsed, granted.entry(T(18))->inherited);  // history adds nothing
  rig->clock[18].advance_by(ns(999'999));
  EXPECT_TRUE(rig->refused(rig->send_as(18, AS(17, 0), StartThread{})));
  EXPECT_TRUE(rig->refused(rig->send_as(18, AS(17, 0), AskGlobalTime{})));
  EXPECT_EQ(rig->core->clock(), granted);
}

TEST(Exec, EXEC_17_the_new_leader_inherits_no_time_out) {
  auto rig = pair_of();
  rig->wait_futex(17, rig->key(0x1000, 17), kFullFutexMask, E(100));
  rig->core->clock_.add_extra(ns(100));
  rig->core->charge_and_sample(false);
  EXPECT_TRUE(rig->core->handle_due_event());  // timed out, not granted yet
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  rig->clock[17] = ThreadClock();
  const CallId reconnect = rig->send_as(17, AS(17, 1), again(17));
  rig->clock[17].advance_to(*rig->time(reconnect));
  rig->as[17] = AS(17, 1);
  const CallId start = rig->send(17, StartThread{});
  EXPECT_EQ(rig->step().thread, T(17));
  EXPECT_EQ(rig->get<StartAnswer>(start).reply.kind, TurnReplyKind::kGo);
}

TEST(Exec, EXEC_17_the_new_leader_inherits_no_ended_sleep) {
  CoreConfig config = cancelling();
  config.policy = RunPolicy::kRecord;
  auto rig = pair_of(config);
  rig->fill(18);
  rig->send(17, RequestResources{ResourceRequest::one(Resource::sleep_until(E(50)))});
  EXPECT_EQ(rig->kind(), StepKind::kSkip);
  EXPECT_EQ(rig->step().thread, T(18));
  rig->core->host_expired(T(17));
  rig->core->apply_host_expiries();  // awake, not granted yet
  rig->send(18, PrepareExec{P(17), AS(17), {}});
  rig->clock[17] = ThreadClock();
  const CallId reconnect = rig->send_as(17, AS(17, 1), again(17));
  rig->clock[17].advance_to(*rig->time(reconnect));
  rig->as[17] = AS(17, 1);
  rig->send(17, StartThread{});
  EXPECT_EQ(rig->step().thread, T(17));
  rig->send(17, RequestResources{ResourceRequest::one(Resource::sleep_until(E(90)))});
  EXPECT_EQ(rig->kind(), StepKind::kSkip);
  EXPECT_TRUE(rig->core->host_waits_.contains(T(17)));
}

TEST(Exec, EXEC_44_a_wrong_vfork_registration_keeps_the_proof) {
  auto rig = pair_of();
  rig->core->kill_thread(T(18), AS(17));
  rig->core->given_up_.insert(T(18));
  rig->send(
      17, RequestResources{ResourceRequest::one(Resource::external(ResourceKind::kVforkBlock, {T(17), 7}))});
  rig->step();
  const auto registering = [&](std::uint64_t flags) {
    return rig->send_as(18, AS(17), RegisterVforkChild{T(18), T(17), 0, {flags}, kSigChld, std::nullopt});
  };
  EXPECT_TRUE(rig->refused(registering(CloneFlags::kVm)));
  EXPECT_TRUE(rig->core->proof_matches(T(17), T(18), AS(17), true));
  EXPECT_TRUE(rig->core->given_up_.contains(T(18)));
  EXPECT_TRUE(rig->acknowledged(registering(CloneFlags::kVm | CloneFlags::kVfork)));
  EXPECT_FALSE(rig->core->proof_matches(T(17), T(18), AS(17), true));
  EXPECT_TRUE(rig->core->tree_.is_leader(T(18)));
}

}  // namespace
}  // namespace detrec::core::testing
