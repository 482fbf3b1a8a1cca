#include "trace/guest/memory/names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace detrec::guest::memory {
namespace {

struct Table {
  std::vector<Names::Slot> slots = std::vector<Names::Slot>(64);
  std::vector<char> text = std::vector<char>(8192);
  Names names{slots.data(), 64, text.data(), 8192};
};

TEST(Names, KeepsEachOnce) {
  Table t;
  EXPECT_EQ(t.names.intern(""), 0u);
  EXPECT_STREQ(t.names.text(0), "");
  u32 a = t.names.intern("/usr/lib/a.so"), b = t.names.intern("/usr/lib/b.so");
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
  EXPECT_EQ(t.names.intern("/usr/lib/a.so"), a);
  EXPECT_STREQ(t.names.text(b), "/usr/lib/b.so");
}

TEST(Names, SweepForgetsWhatIsNotMarkedAndKeepsIndices) {
  Table t;
  std::vector<u32> kept;
  for (int round = 0; round < 400; ++round) {
    if (t.names.full()) {
      for (u32 k : kept) t.names.mark(k);
      t.names.sweep();
    }
    // Names to keep come between others that go, so that a sweep moves them.
    std::string name = round % 40 == 7 ? "/kept/" + std::to_string(kept.size())
                                       : "/passing/" + std::string(100, 'x') + std::to_string(round);
    u32 index = t.names.intern(name.c_str());
    ASSERT_NE(index, 0u) << round;
    if (round % 40 == 7) kept.push_back(index);
    for (std::size_t i = 0; i < kept.size(); ++i)
      ASSERT_EQ(t.names.text(kept[i]), "/kept/" + std::to_string(i)) << round;
  }
}

}  // namespace
}  // namespace detrec::guest::memory
