// Logical time, thread clocks and the global clock: TIME-1 .. TIME-33.
#include <sys/syscall.h>

#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

ThreadClock zero_clock(std::uint32_t multiplier = 1) { return ThreadClock({}, Factor::integer(multiplier)); }
ThreadClock at(std::uint64_t v) {
  ThreadClock c;
  c.advance_by(ns(v));
  return c;
}

TEST(Time, S_TIME_1_addition_saturates) {
  const LogicalTime near{LogicalTime::kMax - 10};
  EXPECT_EQ(near + LogicalTime::seconds(1), kIndefinite);
  EXPECT_EQ(ns(5) + LogicalTime::seconds(LogicalTime::kMax / 1000), kIndefinite);
  EXPECT_EQ(LogicalTime::add(near, 100), kIndefinite);
  EXPECT_EQ(LogicalTime::add(ns(0), (static_cast<Uint128>(1) << 64) + 4), kIndefinite);
  EXPECT_EQ(LogicalTime::seconds(2) + LogicalTime::seconds(3), LogicalTime::seconds(5));
  EXPECT_DEATH((void)(ns(1) - ns(2)), "below zero");
}

TEST(Time, S_TIME_2_only_the_maximum_is_indefinite) {
  EXPECT_TRUE(ns(LogicalTime::kMax).indefinite());
  EXPECT_FALSE(ns(0).indefinite());
  EXPECT_FALSE(kDefaultEpoch.indefinite());
  EXPECT_FALSE(ns(LogicalTime::kMax - 1).indefinite());
  EXPECT_TRUE((ns(LogicalTime::kMax - 10) + LogicalTime::seconds(1)).indefinite());
}

TEST(Time, S_TIME_3_text) {
  EXPECT_EQ(to_string(ns(946684799000000000)), "946_684_799.000_000_000s");
  EXPECT_EQ(to_string(ns(729860000)), "729_860_000ns");
  EXPECT_EQ(to_string(ns(946684799729860000)), "946_684_799.729_860_000s");
}

TEST(Time, S_TIME_4_parts) {
  const LogicalTime t = LogicalTime::seconds(2) + ns(345'678'901);
  EXPECT_EQ(t.subsec_millis(), 345u);
  EXPECT_EQ(t.subsec_micros(), 345'678u);
  EXPECT_EQ(t.subsec_nanos(), 345'678'901u);
  EXPECT_EQ(t.whole_seconds(), 2u);
  EXPECT_EQ(t.whole_millis(), 2345u);
  EXPECT_EQ(t.whole_micros(), 2'345'678u);
}

TEST(Time, S_TIME_5_costs_by_class) {
  const long calls[] = {SYS_clock_gettime, SYS_gettimeofday, SYS_getpid,         SYS_statx,
                        SYS_futex,         SYS_read,         SYS_mmap,           SYS_openat,
                        SYS_socket,        SYS_clone,        SYS_restart_syscall};
  const std::uint64_t costs[] = {10'000, 2'000,  250,    3'000,   5'000, 10'000,
                                 10'000, 25'000, 50'000, 250'000, 250};
  for (std::size_t i = 0; i < std::size(calls); ++i)
    EXPECT_EQ(syscall_cost(calls[i]).ns, costs[i]) << calls[i];
  for (long nr = 0; nr < 500; ++nr) EXPECT_GT(syscall_cost(nr).ns, 0u);
}

TEST(Time, S_TIME_6_multiplier) {
  ThreadClock c = zero_clock(2);
  c.add_syscall(syscall_cost(SYS_write));
  EXPECT_EQ(c.elapsed(), ns(20'000));
}

TEST(Time, S_TIME_7_weighted_ticks_do_not_depend_on_batches) {
  ThreadClock a = zero_clock(), b = zero_clock();
  const Factor f = Factor::rounded(2.5);
  a.add_ticks(10, f);
  b.add_ticks(4, f);
  b.add_ticks(6, f);
  for (const ThreadClock& c : {a, b}) {
    EXPECT_EQ(c.ticks(), 10u);
    EXPECT_EQ(c.user(), ns(250));
  }
  EXPECT_EQ(Factor::rounded(1e-30).q32, 1u);  // at least one unit
}

TEST(Time, S_TIME_8_unweighted_after_weighted) {
  ThreadClock c = zero_clock();
  c.add_ticks(10, Factor::rounded(0.5));
  EXPECT_EQ(c.elapsed(), ns(50));
  c.add_ticks(5);
  EXPECT_EQ(c.ticks(), 15u);
  EXPECT_EQ(c.elapsed(), ns(100));
}

TEST(Time, S_TIME_9_origin_is_exact_and_never_work) {
  for (const std::uint64_t fraction : {0u, 1u, 13u, 999u, 1'000u, 123'456'789u, 999'999'999u}) {
    const LogicalTime origin = LogicalTime::seconds(1'767'225'600) + ns(fraction);
    ThreadClock c(origin, Factor::integer(2)), zero = zero_clock(2);
    GlobalClock global(origin, Factor::integer(2));
    EXPECT_EQ(c.value(), origin);
    EXPECT_EQ(c.elapsed(), ns(0));
    EXPECT_EQ(c.user(), ns(0));
    EXPECT_EQ(c.system(), ns(0));
    global.report(T(3), c);
    EXPECT_EQ(global.value(), origin);
    for (ThreadClock* clock : {&c, &zero}) {
      clock->advance_by(ns(1));
      clock->add_syscall(ns(7));
      clock->add_ticks(3);
      clock->add_traps(1);
    }
    global.report(T(3), c);
    EXPECT_EQ(global.value() - origin, zero.elapsed());
    EXPECT_EQ(zero.elapsed(), ns(1 + 14 + 60 + 50));
  }
}

TEST(Time, S_TIME_10_every_piece_of_work_counts_once) {
  for (const bool batched : {false, true}) {
    const Factor two = Factor::integer(2);
    GlobalClock global(kDefaultEpoch, two);
    ThreadClock root(kDefaultEpoch, two);
    root.add_syscall(ns(11));
    root.add_ticks(3);
    root.add_traps(1);
    root.advance_by(ns(1));
    EXPECT_EQ(root.elapsed(), ns(133));
    global.report(T(3), root);
    EXPECT_EQ(global.value(), E(133));
    ThreadClock child = root.child_copy();
    EXPECT_EQ(child.inherited(), ns(133));
    global.report(T(4), child);
    EXPECT_EQ(global.value(), E(133));
    child.add_syscall(ns(7));
    const Factor half = Factor::rounded(0.5);
    if (batched) {
      child.add_ticks(1, half);
      child.add_ticks(3, half);
    } else {
      child.add_ticks(4, half);
    }
    child.add_traps(1);
    child.advance_by(ns(1));
    EXPECT_EQ(child.elapsed(), ns(238));
    global.report(T(4), child);
    EXPECT_EQ(global.value(), E(238));
    global.report(T(4), child);
    EXPECT_EQ(global.value(), E(238));
    ThreadClock grandchild = child.child_copy();
    EXPECT_EQ(grandchild.inherited(), ns(238));
    global.report(T(5), grandchild);
    EXPECT_EQ(global.value(), E(238));
    grandchild.add_syscall(ns(3));
    grandchild.advance_by(ns(1));
    global.report(T(5), grandchild);
    EXPECT_EQ(global.value(), E(245));
    EXPECT_EQ(grandchild.elapsed(), ns(245));
    global.charge_turn();
    EXPECT_EQ(global.value(), E(1'000'245));
  }
}

TEST(Time, S_TIME_11_component_moves_to_the_leader) {
  GlobalClock g;
  ThreadClock ancestor = at(1'000), leader = ancestor.child_copy();
  leader.advance_by(ns(100));
  ThreadClock worker = leader.child_copy();
  worker.advance_by(ns(250));
  g.report(T(16), ancestor), g.report(T(17), leader), g.report(T(18), worker);
  EXPECT_EQ(g.value(), E(1'350));
  g.move_component(T(18), T(17));
  EXPECT_EQ(g.value(), E(1'350));
  EXPECT_FALSE(g.contains(T(18)));
  ThreadClock fresh;
  fresh.advance_to(g.time_of(T(17)));
  g.report(T(17), fresh);
  EXPECT_EQ(g.value(), E(1'350));
  fresh.advance_by(ns(1));
  g.report(T(17), fresh);
  EXPECT_EQ(g.value(), E(1'351));
  g.move_component(T(17), T(17));
  EXPECT_EQ(g.value(), E(1'351));
  g.report(T(17), fresh);
  EXPECT_EQ(g.value(), E(1'351));
  ThreadClock child = fresh.child_copy();
  g.report(T(19), child);
  child.advance_by(ns(1));
  g.report(T(19), child);
  EXPECT_EQ(g.value(), E(1'352));
}

TEST(Time, S_TIME_12_displaced_work_becomes_extra_time) {
  GlobalClock g;
  g.report(T(17), at(100)), g.report(T(18), at(250));
  const LogicalTime total = g.value();
  g.move_component(T(18), T(17));
  EXPECT_EQ(g.value(), total);
  EXPECT_EQ(g.time_of(T(17)), E(250));
  EXPECT_FALSE(g.contains(T(18)));
  EXPECT_EQ(g.extra(), ns(100));
  EXPECT_DEATH(g.move_component(T(99), T(17)), "no time to move");
}

TEST(Time, S_TIME_13_inherited_more_than_elapsed_is_fatal) {
  GlobalClock g;
  EXPECT_DEATH(g.report(T(17), E(), ns(1)), "thread 17 inherited");
}

TEST(Time, S_TIME_14_going_back_is_fatal_and_names_the_thread) {
  GlobalClock g;
  g.report(T(17), at(10));
  EXPECT_DEATH(g.report(T(17), at(9)), "thread 17 went back");
  EXPECT_DEATH(g.report(T(17), E() - ns(1), {}), "thread 17 reports .* before the origin");
}

TEST(Time, S_TIME_15_only_charged_grants_cost_a_turn) {
  ResourceRequest bootstrap;
  bootstrap.bootstrap = true;
  const std::tuple<const char*, ResourceRequest, std::uint64_t> cases[] = {
      {"grant", ResourceRequest::none(), 500'000},
      {"skip", ResourceRequest::one(Resource::sleep_until(E(1'000))), 0},
      {"replay yield", ResourceRequest::one(Resource::of(ResourceKind::kReplayYield)), 0},
      {"bootstrap", bootstrap, 0}};
  for (const auto& [name, request, cost] : cases) {
    Rig rig;
    rig.root(3);
    rig.process(5, 3);
    rig.fill(3, request);
    rig.fill(5, Resource::object(ResourceKind::kPath, 1));
    rig.step();
    if (!rig.filled(3)) rig.fill(3);
    const LogicalTime before = rig->clock().value();
    rig->charge_and_sample(true);
    EXPECT_EQ((rig->clock().value() - before).ns, cost) << name;
    EXPECT_EQ(rig->committed_time(), rig->clock().value());
  }
}

TEST(Time, S_TIME_16_the_first_report_of_a_child_adds_no_history) {
  Rig rig;  // our backend is sequential; neither message asks for a resource
  rig.root(17);
  rig.thread(18, 17);
  rig.clock[17] = at(101);
  rig.clock[18] = rig.clock[17].child_copy();
  rig.clock[18].advance_by(ns(1));
  rig.send(17, AskGlobalTime{});
  const CallId asked = rig.send(18, AskGlobalTime{});
  EXPECT_EQ(rig.get<TimeAnswer>(asked).time, E(102));
  EXPECT_FALSE(rig.time(asked));
}

// S-TIME-17 .. S-TIME-19, FORK-20: the arrival of the child's start does not matter.
struct ForkRun {
  std::vector<int> grants;
  std::vector<LogicalTime> committed;
  std::vector<int> queue;
  bool next_draw = false;
  bool timeless = true;
};

ForkRun fork_run(PostForkPolicy policy, bool early) {
  CoreConfig config = cancelling();
  config.post_fork = policy;
  auto rig = fx_one(true, config);
  rig->clock[17] = at(1'001);
  rig->clock[18] = rig->clock[17].child_copy();
  rig->as[18] = AS(18);
  ForkRun out;
  const CallId registered = rig->send(17, RegisterChild{T(18), P(17), 0, {}, kSigChld, Priority{1000}});
  EXPECT_TRUE(rig->pending(registered));
  CallId started = 0;
  if (early) started = rig->send(18, StartThread{});
  StepResult r = rig->step();
  if (!early) {
    if (r.kind == StepKind::kWaitRequest) {
      EXPECT_EQ(r.thread, T(18));
    }
    started = rig->send(18, StartThread{});
    if (r.kind != StepKind::kGranted) r = rig->step();
  }
  EXPECT_EQ(r.kind, StepKind::kGranted);
  out.grants.push_back(r.thread.value);
  out.committed.push_back(rig->core->committed_time());
  const int next = r.thread.value;
  rig->clock[next].advance_by(ns(1));
  rig->send(next, RequestResources{ResourceRequest::one(Resource::object(ResourceKind::kPath, 1))});
  r = rig->step();
  out.grants.push_back(r.thread.value);
  out.committed.push_back(rig->core->committed_time());
  out.queue = rig->queued();
  out.next_draw = rig->core->queue_.draw_post_fork_front(PostForkPolicy::kRandom);
  for (const CallId call : {registered, started}) {
    EXPECT_FALSE(rig->pending(call));
    out.timeless = out.timeless && !rig->time(call);
  }
  return out;
}

TEST(Time, S_TIME_17_child_first_with_an_early_start) {
  const ForkRun run = fork_run(PostForkPolicy::kChildFirst, true);
  EXPECT_THAT(run.grants, ElementsAre(18, 17));
  EXPECT_THAT(run.committed, ElementsAre(E(1'001), E(501'002)));
  EXPECT_TRUE(run.timeless);
}

TEST(Time, S_TIME_18_child_first_with_a_late_start) {
  const ForkRun early = fork_run(PostForkPolicy::kChildFirst, true);
  const ForkRun late = fork_run(PostForkPolicy::kChildFirst, false);
  EXPECT_EQ(late.grants, early.grants);
  EXPECT_EQ(late.committed, early.committed);
  EXPECT_EQ(late.queue, early.queue);
  EXPECT_EQ(late.next_draw, early.next_draw);
}

TEST(Time, S_TIME_19_parent_first_in_both_orders) {
  const ForkRun early = fork_run(PostForkPolicy::kParentFirst, true);
  const ForkRun late = fork_run(PostForkPolicy::kParentFirst, false);
  EXPECT_THAT(early.grants, ElementsAre(17, 18));
  EXPECT_THAT(early.committed, ElementsAre(E(1'001), E(501'002)));
  EXPECT_EQ(late.grants, early.grants);
  EXPECT_EQ(late.committed, early.committed);
  EXPECT_EQ(late.queue, early.queue);
  EXPECT_EQ(late.next_draw, early.next_draw);
}

TEST(Time, S_TIME_20_a_vfork_child_adds_no_history) {
  auto rig = fx_one();
  rig->clock[17] = at(1'001);
  rig->send(
      17, RequestResources{ResourceRequest::one(Resource::external(ResourceKind::kVforkBlock, {T(17), 1}))});
  EXPECT_EQ(rig->kind(), StepKind::kSkip);
  EXPECT_TRUE(rig->core->external_.contains(T(17)));
  rig->clock[18] = rig->clock[17].child_copy();
  rig->as[18] = AS(17);
  const CallId registered = rig->send(
      18,
      RegisterVforkChild{T(18), T(17), 0, {CloneFlags::kVfork | CloneFlags::kVm}, kSigChld, Priority{999}});
  EXPECT_TRUE(rig->acknowledged(registered));
  EXPECT_FALSE(rig->time(registered));
  EXPECT_EQ(rig->core->clock().value(), E(1'001));
  rig->send(18, StartThread{});
  EXPECT_EQ(rig->core->clock().value(), E(1'001));
  const StepResult r = rig->step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(18));
  EXPECT_EQ(rig->core->clock().value(), E(1'001));
}

TEST(Time, S_TIME_21_idle_time_is_jumped_over) {
  Rig rig;
  rig.root(21);
  rig.process(22, 21);
  rig.sleep(21, E(500));
  rig.sleep(22, E(900));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig->clock().value(), E(500));
  EXPECT_THAT(rig.queued(), ElementsAre(21));
  EXPECT_EQ(rig->turn().value, 0u);
  rig->queue_.remove(T(21));
  rig->timed_.add_thread(T(21), E(1'000'000));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig->clock().value(), E(900));
  EXPECT_THAT(rig.queued(), ElementsAre(22));
}

TEST(Time, S_TIME_22_an_overdue_event_moves_no_clock) {
  Rig rig;
  rig.root(21);
  rig.clock[21] = at(200);
  rig.send(21, AskGlobalTime{});
  rig.sleep(21, E(100));
  EXPECT_EQ(rig->handle_empty_queue().kind, StepKind::kSkip);
  EXPECT_EQ(rig->clock().value(), E(200));
  EXPECT_TRUE(rig->timed_.empty());
  EXPECT_THAT(rig.queued(), ElementsAre(21));
}

TEST(Time, S_TIME_23_without_tick_counting_work_weighs_more) {
  ThreadClock c({}, ThreadClock::effective_multiplier(Factor{}, true, false));
  c.add_syscall(ns(10));
  EXPECT_EQ(c.elapsed(), ns(5'000));
  GlobalClock g;  // the configured multiplier only
  g.charge_turn();
  EXPECT_EQ(g.value(), E(500'000));
}

TEST(Time, S_TIME_24_advance_to) {
  ThreadClock c = at(500);
  c.advance_to(E(700));
  EXPECT_EQ(c.elapsed(), ns(700));
  c.advance_to(E(700));
  EXPECT_EQ(c.elapsed(), ns(700));
  EXPECT_DEATH(c.advance_to(E(699)), "cannot go back");
}

TEST(Time, S_TIME_25_projections) {
  ThreadClock c(kDefaultEpoch, Factor::integer(2));
  c.add_syscall(ns(10));
  c.add_ticks(3);
  c.add_traps(1);
  c.advance_by(ns(99));
  EXPECT_EQ(c.user(), ns(110));
  EXPECT_EQ(c.system(), ns(20));
  EXPECT_EQ(c.elapsed(), ns(229));
}

TEST(Time, S_TIME_26_polls_are_charged_but_not_logged) {
  Rig rig;
  rig.root(17);
  rig.fill(17, Resource::polled_io());
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  rig.fill(17, Resource::object(ResourceKind::kFileContents, 4));
  const auto logged = [&](LogLevel level) {
    int n = 0;
    for (const auto& [l, text] : rig.log.lines) n += l == level && text.find("charged") != std::string::npos;
    return n;
  };
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_EQ(rig->clock().value(), E(500'000));
  EXPECT_EQ(logged(LogLevel::kInfo), 0);
  EXPECT_EQ(logged(LogLevel::kDebug), 1);
  rig.fill(17);
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_EQ(rig->clock().value(), E(1'000'000));
  EXPECT_EQ(logged(LogLevel::kInfo), 1);
}

TEST(Time, S_TIME_27_a_thread_that_never_reported) {
  GlobalClock g;
  EXPECT_DEATH(g.time_of(T(17)), "thread 17 never reported");
  EXPECT_FALSE(g.contains(T(17)));
}

TEST(Time, S_TIME_28_committed_time_never_falls) {
  Rig rig;
  rig.root(3);
  rig->committed_ = E(500);
  EXPECT_DEATH(rig->charge_and_sample(true), "committed time would fall");
}

TEST(Time, S_TIME_29_refused_messages_move_no_clock) {
  auto rig = fx_one();
  rig->clock[17] = at(100);
  rig->send(17, AskGlobalTime{});
  rig->core->accepted_[T(17)] = AS(17);
  rig->clock[17] = at(900);
  EXPECT_TRUE(rig->refused(rig->send_as(17, AS(17, 3), AskGlobalTime{})));
  EXPECT_EQ(rig->core->clock().time_of(T(17)), E(100));
  rig->clock[17] = at(150);
  EXPECT_EQ(rig->get<TimeAnswer>(rig->send(17, AskGlobalTime{})).time, E(150));
}

TEST(Time, TIME_26_TIME_27_a_reply_carries_a_later_time) {
  auto rig = fx_one();
  rig->clock[17] = at(100);
  const CallId asked = rig->core->send({T(17), rig->clock[17], AS(17), RequestResources{}});
  rig->core->clock_.report(T(17), at(130));  // moved meanwhile
  rig->step();
  rig->collect();
  EXPECT_EQ(rig->time(asked), E(130));
  ThreadClock local = rig->clock[17];
  local.advance_to(*rig->time(asked));
  EXPECT_EQ(local.value(), E(130));
}

TEST(Time, TIME_33_host_clock_for_metadata) {
  CoreConfig config = plain();
  config.virtual_time = false;
  config.host_time = [] { return LogicalTime{777}; };
  Rig rig(config);
  rig.root(3);
  EXPECT_EQ(rig.get<InodeAnswer>(rig.send(3, TouchFile{5})).inode.time, ns(777));
  EXPECT_EQ(rig->summary()->virtual_elapsed, ns(0));
}

}  // namespace
}  // namespace detrec::core::testing
