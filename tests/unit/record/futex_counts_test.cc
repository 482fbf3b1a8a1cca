#include "trace/wire/futex_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace detrec::wire {
namespace {

struct Table {
  FutexCount entries[kFutexCounts] = {};
  FutexCounts counts{entries};
};

TEST(FutexCounts, CountsAndForgets) {
  const auto table = std::make_unique<Table>();
  FutexCounts& counts = table->counts;
  EXPECT_EQ(counts.at(0x1000), 0u);
  counts.add(0x1000, 2);
  counts.add(0x1004, 1);
  EXPECT_EQ(counts.at(0x1000), 2u);
  counts.subtract(0x1000, 1);
  EXPECT_EQ(counts.at(0x1000), 1u);
  counts.subtract(0x1000, 5);  // more than there are
  EXPECT_EQ(counts.at(0x1000), 0u);
  EXPECT_EQ(counts.at(0x1004), 1u);
}

TEST(FutexCounts, AgreesWithAMap) {
  const auto table = std::make_unique<Table>();
  std::map<std::uint64_t, std::uint64_t> expected;
  std::mt19937_64 random(7);
  std::uint64_t waiters = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t address = 0x7000 + 4 * (random() % 6000);  // many share a place
    if (random() % 2 == 0 && waiters < kTurnSlots) {
      table->counts.add(address, 1);
      ++expected[address];
      ++waiters;
    } else if (expected[address] != 0) {
      table->counts.subtract(address, 1);
      --expected[address];
      --waiters;
    }
    ASSERT_EQ(table->counts.at(address), expected[address]);
  }
  for (const auto& [address, count] : expected) ASSERT_EQ(table->counts.at(address), count);
}

TEST(FutexCounts, EndsOnAFullTable) {
  const auto table = std::make_unique<Table>();
  for (FutexCount& entry : table->entries) entry = {0x8, 1};  // nothing that probing would do
  EXPECT_EQ(table->counts.at(0x1000), 0u);
  table->counts.add(0x1000, 1);
  table->counts.subtract(0x1000, 1);
  EXPECT_EQ(table->counts.at(0x1000), 0u);
}

}  // namespace
}  // namespace detrec::wire
