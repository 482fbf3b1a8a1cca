// Which memory counts as the result of a call.
#include "server/session/call_results.h"

#include <gtest/gtest.h>

#include <cstring>

namespace detrec::server {
namespace {

TEST(CallResults, WhatAResultPointsToIsReadOnFromItsBeginning) {
  CallResults results;
  EXPECT_FALSE(results.claim(0x20000, 8));
  results.add(0x20000);
  EXPECT_FALSE(results.claim(0x1fff8, 8));
  EXPECT_FALSE(results.claim(0x20008, 8));
  EXPECT_TRUE(results.claim(0x20000, 8));
  EXPECT_TRUE(results.claim(0x20008, 8));  // a string is read in pieces
  EXPECT_TRUE(results.claim(0x20004, 2));
  EXPECT_FALSE(results.claim(0x20020, 8));
  results.clear();
  EXPECT_FALSE(results.claim(0x20000, 8));
}

TEST(CallResults, SmallNumbersAndErrorsAreNoPointers) {
  CallResults results;
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{9}, ~std::uint64_t{0}, std::uint64_t{1} << 47}) {
    results.add(value);
    EXPECT_FALSE(results.claim(value, 1));
  }
}

TEST(CallResults, PointersInAResultLeadOn) {
  CallResults results;
  const std::uint64_t words[] = {7, 0x30000};
  std::uint8_t bytes[sizeof words + 4];
  std::memcpy(bytes + 4, words, sizeof words);
  results.follow(0x20004, bytes);  // aligned words only
  EXPECT_TRUE(results.claim(0x30000, 100));
  EXPECT_TRUE(results.claim(0x30064, 1));
}

TEST(CallResults, AreBounded) {
  CallResults results;
  for (std::uint64_t i = 1; i < 100'000; ++i) results.add(i << 20);
  EXPECT_TRUE(results.claim(1 << 20, 1));
  EXPECT_FALSE(results.claim(std::uint64_t{99'999} << 20, 1));
}

}  // namespace
}  // namespace detrec::server
