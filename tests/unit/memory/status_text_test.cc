#include "trace/guest/procfs/status_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace detrec::guest::procfs {
namespace {

constexpr OwnFigures kOwn{.size = 10 << 20,
                          .peak = 12 << 20,
                          .data = 3 << 20,
                          .stack = 132 << 10,
                          .code = 16 << 10,
                          .libraries = 1 << 20,
                          .pending = 0x1,
                          .blocked = 0xfffffffc00004000,
                          .ignored = 0x1000,
                          .caught = 0x600};

std::string status(const std::string& line) {
  char out[256];
  return replace_status_line(line.data(), line.size(), kOwn, out, sizeof out) ? out : line;
}

TEST(StatusText, ReplacesSizesAndMasks) {
  EXPECT_EQ(status("VmSize:\t  999999 kB"), "VmSize:\t   10240 kB");
  EXPECT_EQ(status("VmStk:\t     132 kB"), "VmStk:\t     132 kB");
  EXPECT_EQ(status("SigBlk:\t0000000000000000"), "SigBlk:\tfffffffc00004000");
  EXPECT_EQ(status("SigCgt:\t00000000000006d8"), "SigCgt:\t0000000000000600");
  EXPECT_EQ(status("Threads:\t1"), "Threads:\t1");
  EXPECT_EQ(status("VmRSS:\t     132 kB"), "VmRSS:\t     132 kB");
}

TEST(StatusText, LinesOfTheKernelKeepTheirShape) {
  std::ifstream file("/proc/self/status");
  int replaced = 0;
  for (std::string line; std::getline(file, line);) {
    std::string now = status(line);
    // Sizes are padded to eight digits; a sanitizer's shadow makes them longer.
    EXPECT_TRUE(now.size() == line.size() || line.size() > std::string("VmSize:\t12345678 kB").size())
        << line;
    EXPECT_EQ(now.substr(0, now.find(':')), line.substr(0, line.find(':')));
    char out[256];
    replaced += replace_status_line(line.data(), line.size(), kOwn, out, sizeof out);
  }
  EXPECT_EQ(replaced, 10);
}

std::vector<std::string> fields(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

std::string stat(const std::string& line) {
  char out[2048];
  return std::string(out, rewrite_stat(line.data(), line.size(), kOwn, out, sizeof out));
}

TEST(StatusText, StatKeepsAllButTheGuestsFields) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // A name with blanks and parentheses must not shift the fields.
  std::size_t close = line.rfind(')');
  std::string odd = "123 (a ) b(c)" + line.substr(close + 1);
  std::vector<std::string> before = fields(odd.substr(13)), after = fields(stat(odd).substr(13));
  ASSERT_EQ(stat(odd).substr(0, 13), "123 (a ) b(c)");
  ASSERT_EQ(before.size(), after.size());
  ASSERT_EQ(before.size(), 50u);
  for (std::size_t i = 0; i < before.size(); ++i) {
    switch (i + 3) {
      case 23:
        EXPECT_EQ(after[i], "10485760");
        break;
      case 31:
        EXPECT_EQ(after[i], "1");
        break;
      case 32:
        EXPECT_EQ(after[i], "16384");
        break;
      case 33:
        EXPECT_EQ(after[i], "4096");
        break;
      case 34:
        EXPECT_EQ(after[i], "1536");
        break;
      default:
        EXPECT_EQ(after[i], before[i]) << i + 3;
    }
  }
}

TEST(StatusText, StatmReplacesSizes) {
  const std::string line = "2000000 300 200 5 0 1999999 0";
  char out[256];
  EXPECT_EQ(std::string(out, rewrite_statm(line.data(), line.size(), kOwn, out, sizeof out)),
            "2560 300 200 4 0 801 0");
}

TEST(StatusText, ShortBuffersAreRespected) {
  const std::string line =
      "1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32";
  for (u64 size = 0; size < 120; ++size) {
    std::vector<char> out(size + 1, '#');
    EXPECT_LE(rewrite_stat(line.data(), line.size(), kOwn, out.data(), size), size);
    EXPECT_EQ(out[size], '#');
  }
}

}  // namespace
}  // namespace detrec::guest::procfs
