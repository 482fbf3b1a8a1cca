// Thread creation and the vfork barrier: FORK-1 .. FORK-22, VFORK-1 .. VFORK-10.
#include "server/core/helper/guest_thread.h"
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

constexpr std::uint64_t kThreadFlags = CloneFlags::kThread | CloneFlags::kVm | CloneFlags::kSighand;
RegisterChild registering(int child, int process, std::uint64_t flags, std::uint64_t address = 0) {
  return {
      T(child),      P(process), address, {flags}, (flags & CloneFlags::kThread) != 0 ? Signal{} : kSigChld,
      Priority{1000}};
}
bool cleared(Rig& rig, int tid, AddressSpaceId as, std::uint64_t address) {
  const auto it = rig->cleared_.find(static_cast<std::uint32_t>(tid));
  return it != rig->cleared_.end() && it->second.contains(FutexKey::private_key(as, address));
}

TEST(Fork, S_FORK_1_registration_without_clear_tid) {  // FORK-1, FORK-22: one message registers the child
  for (const bool thread : {false, true}) {
    for (const std::uint64_t extra : {std::uint64_t{0}, CloneFlags::kChildSetTid}) {
      CoreConfig config = cancelling();
      config.post_fork = PostForkPolicy::kParentFirst;
      auto rig = fx_one(true, config);
      const AddressSpaceId child_as = AS(17).cloned(T(18), thread);
      const CallId call = rig->send(17, registering(18, 17, (thread ? kThreadFlags : 0) | extra, 0x1234));
      EXPECT_TRUE(rig->pending(call));
      EXPECT_EQ(rig->request(17), ResourceRequest::one(Resource::parent_continue(T(17), T(18))));
      EXPECT_TRUE(rig->request(17).items[0].write);
      EXPECT_EQ(rig->kind(), StepKind::kGranted);
      EXPECT_TRUE(rig->acknowledged(call));
      EXPECT_EQ(rig->core->live_threads(P(17)).size() + rig->core->live_threads(P(18)).size(), 2u);
      EXPECT_EQ(rig->core->record(T(18))->child_tid_address, 0u);
      rig->core->kill_thread(T(18), child_as);
      EXPECT_FALSE(cleared(*rig, 18, child_as, 0x1234));
      EXPECT_FALSE(cleared(*rig, 18, child_as, 0));
      EXPECT_FALSE(cleared(*rig, 17, child_as, 0x1234));
    }
  }
}

TEST(Fork, S_FORK_2_registration_with_clear_tid) {
  for (const std::uint64_t extra : {std::uint64_t{0}, CloneFlags::kChildSetTid}) {
    for (const std::uint64_t address : {0x1234u, 0u}) {
      auto rig = fx_one();
      rig->send(17, registering(18, 17, kThreadFlags | CloneFlags::kChildClearTid | extra, address));
      EXPECT_EQ(rig->core->record(T(18))->child_tid_address, address);
      rig->core->kill_thread(T(18), AS(17));
      EXPECT_EQ(cleared(*rig, 18, AS(17), 0x1234), address != 0);
      EXPECT_FALSE(cleared(*rig, 18, AS(17), 0));
      EXPECT_FALSE(cleared(*rig, 17, AS(17), 0x1234));
    }
  }
}

TEST(Fork, S_FORK_3_address_replaced) {
  auto rig = fx_one();
  rig->core->record(T(17))->child_tid_address = 0x1234;
  EXPECT_TRUE(rig->acknowledged(rig->send(17, SetChildTidAddress{0})));
  EXPECT_EQ(rig->core->record(T(17))->child_tid_address, 0u);
}

TEST(Fork, S_FORK_4_a_dead_id_is_not_registered) {  // ID-22
  auto rig = fx_one();
  rig->thread(18, 17);
  rig->core->kill_thread(T(18), AS(17));
  EXPECT_TRUE(rig->refused(rig->send(17, registering(18, 17, kThreadFlags))));
  EXPECT_FALSE(rig->core->is_registered(T(18)));
  EXPECT_FALSE(rig->core->queue_.has_persistent(T(18)));
  EXPECT_TRUE(rig->core->is_tombstoned(T(18)));
  EXPECT_FALSE(rig->core->clock().contains(T(17)));
}

TEST(Fork, S_FORK_6_death_ends_a_start) {
  auto rig = fx_one();
  const CallId call = rig->send(17, StartThread{});
  EXPECT_TRUE(rig->pending(call));
  rig->core->kill_thread(T(17), AS(17));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
  EXPECT_FALSE(rig->core->queue_.has_persistent(T(17)));
}

TEST(Fork, FORK_16_death_before_registration_ends_a_start) {
  auto rig = fx_one();
  const CallId call = rig->send(19, StartThread{});
  rig->core->kill_thread(T(19), AS(19));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
  EXPECT_TRUE(rig->refused(rig->send(19, StartThread{})));
}

TEST(Fork, S_FORK_9_post_fork_draws) {
  Arena a, b;
  RunQueue x(a, {QueuePolicy::kRoundRobin, 0, 1234}, nullptr),
      y(b, {QueuePolicy::kRoundRobin, 0, 1234}, nullptr);
  int fronts = 0;
  for (int i = 0; i < 64; ++i) {
    const bool front = x.draw_post_fork_front(PostForkPolicy::kRandom);
    EXPECT_EQ(front, y.draw_post_fork_front(PostForkPolicy::kRandom));
    fronts += front;
    EXPECT_TRUE(x.draw_post_fork_front(PostForkPolicy::kChildFirst));
    EXPECT_FALSE(x.draw_post_fork_front(PostForkPolicy::kParentFirst));
  }
  EXPECT_GT(fronts, 0);
  EXPECT_LT(fronts, 64);
}

TEST(Fork, S_FORK_10_priorities_of_a_preemption_replay) {
  CoreConfig config = plain();
  config.replay_preemptions = PreemptionRecord{};
  config.replay_preemptions->threads[T(19)].final = {7};
  Rig rig(config);
  EXPECT_EQ(rig->initial_priority(T(18), T(17), std::nullopt, false), kDefaultPriority);
  EXPECT_EQ(rig.log.count("thread 18 is not in the preemption record"), 1);
  EXPECT_EQ(rig->initial_priority(T(19), T(17), std::nullopt, false), Priority{7});
  EXPECT_DEATH(rig->initial_priority(T(19), T(17), Priority{8}, false), "recorded and a supplied");
  rig->config_.replay_preemptions->threads[T(18)].final = {20000};
  EXPECT_DEATH(rig->initial_priority(T(18), T(17), std::nullopt, false), "out of range");
  Rig other;
  EXPECT_DEATH(other->initial_priority(T(18), T(17), Priority{20000}, false), "out of range");
}

TEST(Fork, S_FORK_11_the_start_mark_is_not_inherited) {
  GuestThread parent(T(17), AS(17), ThreadClock());
  parent.enter_start();
  EXPECT_FALSE(parent.child(T(18), false).start_entered());
  EXPECT_FALSE(parent.child(T(18), true).start_entered());
  EXPECT_TRUE(parent.start_entered());
}

TEST(Fork, S_FORK_12_the_start_mark_precedes_the_first_wait) {
  auto rig = fx_one();
  GuestThread child = GuestThread(T(17), AS(17), ThreadClock()).child(T(18), true);
  child.enter_start();
  const CallId start = rig->core->send(child.message(StartThread{}));
  rig->collect();
  EXPECT_TRUE(rig->pending(start));
  EXPECT_TRUE(child.start_entered());
  rig->send(17, registering(18, 17, kThreadFlags));
  EXPECT_TRUE(rig->core->is_registered(T(18)));
  EXPECT_TRUE(rig->filled(18));
}

TEST(Fork, S_FORK_13_initial_priorities) {
  const auto p = [](InitialPriorityRule rule, int child, std::uint64_t draw) {
    return initial_priority_for(rule, T(child), draw);
  };
  EXPECT_EQ(p({}, 3, 0), Priority{1000});
  EXPECT_EQ(p({}, 4, 0), Priority{1000});
  EXPECT_EQ(p({.schedule_replay = true}, 3, 0), Priority{1});
  EXPECT_EQ(p({.schedule_replay = true}, 4, 0), Priority{9999});
  EXPECT_EQ(p({.race_targeted = true}, 3, 6), Priority{1});
  EXPECT_EQ(p({.race_targeted = true}, 4, 7), Priority{10000});
  EXPECT_EQ(p({.chaos = true}, 4, 41), Priority{42});
  EXPECT_EQ(p({.preemption_replay = true}, 4, 41), std::nullopt);
}

TEST(Fork, S_FORK_14_a_priority_is_set_once) {
  Rig rig;
  rig.root(17);
  rig->queue_.set_persistent(T(18), {50});
  const auto again = [](Rig& r) {
    r->register_thread(T(18), T(17), P(17), {kThreadFlags}, {}, 0, Priority{60}, AS(17));
  };
  EXPECT_DEATH(again(rig), "already has a priority");
  CoreConfig config = plain();
  config.replay_schedule = std::vector<ScheduleEvent>{};
  Rig replay(config);
  replay.root(17);
  replay->queue_.set_persistent(T(18), {50});
  again(replay);
  EXPECT_EQ(replay->queue_.persistent(T(18)), Priority{50});
}

TEST(Fork, S_FORK_16_start_waits_for_registration) {
  auto rig = fx_one();
  const CallId call = rig->send(18, StartThread{});
  EXPECT_TRUE(rig->pending(call));
  EXPECT_FALSE(rig->core->clock().contains(T(18)));
  EXPECT_FALSE(rig->core->is_registered(T(18)));
  rig->send(17, registering(18, 17, kThreadFlags));
  EXPECT_EQ(rig->request(18), ResourceRequest::one(Resource::address_space(P(17))));
  EXPECT_EQ(rig->core->record(T(18))->origin.kind, MessageKind::kThreadStart);  // FORK-15
  EXPECT_TRUE(rig->pending(call));
  EXPECT_EQ(rig->step().thread, T(18));
  EXPECT_EQ(rig->get<StartAnswer>(call).history, nullptr);
}

TEST(Fork, S_FORK_17_first_grants_carry_histories) {
  CoreConfig config = plain();
  config.replay_preemptions = PreemptionRecord{};
  PreemptionHistory h;
  h.final = {9};
  h.changes = {{ns(50), {7}}};
  config.replay_preemptions->threads[T(18)] = h;
  config.replay_preemptions->threads[T(17)] = {};
  Rig rig(config);
  rig.root(17);
  rig.known(18, 17, false), rig.known(19, 17, false);
  rig->queue_.push_back(T(18)), rig->queue_.push_back(T(19));
  rig->queue_.remove(T(17));
  const CallId first = rig.send(18, StartThread{}), second = rig.send(19, StartThread{});
  rig.step();
  rig->queue_.remove(T(18));
  rig.step();
  ASSERT_NE(rig.get<StartAnswer>(first).history, nullptr);
  EXPECT_EQ(*rig.get<StartAnswer>(first).history, h);
  EXPECT_EQ(rig->queue_.persistent(T(18)), Priority{7});
  ASSERT_NE(rig.get<StartAnswer>(second).history, nullptr);
  EXPECT_EQ(*rig.get<StartAnswer>(second).history, PreemptionHistory{});
  EXPECT_EQ(rig->queue_.persistent(T(19)), kDefaultPriority);
  EXPECT_EQ(rig.log.count("thread 19 has no preemption history"), 1);
}

TEST(Fork, S_FORK_20_only_registered_threads_have_an_address) {
  auto rig = fx_one();
  EXPECT_TRUE(rig->refused(rig->send(18, SetChildTidAddress{5})));
}

TEST(Fork, S_FORK_21_what_a_registration_creates) {
  Rig rig;
  rig.as[17] = AS(17);
  EXPECT_TRUE(rig.acknowledged(rig.send(17, RegisterChild{T(17), P(17), 0, {}, {}, std::nullopt})));
  rig.send(17, StartThread{});
  EXPECT_EQ(rig.step().thread, T(17));
  EXPECT_EQ(rig->tree_.creator(T(17)), T(17));
  rig.send(17, registering(18, 17, 0));
  rig.step();
  rig.send(18, StartThread{});
  rig.step();
  rig.fill(18);
  EXPECT_EQ(rig.step().thread, T(17));
  rig.send(17, registering(19, 17, kThreadFlags));
  const WaitMeta* meta = rig->waits_.meta(P(18));
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->parent, P(17));
  EXPECT_EQ(meta->exit_signal, kSigChld);
  EXPECT_TRUE(rig->tree_.is_leader(T(18)));
  EXPECT_EQ(rig->process_of(T(19)), P(17));
  EXPECT_FALSE(rig.filled(19));
  EXPECT_TRUE(rig->admissions_.contains(T(19)));
  EXPECT_TRUE(rig->queue_.has_persistent(T(19)));
  EXPECT_EQ(rig->creation_order_, Ts({17, 18, 19}));
}

TEST(Fork, S_FORK_22_child_first_is_the_default) {
  Rig rig;
  rig.root(17);
  rig.send(17, registering(18, 17, 0));
  rig->drain();
  EXPECT_THAT(rig.queued(), ElementsAre(18, 17));
}

TEST(Fork, FORK_11_death_of_the_parent_refuses_its_registration) {
  auto rig = fx_one();
  const CallId call = rig->send(17, registering(18, 17, 0));
  rig->core->kill_thread(T(17), AS(17));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
}

// --- vfork ---

TEST(Vfork, S_VFORK_1_no_guest_runs_before_the_child_registers) {
  Rig rig;
  rig.root(3);
  rig.external(3, 7);
  rig->barriers_[T(3)] = {};
  rig->proofs_[T(3)] = {P(3), AS(3)};
  EXPECT_TRUE(rig->vfork_hold());
  rig.process(9, 3);
  rig.fill(9);
  EXPECT_EQ(rig.kind(), StepKind::kWaitExternal);  // 9 is ready, but not selectable
  rig.as[5] = AS(3);
  EXPECT_TRUE(rig.acknowledged(rig.send(
      5, RegisterVforkChild{T(5), T(3), 0, {CloneFlags::kVfork | CloneFlags::kVm}, kSigChld, std::nullopt})));
  EXPECT_FALSE(rig->vfork_hold());
  EXPECT_EQ(rig->barriers_.at(T(3)).child, T(5));
  rig.send(5, StartThread{});
  EXPECT_EQ(rig.step().thread, T(5));
}

TEST(Vfork, S_VFORK_2_a_finished_parent_ends_its_barrier) {
  Rig rig;
  rig.root(3);
  rig.external(3, 7);
  rig->barriers_[T(3)] = {};
  rig.fill(3, Resource::external(ResourceKind::kExternalDone, {T(3), 7}));
  EXPECT_FALSE(rig->vfork_hold());
  EXPECT_TRUE(rig->barriers_.empty());
}

TEST(Vfork, S_VFORK_4_a_failed_vfork_ends_its_barrier) {  // VFORK-8
  Rig rig;
  rig.root(3);
  rig.external(3, 7);
  rig->barriers_[T(3)] = {};
  rig->proofs_[T(3)] = {P(3), AS(3)};
  rig.fill(3, Resource::external(ResourceKind::kVforkFailed, {T(3), 7}));
  EXPECT_FALSE(rig->vfork_hold());
  EXPECT_TRUE(rig->barriers_.empty());
  EXPECT_TRUE(rig->proofs_.empty());
  rig->harvest_external();
  EXPECT_EQ(rig.priority(3), 0);
}

// FX-GROUP
std::unique_ptr<Rig> fx_group_fork() {
  auto rig = std::make_unique<Rig>(cancelling());
  rig->root(17);
  for (const int t : {18, 19, 23}) rig->thread(t, 17);
  rig->core->tree_.add(T(13), T(17), false);
  rig->process(31, 17);
  return rig;
}

TEST(Vfork, S_VFORK_5_the_registration_proof) {
  for (const bool shares : {true, false}) {
    for (const int finish : {0, 1, 2}) {
      auto rig = fx_group_fork();
      const AddressSpaceId parent_as = AS(59, 1), child_as = parent_as.cloned(T(41), shares);
      rig->as[17] = parent_as;
      rig->core->given_up_.insert(T(41));
      const auto proof = [&](int parent, int child, AddressSpaceId as) {
        return rig->core->proof_matches(T(parent), T(child), as, shares);
      };
      rig->send(17, RequestResources{
                        ResourceRequest::one(Resource::external(ResourceKind::kVforkBlock, {T(17), 7}))});
      EXPECT_FALSE(proof(17, 41, child_as));
      for (const int t : {18, 19, 23, 31}) rig->fill(t);
      EXPECT_EQ(rig->kind(), StepKind::kSkip);
      EXPECT_FALSE(rig->core->record(T(17))->origin.present);
      EXPECT_TRUE(proof(17, 41, child_as));
      EXPECT_FALSE(proof(18, 41, child_as));
      EXPECT_FALSE(proof(31, 41, child_as));
      EXPECT_FALSE(proof(17, 17, child_as));
      EXPECT_FALSE(proof(17, 31, child_as));
      EXPECT_FALSE(proof(17, 41, {child_as.owner, child_as.exec_count + 1}));
      if (finish == 0) {
        rig->as[41] = child_as;
        EXPECT_TRUE(rig->acknowledged(
            rig->send(41, RegisterVforkChild{T(41),
                                             T(17),
                                             0,
                                             {CloneFlags::kVfork | (shares ? CloneFlags::kVm : 0)},
                                             kSigChld,
                                             std::nullopt})));
      } else if (finish == 1) {
        rig->fill(17, Resource::external(ResourceKind::kVforkFailed, {T(17), 7}));
        rig->core->vfork_hold();
      } else {
        rig->core->kill_thread(T(17), parent_as);
      }
      EXPECT_FALSE(proof(17, 41, child_as));
      EXPECT_EQ(rig->core->given_up_.contains(T(41)), finish != 0);
    }
  }
}

// VFORK-2: while a barrier stands, its blocked child makes the queue count as empty.
struct BehindBarrier : Rig {
  explicit BehindBarrier(CoreConfig config = cancelling()) : Rig(std::move(config)) {
    root(3);
    process(9, 3);
    fill(9);
    send(3, RequestResources{ResourceRequest::one(Resource::external(ResourceKind::kVforkBlock, {T(3), 7}))});
    while (!core->external_.contains(T(3))) step();
    as[5] = AS(3);
    send(5,
         RegisterVforkChild{T(5), T(3), 0, {CloneFlags::kVfork | CloneFlags::kVm}, kSigChld, std::nullopt});
    send(5, StartThread{});
    while (core->running() != T(5)) step();
  }
};

TEST(Vfork, VFORK_2_TURN_22_a_blocked_child_s_operation_is_harvested_before_ready_threads) {
  BehindBarrier rig;
  rig.send(
      5, RequestResources{ResourceRequest::one(Resource::external(ResourceKind::kExternalBlock, {T(5), 1}))});
  EXPECT_EQ(rig.kind(), StepKind::kSkip);
  EXPECT_EQ(rig.kind(), StepKind::kWaitExternal);
  rig.send(
      5, RequestResources{ResourceRequest::one(Resource::external(ResourceKind::kExternalDone, {T(5), 1}))});
  const StepResult r = rig.step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(5));
}

TEST(Vfork, VFORK_2_TURN_26_a_child_s_deferred_signal_comes_back_before_ready_threads) {
  BehindBarrier rig;
  rig.fill(5, Resource::inbound_signal(kSigChld));
  EXPECT_EQ(rig.kind(), StepKind::kSkip);  // deferred: 9 is ready
  const StepResult r = rig.step();
  EXPECT_EQ(r.kind, StepKind::kGranted);
  EXPECT_EQ(r.thread, T(5));
}

TEST(Vfork, TURN_41_a_child_that_waits_for_ever_is_a_deadlock) {
  BehindBarrier rig;
  rig.wait_futex(5, rig.key(0x1000, 3));
  EXPECT_EQ(rig.kind(), StepKind::kTerminal);  // nobody else may run, and 3 waits for 5
  EXPECT_EQ(rig->terminal_report()->status, 1);
  EXPECT_THAT(rig->terminal_report()->text, HasSubstr("blocked: futex waiters, vfork parents"));
  BehindBarrier dead;
  dead.wait_futex(5, dead.key(0x1000, 3));
  dead->kill_thread(T(5), AS(3));
  EXPECT_NE(dead.kind(), StepKind::kTerminal);
  EXPECT_EQ(dead.kind(), StepKind::kWaitExternal);  // the kernel lets the parent go
}

TEST(Vfork, S_VFORK_6_no_barrier_is_fatal) {
  Rig rig;
  rig.root(3);
  rig.as[5] = AS(3);
  EXPECT_DEATH(rig.send(5, RegisterVforkChild{T(5), T(3), 0, {CloneFlags::kVfork}, kSigChld, std::nullopt}),
               "no open barrier");
}

TEST(Vfork, S_VFORK_7_priority_of_the_child) {
  Rig rig;
  EXPECT_EQ(rig->initial_priority(T(5), T(3), std::nullopt, true), Priority{999});
  CoreConfig config = plain();
  config.chaos.enabled = true;
  Rig chaos(config);
  chaos->vfork_random_[T(3)] = 41;
  EXPECT_EQ(chaos->initial_priority(T(5), T(3), std::nullopt, true), Priority{42});
  chaos->vfork_random_.clear();
  chaos.root(3);
  chaos.fill(3, Resource::vfork_block({T(3), 1}, 99));
  chaos.step();
  EXPECT_EQ(chaos->initial_priority(T(5), T(3), std::nullopt, true), Priority{100});
  chaos->vfork_random_.clear();
  EXPECT_DEATH(chaos->initial_priority(T(5), T(3), std::nullopt, true), "no random value");
}

TEST(Vfork, S_VFORK_8_exec_drops_barriers_of_the_retired) {
  Rig rig;
  rig.root(3);
  rig.process(7, 3);
  rig->barriers_[T(3)].child = T(5);
  rig->barriers_[T(7)].child = T(9);
  rig->proofs_[T(3)] = rig->proofs_[T(7)] = {P(3), AS(3)};
  rig->drop_barriers_naming(T(9));
  EXPECT_FALSE(rig->barriers_.contains(T(7)));
  EXPECT_FALSE(rig->proofs_.contains(T(7)));
  EXPECT_TRUE(rig->barriers_.contains(T(3)));
}

TEST(Vfork, S_VFORK_9_what_granting_a_vfork_block_records) {
  Rig rig;
  rig.root(17);
  rig.as[17] = AS(59, 1);
  const auto block = ResourceRequest::one(Resource::external(ResourceKind::kVforkBlock, {T(17), 7}));
  rig.send(17, RequestResources{block});
  rig.step();
  ASSERT_TRUE(rig->barriers_.contains(T(17)));
  EXPECT_FALSE(rig->barriers_.at(T(17)).child);
  EXPECT_EQ(rig->proofs_.at(T(17)).process, P(17));
  EXPECT_EQ(rig->proofs_.at(T(17)).as, AS(59, 1));
  rig->external_.clear();
  rig->barriers_[T(17)].child = T(17);
  rig.fill(17, block);
  rig->queue_.push_back(T(17));
  rig->queue_.select();
  EXPECT_DEATH(rig->decide(T(17)), "has a vfork barrier");
}

}  // namespace
}  // namespace detrec::core::testing
