#include "trace/guest/signal/altstack.h"

#include <gtest/gtest.h>

namespace detrec::guest::signal {
namespace {

constexpr u64 kStack = 0x10000, kSize = 0x4000, kElsewhere = 0x900000;

AltStack stack(u32 flags = 0, u64 size = kSize) { return {kStack, flags, 0, size}; }

TEST(AltStack, TheTopCountsTheBottomDoesNot) {
  EXPECT_FALSE(on_altstack(kStack, stack()));
  EXPECT_TRUE(on_altstack(kStack + 1, stack()));
  EXPECT_TRUE(on_altstack(kStack + kSize, stack()));
  EXPECT_FALSE(on_altstack(kStack + kSize + 1, stack()));
  EXPECT_FALSE(on_altstack(kStack + 1, stack(kSsAutoDisarm)));
}

TEST(AltStack, AThreadStartsWithoutOne) {
  SignalState state;
  EXPECT_EQ(reported_altstack(state, kElsewhere).flags, kSsDisable);
  EXPECT_EQ(stored_altstack(state).flags, kSsDisable);
}

TEST(AltStack, ReportsWhetherItIsInUse) {
  SignalState state;
  ASSERT_EQ(set_altstack(state, stack(), kElsewhere), 0);
  EXPECT_EQ(reported_altstack(state, kElsewhere).flags, 0u);
  EXPECT_EQ(reported_altstack(state, kStack + 100).flags, kSsOnStack);
  EXPECT_EQ(reported_altstack(state, kElsewhere).sp, kStack);
  EXPECT_EQ(reported_altstack(state, kElsewhere).size, kSize);
}

TEST(AltStack, CannotBeChangedWhileInUse) {
  SignalState state;
  ASSERT_EQ(set_altstack(state, stack(), kElsewhere), 0);
  EXPECT_EQ(set_altstack(state, stack(kSsDisable), kStack + 100), kEPerm);
  EXPECT_EQ(set_altstack(state, stack(kSsDisable), kElsewhere), 0);
  EXPECT_EQ(state.altstack_size, 0u);
}

TEST(AltStack, RefusesWhatTheKernelRefuses) {
  SignalState state;
  EXPECT_EQ(set_altstack(state, stack(4), kElsewhere), kEInval);
  EXPECT_EQ(set_altstack(state, stack(kSsOnStack | kSsDisable), kElsewhere), kEInval);
  EXPECT_EQ(set_altstack(state, stack(0, kMinSigStackSize - 1), kElsewhere), kENoMem);
  EXPECT_EQ(set_altstack(state, stack(0, kMinSigStackSize), kElsewhere), 0);
  EXPECT_EQ(set_altstack(state, stack(kSsOnStack), kElsewhere), 0);
  EXPECT_EQ(set_altstack(state, {0, kSsDisable, 0, 1}, kElsewhere), 0);
}

TEST(AltStack, AutoDisarmIsReportedAndNeverInUse) {
  SignalState state;
  ASSERT_EQ(set_altstack(state, stack(kSsAutoDisarm), kElsewhere), 0);
  EXPECT_EQ(reported_altstack(state, kStack + 100).flags, kSsAutoDisarm);
  EXPECT_EQ(set_altstack(state, stack(), kStack + 100), 0);
}

}  // namespace
}  // namespace detrec::guest::signal
