// Futexes and robust lists: FUTEX-1 .. FUTEX-16, ROBUST-1 .. ROBUST-14.
#include <set>

#include "server/core/helper/robust_batch.h"
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

std::uint32_t wake(Rig& rig, int tid, const FutexKey& key, std::uint32_t n,
                   std::uint32_t mask = kFullFutexMask) {
  return rig.get<FutexAnswer>(rig.send(tid, FutexWake{key, n, mask})).woken;
}
/// Processes 21, 22 and 23, children of 3, wait at `key` in this order.
void three_wait(Rig& rig, const FutexKey& key) {
  for (const int t : {21, 22, 23}) {
    rig.process(t, 3);
    rig.wait_futex(t, key);
  }
}
FutexStatus futex_status(Rig& rig, CallId call) { return rig.get<FutexAnswer>(call).status; }

TEST(Futex, S_FUTEX_1_an_unknown_thread_is_interrupted) {
  Rig rig;
  EXPECT_EQ(futex_status(rig, rig.wait_futex(17, rig.key(0x1000, 17))), FutexStatus::kInterrupted);
}

TEST(Futex, S_FUTEX_2_a_cleared_address_wakes_at_once) {
  auto rig = fx_one();
  const FutexKey key = rig->key(0x1000, 17);
  rig->thread(18, 17);
  rig->core->record(T(18))->child_tid_address = 0x1000;
  rig->core->kill_thread(T(18), AS(17));
  EXPECT_TRUE(rig->core->cleared_[18].contains(key));
  EXPECT_FALSE(rig->core->cleared_[19].contains(key));
  EXPECT_EQ(futex_status(*rig, rig->wait_futex(17, key, kFullFutexMask, std::nullopt, 18)),
            FutexStatus::kWoken);
  EXPECT_TRUE(rig->core->futexes_.empty());
}

TEST(Futex, S_FUTEX_3_masks) {
  Arena arena;
  FutexTable t(arena);
  const FutexKey key = FutexKey::private_key(AS(1), 1);
  for (int i : {1, 2, 3}) t.add(T(i), key, static_cast<std::uint32_t>(i));
  EXPECT_TRUE(t.take(key, 10, 0).empty());
  EXPECT_EQ(t.waiters(), 3u);
  EXPECT_EQ(t.take(key, 10, 2), Ts({2, 3}));
  EXPECT_EQ(t.waiters_of(key), Ts({1}));
}

TEST(Futex, S_FUTEX_4_the_longest_waiting_are_woken) {
  Rig rig;
  rig.root(3);
  const FutexKey key = rig.key(0x1000);
  three_wait(rig, key);
  EXPECT_EQ(wake(rig, 3, key, 1), 1u);
  EXPECT_THAT(rig.queued(), ElementsAre(3, 21));
  EXPECT_EQ(wake(rig, 3, key, 2), 2u);
  EXPECT_THAT(rig.queued(), ElementsAre(3, 21, 22, 23));
}

TEST(Futex, requeue_wakes_some_and_moves_some_oldest_first) {
  Rig rig;
  rig.root(3);
  const FutexKey from = rig.key(0x1000), to = rig.key(0x2000);
  for (const int t : {21, 22, 23, 24, 25}) {
    rig.process(t, 3);
    rig.wait_futex(t, t == 25 ? to : from, 1u << (t - 20));
  }
  const FutexAnswer answer = rig.get<FutexAnswer>(rig.send(3, FutexRequeue{from, 1, to, 2}));
  EXPECT_EQ(answer.woken, 1u);
  EXPECT_EQ(answer.moved, 2u);
  EXPECT_THAT(rig.queued(), ElementsAre(3, 21));
  EXPECT_EQ(rig->futexes_.waiters_of(from), Ts({24}));
  EXPECT_EQ(rig->futexes_.waiters_of(to), Ts({25, 22, 23}));
  EXPECT_EQ(wake(rig, 3, to, 10, 1u << 2), 1u);  // masks stay with the waiters
  EXPECT_THAT(rig.queued(), ElementsAre(3, 21, 22));
}

TEST(Futex, requeue_to_the_same_futex_counts_and_keeps_the_order) {
  Rig rig;
  rig.root(3);
  const FutexKey key = rig.key(0x1000);
  three_wait(rig, key);
  const FutexAnswer answer = rig.get<FutexAnswer>(rig.send(3, FutexRequeue{key, 0, key, 2}));
  EXPECT_EQ(answer.woken, 0u);
  EXPECT_EQ(answer.moved, 2u);
  EXPECT_EQ(rig->futexes_.waiters_of(key), Ts({21, 22, 23}));
}

TEST(Futex, S_FUTEX_5_shuffling_is_seeded) {
  const auto order = [](std::uint64_t seed) {
    CoreConfig config = plain();
    config.shuffle_futexes = true;
    config.fuzz_seed = seed;
    Rig rig(config);
    rig.root(3);
    const FutexKey key = rig.key(0x1000);
    for (int t = 21; t <= 26; ++t) {
      rig.process(t, 3);
      rig.wait_futex(t, key);
    }
    for (int i = 0; i < 6; ++i) wake(rig, 3, key, 1);
    return rig.queued();
  };
  EXPECT_EQ(order(5), order(5));
  std::set<std::vector<int>> orders;
  for (std::uint64_t s = 0; s < 8; ++s) orders.insert(order(s));
  EXPECT_GT(orders.size(), 1u);
}

TEST(Futex, S_FUTEX_6_deadline_first) {
  Rig rig;
  rig.root(17);
  rig.process(19, 17);
  const CallId call = rig.wait_futex(17, rig.key(0x1000), kFullFutexMask, E(100));
  EXPECT_EQ(rig.deadline_of(17), E(100));
  rig.fill(19);
  rig->clock_.add_extra(ns(100));
  EXPECT_EQ(rig.step().thread, T(17));
  EXPECT_FALSE(rig->futexes_.waiting(T(17)));
  EXPECT_EQ(futex_status(rig, call), FutexStatus::kTimedOut);
}

TEST(Futex, S_FUTEX_7_death_ends_a_wait) {
  auto rig = fx_one();
  const CallId call = rig->wait_futex(17, rig->key(0x1000, 17));
  EXPECT_TRUE(rig->pending(call));
  rig->core->kill_thread(T(17), AS(17));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
  EXPECT_TRUE(rig->core->futexes_.empty());
}

TEST(Futex, S_FUTEX_8_counts) {
  Rig rig;
  rig.root(3);
  const FutexKey key = rig.key(0x1000), other = rig.key(0x2000);
  for (const int t : {21, 22, 23, 24}) {
    rig.process(t, 3);
    rig.wait_futex(t, t == 24 ? other : key, 1);
  }
  EXPECT_EQ(wake(rig, 3, key, 2), 2u);
  EXPECT_EQ(wake(rig, 3, key, 10), 1u);
  EXPECT_EQ(wake(rig, 3, key, 1), 0u);
  EXPECT_EQ(wake(rig, 3, other, 0), 0u);  // FUTEX-5
  EXPECT_TRUE(rig->futexes_.waiting(T(24)));
}

TEST(Futex, S_FUTEX_9_signals_interrupt_waits) {
  for (const auto deadline : {std::optional<LogicalTime>(), std::optional(E(500))}) {
    Rig rig;
    rig.root(21);
    const CallId call = rig.wait_futex(21, rig.key(0x1000), kFullFutexMask, deadline);
    rig->deliver_signal(T(21), kSigUsr1);
    rig.step();
    EXPECT_EQ(futex_status(rig, call), FutexStatus::kInterrupted);
    EXPECT_TRUE(rig->timed_.empty());
  }
}

TEST(Futex, S_FUTEX_10_exit_wakes_the_joiner) {
  for (const std::uint64_t address : {0u, 0x1000u}) {
    auto rig = fx_one();
    rig->thread(18, 17), rig->thread(21, 17), rig->thread(22, 17);
    rig->wait_futex(21, rig->key(0x1000, 17), 1);
    rig->wait_futex(22, rig->key(0x1000, 17));
    rig->core->record(T(18))->child_tid_address = address;
    rig->core->kill_thread(T(18), AS(17));
    EXPECT_EQ(rig->core->cleared_.size(), address == 0 ? 0u : 1u);
    EXPECT_EQ(rig->core->futexes_.waiters(), address == 0 ? 2u : 1u);
    EXPECT_EQ(rig->core->futexes_.waiting(T(21)), address == 0);
  }
}

TEST(Futex, S_FUTEX_11_the_observed_word_decides) {
  auto rig = fx_one();
  rig->core->cleared_[18].insert(rig->key(0x1000, 17));
  EXPECT_EQ(futex_status(*rig, rig->wait_futex(17, rig->key(0x1000, 17), kFullFutexMask, std::nullopt, 18)),
            FutexStatus::kWoken);
  const CallId parked = rig->wait_futex(17, rig->key(0x1000, 17), kFullFutexMask, std::nullopt, 19);
  EXPECT_TRUE(rig->pending(parked));
  EXPECT_TRUE(rig->core->futexes_.waiting(T(17)));
}

TEST(Futex, FUTEX_14_a_reused_thread_id_is_not_cleared) {
  auto rig = fx_one();
  rig->core->cleared_[18].insert(rig->key(0x1000, 17));
  rig->core->register_thread(T(18), T(17), P(17), {CloneFlags::kThread}, {}, 0, std::nullopt, AS(17));
  EXPECT_TRUE(rig->pending(rig->wait_futex(17, rig->key(0x1000, 17), kFullFutexMask, std::nullopt, 18)));
}

TEST(Futex, S_FUTEX_12_what_a_wait_records) {
  Rig rig;
  rig.root(17);
  rig.fill(17);
  rig.step();
  const CallId call = rig.wait_futex(17, rig.key(0x1000), 6);
  EXPECT_EQ(rig->futexes_.mask_of(T(17)), 6u);
  EXPECT_EQ(rig->futexes_.key_of(T(17)), rig.key(0x1000));
  EXPECT_TRUE(rig.request(17).is(ResourceKind::kFutexWait));
  EXPECT_EQ(rig->record(T(17))->origin.kind, MessageKind::kFutex);  // FUTEX-2
  EXPECT_FALSE(rig->queue_.contains(T(17)));
  EXPECT_TRUE(rig.pending(call));
  Arena arena;
  FutexTable t(arena);
  t.add(T(1), rig.key(1), 1);
  EXPECT_DEATH(t.add(T(1), rig.key(2), 1), "waits on two futexes");  // FUTEX-8
}

TEST(Futex, S_FUTEX_13_robust_wakes_wait_for_the_drain) {
  Rig rig;
  rig.root(3);
  rig.process(21, 3), rig.process(25, 3);
  rig.wait_futex(21, rig.key(0x1000));
  rig.fill(25);
  rig->queue_.select_exact(T(25));
  EXPECT_EQ(rig.get<RobustAnswer>(rig.send(3, RobustWakes{{{T(3), rig.key(0x1000)}}, {}})).counts[0], 1u);
  EXPECT_FALSE(rig->queue_.contains(T(21)));
  rig->queue_.undo();
  rig->drain();
  EXPECT_EQ(rig.queued().back(), 21);
}

TEST(Futex, FUTEX_9_finished_notifications_change_nothing) {
  Rig rig;
  rig.root(3);
  EXPECT_EQ(futex_status(rig, rig.send(3, FutexFinished{})), FutexStatus::kNothing);
}

// --- FX-ROBUST ---

struct RobustFx {
  explicit RobustFx(RobustBatch::Reason reason, int empty_owner = 0, bool equal_clocks = false,
                    CoreConfig config = plain())
      : rig(std::move(config)), batch(reason, lists(empty_owner)) {
    rig.root(1);
    rig->queue_.remove(T(1));
    rig.process(17, 1);
    rig.thread(18, 17);
    for (const int t : {21, 23}) {
      rig.process(t, 1);
      rig.wait_futex(t, t == 21 ? k0() : k1());
    }
    rig.process(25, 1);
    rig.fill(25);
    ThreadClock creator;
    creator.advance_by(ns(1'000));
    rig.clock[17] = creator.child_copy();
    creator.advance_by(ns(370));
    rig.clock[18] = creator.child_copy();
    rig->clock_.report(T(17), rig.clock[17]);
    rig->clock_.report(T(18), rig.clock[18]);
    EXPECT_EQ(rig->clock().value(), E());
    rig.clock[17].advance_by(ns(equal_clocks ? 407 : 37));
    rig.clock[18].advance_by(ns(37));
  }
  static FutexKey k0() { return FutexKey::anonymous(AS(1), 1, 0); }
  static FutexKey k1() { return FutexKey::anonymous(AS(1), 1, 8); }
  static std::map<ThreadId, std::vector<FutexKey>> lists(int empty_owner) {
    std::map<ThreadId, std::vector<FutexKey>> out;
    out[T(18)] = empty_owner == 18 ? std::vector<FutexKey>{} : std::vector<FutexKey>{k1()};
    out[T(17)] = empty_owner == 17 ? std::vector<FutexKey>{} : std::vector<FutexKey>{k0()};
    return out;
  }
  /// Consumes a physical exit; the kinds of the messages sent: e(mpty), w(ake), d(eregister); capitals:
  /// refused.
  std::string exit(int tid, WaitStatus status) {
    std::string sent;
    run_exit_callback(
        &batch, T(tid), status, rig.clock[tid].value(),
        [&](const Request& request) {
          char kind = 'd';
          if (const auto* wakes = std::get_if<RobustWakes>(&request)) {
            kind = wakes->wakes.empty() ? 'e' : 'w';
            if (kind == 'w') released = *wakes, ++releases;
          }
          const std::size_t replies = rig.order.size();
          const CallId call = rig.send(tid, request);
          EXPECT_EQ(rig.order.size(), replies + 1) << "ROBUST-9: answered at once";
          if (kind == 'w') counts = rig.get<RobustAnswer>(call).counts;
          sent += static_cast<char>(rig.refused(call) ? std::toupper(kind) : kind);
          return !rig.refused(call);
        },
        rig.leaving(tid, 17));
    return sent;
  }
  std::uint32_t waiters() { return rig->futexes_.waiters(); }
  Rig rig;
  RobustBatch batch;
  RobustWakes released;
  std::vector<std::uint32_t> counts;
  int releases = 0;
};
const RobustBatch::Reason kGroup{true, {}}, kTerm{false, kSigTerm};

TEST(Robust, S_ROBUST_1_only_members_complete_a_batch) {
  for (const int empty_owner : {17, 18}) {
    for (const bool swapped : {false, true}) {
      RobustFx fx(kGroup, empty_owner);
      const int first = swapped ? 18 : 17, second = swapped ? 17 : 18;
      const WaitStatus exit0 = WaitStatus::exited(0);
      for (const int t : {30, 31, 32}) fx.rig.process(t, 1), fx.rig.clock[t] = ThreadClock();
      const auto foreign = [&](int t) {
        std::string sent;
        run_exit_callback(
            &fx.batch, T(t), exit0, E(),
            [&](const Request& r) { return sent += std::to_string(r.index()), true; }, fx.rig.leaving(t, t));
        EXPECT_EQ(sent, std::to_string(Request(Deregister{}).index()));
        EXPECT_EQ(fx.releases, 0 + (fx.batch.released() ? 1 : 0));
      };
      foreign(30);
      const std::vector<int> queue = fx.rig.queued();
      EXPECT_EQ(fx.exit(first, exit0), "ed");
      EXPECT_EQ(fx.rig.queued(), queue);
      EXPECT_EQ(fx.waiters(), 2u);
      EXPECT_EQ(fx.rig->turn().value, 0u);
      EXPECT_EQ(fx.rig->clock().value(), E(37));
      foreign(31);
      EXPECT_EQ(fx.exit(second, exit0), "ewd");
      EXPECT_EQ(fx.rig.queued(), queue);
      EXPECT_EQ(fx.waiters(), 1u);
      EXPECT_EQ(fx.releases, 1);
      foreign(32);
    }
  }
}

TEST(Robust, S_ROBUST_2_the_batch_is_released_once_and_whole) {
  for (const bool killed : {false, true}) {
    for (const bool equal : {false, true}) {
      for (const int empty_owner : {0, 17, 18}) {
        std::vector<std::string> results;
        for (const bool swapped : {false, true}) {
          RobustFx fx(killed ? kTerm : kGroup, empty_owner, equal);
          const WaitStatus status = killed ? WaitStatus::killed(kSigTerm) : WaitStatus::exited(0);
          const int first = swapped ? 18 : 17, second = swapped ? 17 : 18;
          fx.exit(first, status);
          const LogicalTime mine = ns(first == 17 && equal ? 407 : 37);
          EXPECT_EQ(fx.rig->clock().value(), E() + mine);
          EXPECT_EQ(fx.releases, 0);
          EXPECT_EQ(fx.waiters(), 2u);
          EXPECT_EQ(fx.rig.kind(), StepKind::kWaitRequest);  // ROBUST-11
          const GlobalClock before = fx.rig->clock();
          EXPECT_EQ(fx.exit(first, status), "d");  // ROBUST-10
          EXPECT_EQ(fx.rig->clock(), before);
          EXPECT_EQ(fx.releases, 0);
          fx.exit(second, status);
          EXPECT_EQ(fx.releases, 1);
          EXPECT_EQ(fx.rig->clock().value(), E(equal ? 444 : 74));
          EXPECT_EQ(fx.released.latest, E(1'407));
          std::vector<std::pair<ThreadId, FutexKey>> expected;
          if (empty_owner != 17) expected.emplace_back(T(17), RobustFx::k0());
          if (empty_owner != 18) expected.emplace_back(T(18), RobustFx::k1());
          EXPECT_EQ(fx.released.wakes, expected);
          EXPECT_THAT(fx.counts, Each(1u));
          EXPECT_EQ(fx.rig->turn().value, 0u);
          EXPECT_FALSE(fx.rig->queue_.contains(T(21)));
          EXPECT_FALSE(fx.rig->queue_.contains(T(23)));
          EXPECT_EQ(fx.exit(second, status), "d");
          EXPECT_EQ(fx.releases, 1);
          EXPECT_EQ(fx.rig.kind(), StepKind::kGranted);
          EXPECT_EQ(fx.rig->turn().value, 1u);
          std::vector<int> woken{25};
          if (empty_owner != 17) woken.push_back(21);
          if (empty_owner != 18) woken.push_back(23);
          std::sort(woken.begin(), woken.end());
          EXPECT_EQ(fx.rig.queued_sorted(), woken);
          results.push_back(fx.rig->state_text());
        }
        EXPECT_EQ(results[0], results[1]);
      }
    }
  }
}

TEST(Robust, S_ROBUST_3_a_replaced_leader_completes_nothing) {
  RobustFx fx(kTerm);
  fx.exit(18, WaitStatus::killed(kSigTerm));
  fx.rig->accepted_[T(17)] = AS(17, 1);
  fx.rig->renew_slots(T(17));
  ThreadClock image = fx.rig.clock[17];
  image.advance_by(ns(500));
  fx.rig->clock_.report(T(17), image);
  const GlobalClock before = fx.rig->clock();
  EXPECT_EQ(fx.exit(17, WaitStatus::killed(kSigTerm)), "Ed");
  EXPECT_EQ(fx.releases, 0);
  EXPECT_EQ(fx.rig->clock(), before);
  EXPECT_EQ(fx.waiters(), 2u);
  EXPECT_TRUE(fx.rig->is_registered(T(17)));
}

TEST(Robust, S_ROBUST_4_a_dead_leader_completes_nothing) {
  RobustFx fx(kTerm, 0, false, cancelling());
  fx.exit(18, WaitStatus::killed(kSigTerm));
  fx.rig->kill_thread(T(17), AS(17));
  const GlobalClock before = fx.rig->clock();
  EXPECT_EQ(fx.exit(17, WaitStatus::killed(kSigTerm)), "Ed");
  EXPECT_EQ(fx.rig->clock(), before);
  EXPECT_EQ(fx.waiters(), 2u);
  EXPECT_EQ(fx.releases, 0);
}

TEST(Robust, S_ROBUST_5_another_status_completes_nothing) {
  for (const WaitStatus status : {WaitStatus::killed(kSigKill), WaitStatus::exited(0)}) {
    RobustFx fx(kTerm);
    fx.exit(18, WaitStatus::killed(kSigTerm));
    EXPECT_EQ(fx.exit(17, status), "d");
    EXPECT_EQ(fx.waiters(), 2u);
    EXPECT_EQ(fx.releases, 0);
  }
}

TEST(Robust, S_ROBUST_6_a_member_clock_cannot_go_back) {
  RobustFx fx(kTerm);
  ThreadClock later = fx.rig.clock[17];
  later.advance_by(ns(1));
  fx.rig->clock_.report(T(17), later);
  EXPECT_DEATH(fx.exit(17, WaitStatus::killed(kSigTerm)), "thread 17 went back");
}

TEST(Robust, S_ROBUST_7_a_failed_run_still_accounts) {
  for (const bool swapped : {false, true}) {
    RobustFx fx(kGroup);
    fx.rig->renew_slots(T(25));
    fx.rig->queue_.select_exact(T(25));
    fx.rig->progress_.selected = true;
    EXPECT_EQ(fx.rig.kind(), StepKind::kWaitRequest);
    fx.rig->fail(std::nullopt, std::nullopt, "backend");
    EXPECT_FALSE(fx.rig->queue_.selection_open());
    EXPECT_EQ(fx.rig.kind(), StepKind::kFailed);
    fx.exit(swapped ? 18 : 17, WaitStatus::exited(0));
    fx.exit(swapped ? 17 : 18, WaitStatus::exited(0));
    EXPECT_EQ(fx.rig->clock().value(), E(74));
    EXPECT_EQ(fx.releases, 1);
    EXPECT_EQ(fx.counts, (std::vector<std::uint32_t>{1, 1}));
    for (const int t : {21, 23}) EXPECT_FALSE(fx.rig->record(T(t))->response.filled());
    EXPECT_EQ(fx.rig.kind(), StepKind::kFailed);
    EXPECT_EQ(fx.rig->turn().value, 0u);
    EXPECT_FALSE(fx.rig->is_registered(T(17)));
    EXPECT_FALSE(fx.rig->is_registered(T(18)));
    EXPECT_EQ(fx.rig->syscalls_.size(), 2u);
  }
}

TEST(Robust, S_ROBUST_8_a_refused_empty_message_does_not_count) {
  RobustFx fx(kGroup);
  fx.rig->accepted_[T(17)] = AS(17, 5);
  const GlobalClock before = fx.rig->clock();
  EXPECT_EQ(fx.exit(17, WaitStatus::exited(0)), "Ed");
  EXPECT_EQ(fx.rig->clock(), before);
  EXPECT_EQ(fx.exit(18, WaitStatus::exited(0)), "ed");
  EXPECT_FALSE(fx.batch.released());
}

TEST(Robust, S_ROBUST_9_exec_and_the_list_head) {
  RobustHead head;
  head.set(0x404100);
  head.begin_exec();
  EXPECT_EQ(head.head(), 0u);
  head.exec_failed();
  EXPECT_EQ(head.head(), 0x404100u);
}

}  // namespace
}  // namespace detrec::core::testing
