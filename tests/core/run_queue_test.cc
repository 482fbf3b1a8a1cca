// The run queue: RUNQ-1 .. RUNQ-19.
#include <set>

#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

struct Queue {
  explicit Queue(QueuePolicy policy = QueuePolicy::kRoundRobin, double sticky = 0, std::uint64_t seed = 1)
      : queue(arena, {policy, sticky, seed}, &log) {}
  void add(int tid, std::uint32_t p) {
    queue.set_persistent(T(tid), {p});
    queue.push_back(T(tid));
  }
  int pick(RunQueue::CommitKind kind = RunQueue::CommitKind::kCompletedTurn) {
    const ThreadId tid = *queue.select();
    queue.commit(kind);
    return tid.value;
  }
  LogBuffer log;
  Arena arena;
  RunQueue queue;
};
constexpr QueuePolicy kPolicies[] = {QueuePolicy::kRoundRobin, QueuePolicy::kConnectBind,
                                     QueuePolicy::kRandom, QueuePolicy::kStickyRandom};

TEST(RunQueue, S_RUNQ_1_a_yield_lets_one_other_turn_pass) {
  for (const QueuePolicy policy : kPolicies) {
    Queue q(policy);
    q.add(1, 999);
    q.queue.select();
    q.queue.commit(RunQueue::CommitKind::kCompletedTurn);
    q.queue.push_yield(T(1));
    q.add(2, 10000);
    EXPECT_EQ(q.pick(), 2);
    EXPECT_FALSE(q.queue.yielded());
    EXPECT_EQ(q.queue.queued_priority(T(1)), Priority{999});
    q.queue.push_back(T(2));
    if (policy == QueuePolicy::kRoundRobin || policy == QueuePolicy::kConnectBind) {
      EXPECT_EQ(q.pick(), 1);
    }
  }
}

TEST(RunQueue, S_RUNQ_2_only_completed_turns_end_an_exclusion) {
  Queue q;
  q.queue.set_persistent(T(1), kDefaultPriority);
  q.queue.push_yield(T(1));
  q.add(2, 1000);
  EXPECT_EQ(q.pick(RunQueue::CommitKind::kSchedulerOnly), 2);
  EXPECT_EQ(q.queue.yielded(), T(1));
  q.queue.push_back(T(2));
  EXPECT_EQ(q.pick(), 2);
  EXPECT_FALSE(q.queue.yielded());
  EXPECT_EQ(q.pick(), 1);  // alone: exclusions are ignored
}

TEST(RunQueue, RUNQ_8_a_second_yield_is_fatal_and_a_lone_one_runs) {
  Queue q;
  q.queue.set_persistent(T(1), kDefaultPriority);
  q.queue.set_persistent(T(2), kDefaultPriority);
  q.queue.push_yield(T(1));
  EXPECT_DEATH(q.queue.push_yield(T(2)), "second yield");
  EXPECT_EQ(q.pick(), 1);
  q.queue.push_yield(T(1));  // its own turn ended the first one
}

TEST(RunQueue, S_RUNQ_3_exact_selection_bypasses_everything) {
  for (const QueuePolicy policy : kPolicies) {
    Queue q(policy);
    q.add(1, 1);
    q.add(2, 10000);
    EXPECT_EQ(q.queue.select_exact(T(2)), T(2));
    q.queue.commit(RunQueue::CommitKind::kCompletedTurn);
    EXPECT_THAT(q.queue.in_order(), ElementsAre(T(1)));
    EXPECT_FALSE(q.queue.select_exact(T(9)));
    EXPECT_EQ(q.queue.persistent(T(2)), Priority{10000});
  }
}

TEST(RunQueue, S_RUNQ_4_selection_window) {
  Queue q;
  q.add(1, 1000);
  q.add(2, 1000);
  EXPECT_FALSE(q.queue.selection_open());
  q.queue.select();
  EXPECT_TRUE(q.queue.selection_open());
  EXPECT_TRUE(q.queue.other_work(T(1)));  // RUNQ-14: queries are allowed
  q.queue.commit(RunQueue::CommitKind::kCompletedTurn);
  EXPECT_FALSE(q.queue.selection_open());
  q.queue.select_exact(T(2));
  EXPECT_TRUE(q.queue.selection_open());
  q.queue.undo();
  EXPECT_FALSE(q.queue.selection_open());
}

TEST(RunQueue, S_RUNQ_5_a_new_incarnation_inherits_nothing) {
  Queue q(QueuePolicy::kStickyRandom, 1.0);
  q.queue.set_persistent(T(7), kDefaultPriority);
  q.queue.push_yield(T(7));
  q.queue.select();
  q.queue.undo();
  EXPECT_EQ(q.queue.sticky_choice(), T(7));
  EXPECT_EQ(q.queue.yielded(), T(7));
  q.queue.remove(T(7));
  EXPECT_FALSE(q.queue.sticky_choice());
  EXPECT_FALSE(q.queue.yielded());
  q.queue.push_back(T(7));
  EXPECT_FALSE(q.queue.sticky_choice());
  EXPECT_FALSE(q.queue.yielded());
}

TEST(RunQueue, S_RUNQ_6_poll_bands) {
  const std::pair<std::uint32_t, std::uint32_t> cases[] = {
      {0, 1000}, {1, 2000}, {3, 8000}, {4, 10000}, {40, 10000}};
  for (const auto& [attempt, band] : cases) {
    Queue q;
    q.queue.set_persistent(T(1), kDefaultPriority);
    q.queue.push_poll(T(1), attempt);
    EXPECT_EQ(q.queue.queued_priority(T(1)), Priority{band});
    EXPECT_EQ(q.queue.poll_memory(T(1)), kDefaultPriority);
  }
}

TEST(RunQueue, S_RUNQ_7_pollers_return_every_200_pushes) {
  Queue q;
  q.queue.set_persistent(T(1), kDefaultPriority);
  q.queue.set_persistent(T(2), kDefaultPriority);
  q.queue.push_poll(T(1), 3);
  const auto order = q.queue.order(T(1));
  const auto push_until = [&](std::uint64_t n) {
    while (q.queue.pushes() < n) {
      q.queue.remove(T(2));
      q.queue.push_back(T(2));
    }
  };
  push_until(199);
  EXPECT_EQ(q.queue.queued_priority(T(1)), Priority{8000});
  push_until(200);
  EXPECT_EQ(q.queue.queued_priority(T(1)), kDefaultPriority);
  EXPECT_EQ(q.queue.order(T(1)), order);
  EXPECT_FALSE(q.queue.poll_memory(T(1)));
  push_until(400);
  EXPECT_EQ(q.queue.queued_priority(T(1)), kDefaultPriority);
  EXPECT_EQ(q.queue.order(T(1)), order);
}

TEST(RunQueue, S_RUNQ_8_bad_pushes_are_fatal) {
  Queue q;
  EXPECT_DEATH(q.queue.push_back(T(1), {0}), "out of range");
  EXPECT_DEATH(q.queue.push_front(T(1), {10001}), "out of range");
  q.add(1, 1000);
  EXPECT_DEATH(q.queue.push_back(T(1)), "queued twice");
  EXPECT_DEATH(q.queue.push_eager(T(1)), "queued twice");
}

TEST(RunQueue, S_RUNQ_9_priorities_from_random_values) {
  EXPECT_EQ(priority_from_random(0), kFirstPriority);
  EXPECT_EQ(priority_from_random(9'999), kLastPriority);
  EXPECT_EQ(priority_from_random(10'000), kFirstPriority);
  EXPECT_EQ(kEagerPriority.value, 0u);  // RUNQ-1
  EXPECT_EQ(kReplayForeground.value, 1u);
  EXPECT_EQ(kReplayDeferred.value, 9999u);
}

TEST(RunQueue, S_RUNQ_10_suspend_and_restore) {
  Queue q;
  q.queue.set_persistent(T(1), kDefaultPriority);
  q.queue.push_poll(T(1), 1);
  const auto order = q.queue.order(T(1));
  auto entry = q.queue.suspend(T(1));
  ASSERT_TRUE(entry);
  EXPECT_FALSE(q.queue.contains(T(1)));
  q.queue.restore(T(1), *entry);
  EXPECT_EQ(q.queue.queued_priority(T(1)), Priority{2000});
  EXPECT_EQ(q.queue.order(T(1)), order);
  EXPECT_EQ(q.queue.poll_memory(T(1)), kDefaultPriority);
  entry = q.queue.suspend(T(1));
  q.queue.set_persistent(T(1), {5});
  q.queue.restore(T(1), *entry);
  EXPECT_EQ(q.queue.queued_priority(T(1)), Priority{5});
  EXPECT_EQ(q.queue.poll_memory(T(1)), Priority{5});
  EXPECT_EQ(q.queue.order(T(1)), order);
}

std::vector<int> choices(QueuePolicy policy, double sticky, std::uint64_t seed, int n) {
  Queue q(policy, sticky, seed);
  for (int t = 1; t <= 3; ++t) q.add(t, 1000);
  std::vector<int> out;
  for (int i = 0; i < n; ++i) {
    out.push_back(q.pick());
    q.queue.push_back(T(out.back()));
  }
  return out;
}

TEST(RunQueue, S_RUNQ_11_equal_seeds_equal_choices) {
  EXPECT_EQ(choices(QueuePolicy::kRandom, 0, 42, 64), choices(QueuePolicy::kRandom, 0, 42, 64));
  EXPECT_NE(choices(QueuePolicy::kRandom, 0, 42, 64), choices(QueuePolicy::kRandom, 0, 43, 64));
  const auto drawn = choices(QueuePolicy::kRandom, 0, 42, 64);
  EXPECT_EQ(std::set<int>(drawn.begin(), drawn.end()).size(), 3u);
}

TEST(RunQueue, S_RUNQ_12_timed_wakes_go_to_the_front_futex_wakes_to_the_back) {
  Rig rig;
  rig.root(17);
  rig.process(19, 17);
  rig.sleep(17, E());
  EXPECT_TRUE(rig->handle_due_event());
  EXPECT_THAT(rig.queued(), ElementsAre(17, 19));
  Rig other;
  other.root(17);
  other.process(19, 17);
  other.wait_futex(17, other.key(0x10));
  other.send(19, FutexWake{other.key(0x10), 1, kFullFutexMask});
  EXPECT_THAT(other.queued(), ElementsAre(19, 17));
}

TEST(RunQueue, S_RUNQ_13_temporary_placements_are_forgotten) {
  Rig rig;
  rig.root(17);
  rig.fill(17, ResourceRequest::one(Resource::polled_io()).with_attempt(2));
  rig.step();
  EXPECT_EQ(rig.priority(17), 4000);
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_EQ(rig.priority(17), 1000);
  EXPECT_DEATH(rig->queue_.push_back(T(99)), "no persistent priority");  // RUNQ-16
}

TEST(RunQueue, S_RUNQ_14_stickiness) {
  EXPECT_EQ(choices(QueuePolicy::kStickyRandom, 0.0, 7, 32), choices(QueuePolicy::kRandom, 0.0, 7, 32));
  const auto kept = choices(QueuePolicy::kStickyRandom, 1.0, 7, 32);
  EXPECT_THAT(kept, Each(kept[0]));
}

TEST(RunQueue, S_RUNQ_15_other_work) {
  Queue q;
  q.add(17, 1000);
  EXPECT_FALSE(q.queue.other_work(T(17)));
  q.add(19, 10000);
  EXPECT_FALSE(q.queue.other_work(T(17)));
  q.queue.remove(T(19));
  q.queue.push_back(T(19), {9999});
  EXPECT_TRUE(q.queue.other_work(T(17)));
}

TEST(RunQueue, S_RUNQ_16_draws_are_logged) {
  Queue q(QueuePolicy::kRandom, 0, 0x77);
  EXPECT_EQ(q.log.count("seed 0x77"), 1);
  q.add(1, 1000);
  q.add(2, 1000);
  q.queue.select();
  EXPECT_EQ(q.log.count("choice draw in [0,2) = "), 1);
}

TEST(RunQueue, S_RUNQ_17_forced_unblock) {
  const auto side = [](bool targeted, std::uint64_t seed) {
    CoreConfig config = plain();
    config.chaos.race_targeted = targeted;
    config.fuzz_seed = seed;
    Rig rig(config);
    rig.root(17);
    rig.process(19, 17);
    const CallId call = rig.wait_futex(17, rig.key(0x10), kFullFutexMask, E(500));
    rig->force_unblock(T(17), ResourceRequest::one(Resource::inbound_signal(kSigUsr1)));
    EXPECT_FALSE(rig->futexes_.waiting(T(17)));
    EXPECT_TRUE(rig->timed_.empty());
    EXPECT_TRUE(rig.request(17).is(ResourceKind::kInboundSignal));
    EXPECT_TRUE(rig.pending(call));
    return rig.queued().front();
  };
  EXPECT_EQ(side(false, 1), 19);
  std::set<int> sides;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    sides.insert(side(true, seed));
    EXPECT_EQ(side(true, seed), side(true, seed));
  }
  EXPECT_EQ(sides.size(), 2u);
}

TEST(RunQueue, RUNQ_19_streams_are_independent_and_seeds_fall_back) {
  CoreConfig config;
  config.master_seed = 9;
  EXPECT_EQ(config.effective_scheduler_seed(), 9u);
  EXPECT_EQ(config.effective_fuzz_seed(), 9u);
  config.fuzz_seed = 4;
  EXPECT_EQ(config.effective_fuzz_seed(), 4u);
  Queue a(QueuePolicy::kRandom, 0, 5), b(QueuePolicy::kRandom, 0, 5);
  for (Queue* q : {&a, &b}) {
    for (int t = 1; t <= 3; ++t) q->add(t, 1000);
  }
  b.queue.draw_post_fork_front(PostForkPolicy::kRandom);  // another stream
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(a.queue.select(), b.queue.select());
    a.queue.undo(), b.queue.undo();
  }
}

}  // namespace
}  // namespace detrec::core::testing
