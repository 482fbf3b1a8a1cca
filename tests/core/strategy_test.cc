// Policies and strategies: same seed, same schedule; PCT's guarantee; the replay of recorded decisions.
#include <functional>
#include <set>

#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

using Code = std::vector<std::function<void()>>;

/// Runs toy threads whose every operation is one turn; returns who ran, in order.
std::vector<int> run_toy(CoreConfig config, const std::vector<Code>& threads) {
  config.cancel_killed_requests = true;
  config.controlled = config.reports_physical_exits = false;
  Rig rig(config);
  rig.known(3, 3, true);
  std::map<int, std::size_t> at;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const int tid = 10 + static_cast<int>(i);
    rig->register_thread(T(tid), T(3), P(3), {CloneFlags::kThread}, {}, 0, std::nullopt, AS(3));
    rig->admit_at_drain(T(tid), TestCore::Admit::kPostFork);
    rig.as[tid] = AS(3);
    at[tid] = 0;
    rig.send(tid, RequestResources{});
  }
  rig->kill_thread(T(3), AS(3));
  std::vector<int> order;
  for (StepResult r = rig.step(); r.kind != StepKind::kFinished; r = rig.step()) {
    if (r.kind != StepKind::kGranted) continue;
    const int tid = r.thread.value;
    const Code& code = threads[static_cast<std::size_t>(tid - 10)];
    order.push_back(tid);
    code[at[tid]++]();
    if (at[tid] < code.size()) {
      rig.send(tid, RequestResources{});
    } else {
      rig.send(tid, rig.leaving(tid, 3));
    }
  }
  return order;
}

CoreConfig pct(std::uint32_t depth, std::uint64_t steps, std::uint64_t seed) {
  CoreConfig c;
  c.pct = {depth, steps};
  c.scheduler_seed = seed;
  return c;
}

/// How often `runs` seeds show the bug; `make` builds fresh threads that set their flag.
int shown(std::uint32_t depth, std::uint64_t steps, int runs,
          const std::function<std::vector<Code>(bool& bug)>& make) {
  int found = 0;
  for (int seed = 0; seed < runs; ++seed) {
    bool bug = false;
    run_toy(pct(depth, steps, static_cast<std::uint64_t>(seed)), make(bug));
    found += bug;
  }
  return found;
}

// The guarantee is 1/(n k^(d-1)); the seeds are fixed, so these numbers never change from run to run.
TEST(Pct, an_ordering_bug_has_depth_one) {
  const int found = shown(1, 4, 1'000, [](bool& bug) {
    auto ready = std::make_shared<bool>(false);
    const auto nop = [] {};
    return std::vector<Code>{{nop, [=] { *ready = true; }}, {[=, &bug] { bug = !*ready; }, nop}};
  });
  EXPECT_GE(found, 1'000 / 2 * 9 / 10);
  EXPECT_LT(found, 1'000);
}

std::vector<Code> lost_update(bool& bug) {
  struct State {
    int x = 0, done = 0;
    int local[2] = {0, 0};
  };
  auto s = std::make_shared<State>();
  std::vector<Code> out;
  for (int i = 0; i < 2; ++i) {
    out.push_back({[=] { s->local[i] = s->x; },
                   [=, &bug] {
                     s->x = s->local[i] + 1;
                     if (++s->done == 2) bug = s->x != 2;
                   }});
  }
  return out;
}

TEST(Pct, a_lost_update_has_depth_two) {
  EXPECT_GE(shown(2, 4, 2'000, lost_update), 2'000 / (2 * 4) * 9 / 10);
  EXPECT_EQ(shown(1, 4, 500, lost_update), 0);  // without a change point no thread is preempted
}

TEST(Pct, two_preemptions_have_depth_three) {
  // x between a and b, and b before y: two preemptions, the second back into the first thread.
  const auto make = [](bool& bug) {
    auto log = std::make_shared<std::string>();
    const auto put = [=](char c) { return [=] { *log += c; }; };
    return std::vector<Code>{
        {put('a'), put('b'), put('c')},
        {put('x'), [=, &bug] { bug = log->find("axb") != std::string::npos; }, put('z')}};
  };
  EXPECT_GE(shown(3, 6, 3'000, make), 3'000 / (2 * 36) * 9 / 10);
  EXPECT_EQ(shown(2, 6, 500, make), 0);
  EXPECT_EQ(shown(1, 6, 300, make), 0);
}

TEST(Pct, the_bound_holds_among_more_threads) {
  // Two of five threads race; n is 5 and k is 13, so a lost update shows in one of 65 runs at least.
  const auto make = [](bool& bug) {
    std::vector<Code> out = lost_update(bug);
    const auto nop = [] {};
    for (int i = 0; i < 3; ++i) out.push_back({nop, nop, nop});
    return out;
  };
  EXPECT_GE(shown(2, 13, 4'000, make), 4'000 / (5 * 13) * 9 / 10);
  EXPECT_EQ(shown(1, 13, 500, make), 0);
}

TEST(Pct, what_would_void_the_guarantee_is_refused) {
  const auto with = [](auto change) {
    CoreConfig c = pct(2, 10, 1);
    change(c);
    return c;
  };
  EXPECT_DEATH(Core{with([](CoreConfig& c) { c.queue_policy = QueuePolicy::kRandom; })}, "by priority");
  EXPECT_DEATH(Core{with([](CoreConfig& c) { c.chaos.enabled = true; })}, "exclude each other");
  EXPECT_DEATH(Core{with([](CoreConfig& c) { c.replay_schedule.emplace(); })}, "exclude each other");
  EXPECT_DEATH(Core{with([](CoreConfig& c) { c.pct.depth = 1'001; })}, "too large");
  Rig rig(with([](CoreConfig& c) { c.pct.depth = PctConfig::kMaxDepth; }));
  rig.root(3);
  rig->register_thread(T(4), T(3), P(3), {CloneFlags::kThread}, {}, 0, Priority{1}, AS(3));
  EXPECT_NE(rig->queue_.persistent(T(4)), Priority{1});  // a supplied priority is not taken
}

TEST(Pct, priorities_are_a_permutation_and_points_are_below) {
  PctPlan plan({4, 100}, 9);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 500; ++i) {
    const Priority p = plan.initial();
    EXPECT_TRUE(valid_priority(p));
    EXPECT_TRUE(seen.insert(p.value).second);
  }
  std::set<std::uint32_t> low;
  for (std::uint64_t step = 1; step <= 100; ++step) {
    if (const auto p = plan.lowered(step)) {
      EXPECT_GT(p->value, *seen.rbegin());
      EXPECT_TRUE(valid_priority(*p));
      low.insert(p->value);
    }
  }
  EXPECT_GE(low.size(), 1u);
  EXPECT_LE(low.size(), 3u);
}

TEST(Strategy, same_seed_same_schedule) {
  const std::vector<Code> threads(4, Code(20, [] {}));
  const auto with = [&](auto change) {
    std::set<std::vector<int>> schedules;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CoreConfig c;
      c.master_seed = seed;
      change(c);
      const auto order = run_toy(c, threads);
      EXPECT_EQ(order.size(), 80u);
      EXPECT_EQ(order, run_toy(c, threads));
      schedules.insert(order);
    }
    return schedules.size();
  };
  EXPECT_EQ(with([](CoreConfig&) {}), 1u);  // round robin draws nothing
  EXPECT_GT(with([](CoreConfig& c) { c.queue_policy = QueuePolicy::kRandom; }), 4u);
  EXPECT_GT(with([](CoreConfig& c) { c.queue_policy = QueuePolicy::kStickyRandom, c.sticky = 0.7; }), 4u);
  EXPECT_GT(with([](CoreConfig& c) { c.post_fork = PostForkPolicy::kRandom; }), 2u);
  EXPECT_GT(with([](CoreConfig& c) { c.pct = {3, 80}; }), 4u);
}

TEST(Strategy, random_pick_finds_the_lost_update_and_round_robin_does_too) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    bool bug = false;
    CoreConfig c;
    c.queue_policy = QueuePolicy::kRandom;
    c.scheduler_seed = seed;
    run_toy(c, lost_update(bug));
    found += bug;
  }
  EXPECT_GT(found, 40);
  EXPECT_LT(found, 200);
}

// --- replay of decisions ---

struct Guests {
  explicit Guests(CoreConfig config) : rig(std::move(config)) {
    rig.root(3);
    for (const int t : {4, 5}) rig.thread(t, 3);
  }
  /// A run with an external operation, a futex and a host timeout; returns grants.
  std::vector<int> run(bool external_late) {
    std::vector<int> grants;
    const auto note = [&](const StepResult& r) {
      if (r.kind == StepKind::kGranted) grants.push_back(r.thread.value);
      return r.kind;
    };
    rig.send(3, RequestResources{
                    ResourceRequest::one(Resource::external(ResourceKind::kExternalBlock, {T(3), 1}))});
    rig.send(4, RequestResources{});
    rig.send(5, RequestResources{ResourceRequest::one(Resource::sleep_until(E(50)))});
    bool done = false, waits = false;
    for (int i = 0; i < 60 && grants.size() < 8; ++i) {
      const StepKind kind = note(rig.step());
      if (rig->terminal_report()) break;
      if (!done && !rig.filled(3) && rig->external_.contains(T(3)) && (!external_late || i > 6)) {
        rig.send(3, RequestResources{
                        ResourceRequest::one(Resource::external(ResourceKind::kExternalDone, {T(3), 1}))});
        done = true;
      }
      if (kind == StepKind::kWaitExternal) rig->host_expired(T(5));
      for (const int t : {3, 4, 5}) {
        if (rig->running() == T(t) && !rig.filled(t)) {
          if (t == 4 && !waits) {
            waits = true;
            rig.wait_futex(4, rig.key(1));
          } else {
            if (t == 5) rig.send(5, FutexWake{rig.key(1), 1, kFullFutexMask});
            rig.send(t, RequestResources{});
          }
        }
      }
    }
    return grants;
  }
  Rig rig;
};

CoreConfig recording_policy() {
  CoreConfig c = cancelling();
  c.policy = RunPolicy::kRecord;
  c.log_decisions = true;
  return c;
}

TEST(Decisions, a_recording_is_replayed_grant_for_grant) {
  for (const bool late : {false, true}) {
    Guests recorded(recording_policy());
    const auto grants = recorded.run(late);
    ASSERT_GE(grants.size(), 6u);
    CoreConfig replay = cancelling();
    replay.policy = RunPolicy::kReplay;
    replay.decisions = recorded.rig->decisions();
    for (const bool replay_late : {false, true}) {  // the host's timing does not matter any more
      Guests again(replay);
      const auto same = again.run(replay_late);
      ASSERT_GE(same.size(), 6u);
      const std::size_t n = std::min(same.size(), grants.size());
      EXPECT_TRUE(std::equal(grants.begin(), grants.begin() + static_cast<std::ptrdiff_t>(n), same.begin()));
    }
  }
}

TEST(Decisions, a_replay_stops_at_any_mismatch) {
  Guests recorded(recording_policy());
  recorded.run(false);
  for (const int what : {0, 1, 2}) {
    CoreConfig replay = cancelling();
    replay.policy = RunPolicy::kReplay;
    replay.decisions = recorded.rig->decisions();
    if (what == 0) replay.decisions[2].tid = T(99);
    if (what == 1) replay.decisions[1].outcome = Decision::Outcome::kDefer;
    if (what == 2) replay.decisions.resize(3);
    Guests again(replay);
    again.run(false);
    ASSERT_TRUE(again.rig->terminal_report()) << what;
    EXPECT_EQ(again.rig->terminal_report()->status, 125);
    EXPECT_THAT(again.rig->terminal_report()->text, HasSubstr("divergence"));
  }
}

TEST(Decisions, who_waits_for_the_host_is_woken_by_its_decision_alone) {
  const auto sleeper = [](CoreConfig config, bool host_reports) {
    auto rig = std::make_unique<Rig>(std::move(config));
    rig->root(3);
    const CallId call = rig->send(3, RequestResources{ResourceRequest::one(Resource::sleep_until(E(50)))});
    for (int i = 0; i < 4 && rig->pending(call); ++i) {
      if (rig->kind() == StepKind::kWaitExternal && host_reports) rig->core->host_expired(T(3));
    }
    EXPECT_FALSE(rig->pending(call));
    return rig;
  };
  const auto recorded = sleeper(recording_policy(), true);
  CoreConfig replay = cancelling();
  replay.policy = RunPolicy::kReplay;
  replay.decisions = recorded->core->decisions();
  EXPECT_EQ(replay.decisions.size(), 3u);  // parked, expired, granted
  sleeper(replay, false);
}

TEST(Decisions, a_wake_up_after_an_expiry_finds_the_same_waiter_again) {
  const auto run = [](CoreConfig config) {
    auto rig = std::make_unique<Rig>(std::move(config));
    rig->root(3, 1);
    for (const int t : {4, 5}) rig->thread(t, 3);
    const CallId timed = rig->wait_futex(5, rig->key(1), kFullFutexMask, E(50));  // the longest-waiting
    const CallId other = rig->wait_futex(4, rig->key(1));
    rig->send(3, RequestResources{});
    rig->core->host_expired(T(5));
    EXPECT_EQ(rig->step().thread, T(3));  // it is more urgent than who timed out
    EXPECT_EQ(rig->get<FutexAnswer>(rig->send(3, FutexWake{rig->key(1), 1, kFullFutexMask})).woken, 1u);
    rig->send(3, rig->leaving(3, 3));
    while (rig->kind() == StepKind::kGranted) {
      const int t = rig->core->running()->value;
      rig->send(t, rig->leaving(t, 3));
    }
    EXPECT_FALSE(rig->core->terminal_report()) << rig->core->terminal_report()->text;
    EXPECT_EQ(rig->get<FutexAnswer>(timed).status, FutexStatus::kTimedOut);
    EXPECT_EQ(rig->get<FutexAnswer>(other).status, FutexStatus::kWoken);
    return rig;
  };
  const auto recorded = run(recording_policy());
  CoreConfig replay = cancelling();
  replay.policy = RunPolicy::kReplay;
  replay.decisions = recorded->core->decisions();
  run(replay);
}

TEST(Decisions, a_log_that_ends_while_all_wait_is_a_divergence) {
  CoreConfig replay = cancelling();
  replay.policy = RunPolicy::kReplay;
  Decision park;
  park.tid = T(3);
  park.kind = ResourceKind::kSleepUntil;
  park.outcome = Decision::Outcome::kPark;
  replay.decisions = {park};
  Rig rig(replay);
  rig.root(3);
  rig.send(3, RequestResources{ResourceRequest::one(Resource::sleep_until(E(50)))});
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);
  EXPECT_EQ(rig->terminal_report()->status, 125);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("exhausted"));
}

TEST(Decisions, a_grant_without_its_expiry_is_a_divergence) {
  CoreConfig replay = cancelling();
  replay.policy = RunPolicy::kReplay;
  Decision sleep;
  sleep.tid = T(3);
  sleep.kind = ResourceKind::kSleepUntil;
  sleep.outcome = Decision::Outcome::kPark;
  replay.decisions = {sleep, sleep};
  Rig rig(replay);
  rig.root(3);
  rig.send(3, RequestResources{ResourceRequest::one(Resource::sleep_until(E(50)))});
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  rig->host_expired(T(3));  // not listened to
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("names thread 3, which cannot run"));
}

TEST(Decisions, a_log_that_ends_behind_a_vfork_barrier_is_a_divergence) {
  CoreConfig replay = cancelling();
  replay.policy = RunPolicy::kReplay;
  Rig rig(replay);
  rig.root(3);
  rig.process(5, 3);
  rig.fill(5);
  rig->queue_.remove(T(3));
  rig->external_[T(3)] = {T(3), 7};
  rig->barriers_[T(3)].child = T(5);
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);
  ASSERT_TRUE(rig->terminal_report());
  EXPECT_EQ(rig->terminal_report()->status, 125);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("exhausted"));
}

}  // namespace
}  // namespace detrec::core::testing
