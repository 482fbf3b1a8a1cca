#include "frontend/numbers.h"

#include <gtest/gtest.h>

namespace detrec::frontend {
namespace {

TEST(Numbers, DecimalAndHexadecimal) {
  EXPECT_EQ(parse_number("0").value(), 0U);
  EXPECT_EQ(parse_number("18446744073709551615").value(), ~std::uint64_t{0});
  EXPECT_EQ(parse_number("0xfF").value(), 255U);
  EXPECT_EQ(parse_number("0Xffffffffffffffff").value(), ~std::uint64_t{0});
}

TEST(Numbers, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", "0x", "-1", "+1", " 1", "1 ", "1k", "0x1g", "1.5", "k", "18446744073709551616",
                           "0x10000000000000000"}) {
    EXPECT_FALSE(parse_number(text).ok()) << text;
  }
}

TEST(Numbers, TicksHaveSuffixes) {
  EXPECT_EQ(parse_ticks("7").value(), Ticks{7});
  EXPECT_EQ(parse_ticks("3k").value(), Ticks{3'000});
  EXPECT_EQ(parse_ticks("20M").value(), Ticks{20'000'000});
  EXPECT_EQ(parse_ticks("1G").value(), Ticks{1'000'000'000});
  EXPECT_EQ(parse_ticks("0x1f").value(), Ticks{31});
}

TEST(Numbers, TicksThatDoNotFitOrMeanNeverAreRefused) {
  for (const char* text :
       {"", "k", "1K", "1m", "1kk", "0x1k", "18446744073709551615", "18446744074G", "-1k"}) {
    EXPECT_FALSE(parse_ticks(text).ok()) << text;
  }
  EXPECT_NE(parse_ticks("18446744073709551615").error().message.find("too large"), std::string::npos);
  EXPECT_EQ(parse_ticks("1kk").error().message, "'1kk' is not a number");
}

TEST(Numbers, StopPoints) {
  EXPECT_EQ(parse_stop_point("10k").value().ticks, Ticks{10'000});
  EXPECT_EQ(parse_stop_point("10k").value().pc, GuestAddress{0});
  EXPECT_EQ(parse_stop_point("0:0x400000").value().pc, GuestAddress{0x400000});
  for (const char* text : {"", ":", "1:", ":1", "1:0", "1:0x0", "1:2k", "1:2:3"}) {
    EXPECT_FALSE(parse_stop_point(text).ok()) << text;
  }
}

TEST(Numbers, Slices) {
  EXPECT_EQ(parse_slice("100").value().ticks, Ticks{100});
  EXPECT_EQ(parse_slice("100").value().jitter_instructions, 0U);
  EXPECT_EQ(parse_slice("1M+2k").value().jitter_instructions, 2'000U);
  for (const char* text : {"", "0", "0+1", "+", "1+", "+1", "1+2+3"})
    EXPECT_FALSE(parse_slice(text).ok()) << text;
}

}  // namespace
}  // namespace detrec::frontend
