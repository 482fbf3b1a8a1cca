// The hot state is index-based plain data: a byte-wise copy works, rows are reused, growth keeps everything.
#include <set>

#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

TEST(Arena, a_bytewise_copy_is_a_working_copy) {
  Arena arena;
  RunQueue queue(arena, {QueuePolicy::kRandom, 0, 5}, nullptr);
  FutexTable futexes(arena);
  for (int i = 1; i <= 40; ++i) queue.push_back(T(i), Priority{static_cast<std::uint32_t>(1 + i % 7)});
  futexes.add(T(50), FutexKey::private_key(AS(1), 0x10), 1);
  Arena copy = arena;  // the block is all there is
  RunQueue other(copy, queue);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(queue.select(), other.select());
    queue.commit(RunQueue::CommitKind::kCompletedTurn);
    other.commit(RunQueue::CommitKind::kCompletedTurn);
  }
  EXPECT_EQ(copy.block().size(), arena.block().size());
  EXPECT_EQ(FutexTable(copy).key_of(T(50)), futexes.key_of(T(50)));
}

TEST(Arena, random_operations_agree_with_a_plain_model) {
  Arena arena(4);
  RunQueue queue(arena, {QueuePolicy::kRoundRobin, 0, 1}, nullptr);
  std::set<std::pair<std::pair<std::uint32_t, std::int64_t>, int>> model;
  std::map<int, std::pair<std::uint32_t, std::int64_t>> keys;
  RandomStream random(99);
  for (int step = 0; step < 20'000; ++step) {
    const int tid = static_cast<int>(1 + random.below(300));
    if (!keys.contains(tid)) {
      const Priority p{static_cast<std::uint32_t>(1 + random.below(20))};
      if (random.below(2) == 0) {
        queue.push_back(T(tid), p);
      } else {
        queue.push_front(T(tid), p);
      }
      keys[tid] = {p.value, *queue.order(T(tid))};
      model.insert({keys[tid], tid});
    } else if (random.below(3) != 0) {
      ASSERT_TRUE(queue.remove(T(tid)));
      model.erase({keys[tid], tid});
      keys.erase(tid);
    } else {
      const auto chosen = queue.select();
      ASSERT_EQ(chosen->value, model.begin()->second);
      queue.commit(RunQueue::CommitKind::kCompletedTurn);
      keys.erase(model.begin()->second);
      model.erase(model.begin());
    }
    ASSERT_EQ(queue.size(), model.size());
    // Who owes a request, and the first of them in queue order (TURN-10).
    const int toggled = static_cast<int>(1 + random.below(300));
    if (const Row row = arena.find(T(toggled)); row != kNoRow) {
      queue.set_unfilled(row, random.below(2) == 0);
      queue.set_removing(row, random.below(4) == 0);
    }
    if (step % 64 != 0) continue;
    std::optional<ThreadId> first;
    for (const auto& [key, who] : model) {
      const QueueNode& node = arena.queue(arena.find(T(who)));
      if (node.unfilled_self && !node.removing) {
        first = T(who);
        break;
      }
    }
    ASSERT_EQ(queue.first_unfilled(), first);
  }
  std::vector<ThreadId> expected;
  for (const auto& [key, tid] : model) expected.push_back(T(tid));
  EXPECT_EQ(queue.in_order(), expected);
}

TEST(Arena, rows_of_dead_threads_are_reused) {
  Arena arena(4);
  for (int i = 1; i <= 10'000; ++i) {
    const Row row = arena.obtain(T(i));
    ASSERT_EQ(arena.find(T(i)), row);
    arena.release_if_idle(row);
    ASSERT_EQ(arena.find(T(i)), kNoRow);
  }
  EXPECT_LE(arena.header().capacity, 4u);
  for (int i = 1; i <= 500; ++i) arena.obtain(T(i));
  for (int i = 1; i <= 500; i += 2) arena.release_if_idle(arena.find(T(i)));
  for (int i = 1; i <= 500; ++i) EXPECT_EQ(arena.find(T(i)) != kNoRow, i % 2 == 0) << i;
  EXPECT_EQ(arena.header().live_rows, 250u);
}

TEST(Arena, ids_that_collide_are_found_after_deletions) {
  Arena arena;
  RandomStream random(7);
  std::set<int> known;
  for (int step = 0; step < 20'000; ++step) {
    const int tid = static_cast<int>(1 + random.below(1'000'000));
    if (known.size() < 60) {
      arena.obtain(T(tid));
      known.insert(tid);
    } else {
      const auto victim = std::next(known.begin(), static_cast<std::ptrdiff_t>(random.below(known.size())));
      arena.release_if_idle(arena.find(T(*victim)));
      known.erase(victim);
      for (const int t : known) ASSERT_NE(arena.find(T(t)), kNoRow) << t;
    }
  }
  EXPECT_EQ(arena.header().live_rows, known.size());
}

TEST(Arena, futexes_survive_growth) {
  Arena arena(4);
  FutexTable futexes(arena);
  for (int i = 1; i <= 300; ++i) futexes.add(T(i), FutexKey::private_key(AS(1), 0x10u * (i % 17)), 1);
  EXPECT_EQ(futexes.waiters(), 300u);
  EXPECT_EQ(futexes.keys().size(), 17u);
  std::size_t seen = 0;
  for (const FutexKey& key : futexes.keys()) seen += futexes.take(key, 1000, kFullFutexMask).size();
  EXPECT_EQ(seen, 300u);
  EXPECT_TRUE(futexes.empty());
}

}  // namespace
}  // namespace detrec::core::testing
