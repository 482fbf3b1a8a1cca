#include "trace/guest/signal/queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "trace/guest/signal/numbers.h"

namespace detrec::guest::signal {
namespace {

SignalInfo make(int signo, int code = 0) {
  SignalInfo info{};
  info.signo = signo;
  info.code = code;
  return info;
}

std::vector<int> drain(SignalState& state, u64 allowed = ~u64{0}) {
  std::vector<int> order;
  SignalInfo info;
  while (dequeue(state, allowed, info)) order.push_back(info.signo);
  return order;
}

TEST(SignalQueue, LowestNumberFirst) {
  SignalState state;
  for (int signo : {40, 10, 64, 1, 15}) EXPECT_TRUE(enqueue(state, make(signo)));
  EXPECT_EQ(state.pending, bit(40) | bit(10) | bit(64) | bit(1) | bit(15));
  EXPECT_EQ(drain(state), (std::vector<int>{1, 10, 15, 40, 64}));
  EXPECT_EQ(state.pending, 0u);
}

TEST(SignalQueue, FaultsBeforeEverythingElse) {
  SignalState state;
  for (int signo : {1, 11, 2, 31, 4}) enqueue(state, make(signo));
  EXPECT_EQ(drain(state), (std::vector<int>{4, 11, 31, 1, 2}));
}

TEST(SignalQueue, StandardSignalsMergeAndKeepTheFirstInfo) {
  SignalState state;
  enqueue(state, make(10, 1));
  enqueue(state, make(10, 2));
  SignalInfo info;
  ASSERT_TRUE(dequeue(state, ~u64{0}, info));
  EXPECT_EQ(info.code, 1);
  EXPECT_FALSE(dequeue(state, ~u64{0}, info));
}

TEST(SignalQueue, RealtimeSignalsQueueInOrder) {
  SignalState state;
  for (int code = 0; code < 5; ++code) enqueue(state, make(34, code));
  enqueue(state, make(33, 9));
  SignalInfo info;
  ASSERT_TRUE(dequeue(state, ~u64{0}, info));
  EXPECT_EQ(info.signo, 33);
  for (int code = 0; code < 5; ++code) {
    EXPECT_TRUE(state.pending & bit(34));
    ASSERT_TRUE(dequeue(state, ~u64{0}, info));
    EXPECT_EQ(info.code, code);
  }
  EXPECT_EQ(state.pending, 0u);
}

TEST(SignalQueue, OrderOutlivesReusedPlacesAndWrappedCounters) {
  SignalState state;
  state.next_order = ~u32{0} - 1;
  SignalInfo info;
  enqueue(state, make(34, 0));
  enqueue(state, make(34, 1));
  ASSERT_TRUE(dequeue(state, ~u64{0}, info));
  enqueue(state, make(34, 2));
  enqueue(state, make(34, 3));
  for (int code = 1; code < 4; ++code) {
    ASSERT_TRUE(dequeue(state, ~u64{0}, info));
    EXPECT_EQ(info.code, code);
  }
}

TEST(SignalQueue, BlockedOnesStay) {
  SignalState state;
  for (int signo : {1, 2, 34}) enqueue(state, make(signo));
  EXPECT_EQ(drain(state, ~bit(2)), (std::vector<int>{1, 34}));
  EXPECT_EQ(state.pending, bit(2));
}

TEST(SignalQueue, SaysWhenItIsFull) {
  SignalState state;
  for (int i = 0; i < SignalState::kQueue; ++i) ASSERT_TRUE(enqueue(state, make(40, i)));
  EXPECT_FALSE(enqueue(state, make(40)));
  SignalInfo info;
  ASSERT_TRUE(dequeue(state, ~u64{0}, info));
  EXPECT_TRUE(enqueue(state, make(41)));
}

TEST(SignalQueue, DiscardDropsAllOfASignal) {
  SignalState state;
  for (int i = 0; i < 3; ++i) enqueue(state, make(34, i));
  enqueue(state, make(10));
  discard(state, bit(34));
  EXPECT_EQ(state.pending, bit(10));
  EXPECT_EQ(drain(state), (std::vector<int>{10}));
}

}  // namespace
}  // namespace detrec::guest::signal
