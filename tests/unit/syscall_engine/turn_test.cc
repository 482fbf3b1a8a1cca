#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/syscall_engine/fake_engine.h"

namespace detrec::guest {
namespace {

using namespace std::chrono_literals;

class TurnTest : public testing::Test {
 protected:
  static constexpr int kThreads = 6;
  void SetUp() override {
    test::map_context();
    for (run::KernelThread& thread : threads_) thread.alive = 1;
  }
  /// Waits until some thread is in the line.
  static void wait_for_contention() {
    while (!TurnSchedule::contended()) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);
  }
  run::KernelThread threads_[kThreads];
};

TEST_F(TurnTest, OneAtATime) {
  std::atomic<int> holders{0};
  long counter = 0;  // not atomic: the turn protects it
  std::vector<std::thread> running;
  for (run::KernelThread& thread : threads_) {
    running.emplace_back([&holders, &counter, &thread] {
      for (int i = 0; i < 5000; ++i) {
        Turn turn = TurnSchedule::acquire(thread);
        EXPECT_EQ(holders.fetch_add(1), 0);
        EXPECT_EQ(&turn.thread(), &thread);
        ++counter;
        holders.fetch_sub(1);
        TurnSchedule::release(turn);
      }
    });
  }
  for (std::thread& t : running) t.join();
  EXPECT_EQ(counter, kThreads * 5000);
  EXPECT_FALSE(TurnSchedule::contended());
}

TEST_F(TurnTest, FirstComeFirstServed) {
  Turn mine = TurnSchedule::acquire(threads_[0]);
  std::vector<int> order;
  std::vector<std::thread> running;
  for (int i = 1; i < kThreads; ++i) {
    running.emplace_back([this, i, &order] {
      Turn turn = TurnSchedule::acquire(threads_[i]);
      order.push_back(i);
      TurnSchedule::release(turn);
    });
    std::this_thread::sleep_for(30ms);  // so that they queue up in this order
  }
  EXPECT_TRUE(TurnSchedule::contended());
  TurnSchedule::release(mine);
  for (std::thread& t : running) t.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_F(TurnTest, KeepsRegistersAndTicksOfEachThread) {
  for (int i = 0; i < 2; ++i) {
    threads_[i].saved_regs.gpr[kRax] = static_cast<u64>(100 + i);
    threads_[i].saved_tick_base = static_cast<u64>(1000 * (i + 1));
  }
  Turn turn = TurnSchedule::acquire(threads_[0]);
  EXPECT_EQ(turn.gpr(kRax), 100u);
  EXPECT_EQ(context().tick_base, 1000u);
  turn.gpr(kRax) = 7;
  context().allotted = 50;
  for (u32& stripe : context().stripe) stripe = 48;  // two ticks a stripe
  TurnSchedule::release(turn);
  turn = TurnSchedule::acquire(threads_[1]);
  EXPECT_EQ(turn.gpr(kRax), 101u);
  EXPECT_EQ(context().tick_base, 2000u);
  TurnSchedule::release(turn);
  turn = TurnSchedule::acquire(threads_[0]);
  EXPECT_EQ(turn.gpr(kRax), 7u);
  EXPECT_EQ(context().tick_base, 1000u + 2 * kStripes);
  EXPECT_EQ(context().engine_rsp, run::engine_stack_top(threads_[0]));
  TurnSchedule::release(turn);
}

TEST_F(TurnTest, LentTurnComesBack) {
  Turn mine = TurnSchedule::acquire(threads_[0]);
  mine.gpr(kRbx) = 5;
  {
    TurnLent lent(mine);
    Turn other = TurnSchedule::acquire(threads_[1]);
    other.gpr(kRbx) = 6;
    TurnSchedule::release(other);
  }
  EXPECT_EQ(mine.gpr(kRbx), 5u);
  TurnSchedule::release(mine);
}

TEST_F(TurnTest, IsTakenFromAHolderThatDied) {
  TurnSchedule::acquire(threads_[0]);  // never released
  context().in_guest = 1;
  std::thread waiter([this] {
    Turn turn = TurnSchedule::acquire(threads_[1]);
    EXPECT_EQ(context().in_guest, 0u);
    TurnSchedule::release(turn);
  });
  wait_for_contention();
  __atomic_store_n(&threads_[0].alive, 0, __ATOMIC_RELEASE);  // as the kernel does
  waiter.join();
  EXPECT_FALSE(TurnSchedule::contended());
}

TEST_F(TurnTest, AVforkParentInheritsFromItsChild) {
  Turn parent = TurnSchedule::acquire(threads_[0]);
  run::hand_turn_to(parent, threads_[1]);
  Turn child = TurnSchedule::acquire(threads_[1]);  // at once: it is its own already
  EXPECT_EQ(&child.thread(), &threads_[1]);
  // The child goes without giving it back.
  run::inherit_turn(threads_[0], threads_[1]);
  parent = TurnSchedule::acquire(threads_[0]);
  EXPECT_EQ(&parent.thread(), &threads_[0]);
  TurnSchedule::release(parent);
}

TEST_F(TurnTest, ADeadWaiterLeavesTheLine) {
  Turn mine = TurnSchedule::acquire(threads_[0]);
  std::atomic<bool> served{false};
  std::thread dead([this, &served] {
    Turn turn = TurnSchedule::acquire(threads_[1]);  // only after it has queued up anew, below
    served = true;
    TurnSchedule::release(turn);
  });
  wait_for_contention();
  run::inherit_turn(threads_[0], threads_[1]);
  EXPECT_FALSE(TurnSchedule::contended());
  TurnSchedule::release(mine);
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(served);
  // Let the thread, which this test only declared dead, end: the turn is handed to it.
  mine = TurnSchedule::acquire(threads_[0]);
  run::hand_turn_to(mine, threads_[1]);
  __atomic_store_n(&threads_[1].alive, 0, __ATOMIC_RELEASE);
  dead.join();
  EXPECT_TRUE(served);
}

}  // namespace
}  // namespace detrec::guest
