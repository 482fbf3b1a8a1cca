#include "trace/event/position.h"

#include <gtest/gtest.h>

namespace detrec::event {
namespace {

TEST(Position, PrintsAndReadsBack) {
  const Position position{{7}, {123}, {0x401000}};
  EXPECT_EQ(to_string(position), "7:123:0x401000");
  const auto parsed = parse_position("7:123:0x401000");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value(), position);
}

TEST(Position, PartsMayBeLeftOut) {
  EXPECT_EQ(parse_position("12").value(), (Position{{12}, {0}, {0}}));
  EXPECT_EQ(parse_position("12:5").value(), (Position{{12}, {5}, {0}}));
  EXPECT_EQ(parse_position("12:5:ff").value(), (Position{{12}, {5}, {0xff}}));
}

TEST(Position, RefusesWhatIsNone) {
  for (const char* text : {"", ":", "1:", "1:2:", "1:2:3:4", "x", "-1", "1:-2", "1:2:0x", "1:2:zz", " 1",
                           "99999999999999999999"})
    EXPECT_FALSE(parse_position(text).ok()) << text;
}

TEST(Position, OrderIsThatOfTime) {
  EXPECT_LT((Position{{1}, {9}, {9}}), (Position{{2}, {0}, {0}}));
  EXPECT_LT((Position{{2}, {1}, {9}}), (Position{{2}, {2}, {0}}));
  EXPECT_LT((Position{{2}, {2}, {1}}), (Position{{2}, {2}, {2}}));
}

}  // namespace
}  // namespace detrec::event
