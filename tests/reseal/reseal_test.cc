#include "tests/reseal/reseal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/event/sample_records.h"
#include "tests/unit/storage/sample_run.h"
#include "tests/unit/storage/trace_folder.h"
#include "trace/event/render/render.h"

namespace detrec::reseal {
namespace {

using storage::testing::TraceFolder;

std::vector<std::string> dump(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  auto reader = storage::TraceReader::open(path);
  EXPECT_TRUE(reader.ok());
  auto cursor = reader.value()->events();
  while (cursor.ok()) {
    const auto record = cursor.value().next();
    EXPECT_TRUE(record.ok()) << to_string(record.error());
    if (!record.ok() || !record.value()) break;
    lines.push_back(event::render_line(*record.value()));
  }
  return lines;
}

class Reseal : public ::testing::Test {
 protected:
  void SetUp() override {
    event::RecordBuffer records = storage::testing::sample_run();
    storage::testing::write_trace(trace_, records.bytes());
    before_ = dump(trace_);
  }
  /// The lines after a change.
  std::vector<std::string> after(const std::vector<std::string>& words) {
    const auto change = parse_change(words);
    EXPECT_TRUE(change.ok()) << to_string(change.error());
    const auto done = reseal(trace_, copy_, change.value());
    EXPECT_TRUE(done.ok()) << to_string(done.error());
    return dump(copy_);
  }
  /// The one line that differs after a change.
  std::string changed_line(const std::vector<std::string>& words) {
    const auto lines = after(words);
    EXPECT_EQ(lines.size(), before_.size());
    const auto [a, b] = std::mismatch(lines.begin(), lines.end(), before_.begin());
    if (a == lines.end()) return "nothing changed";
    EXPECT_TRUE(std::equal(a + 1, lines.end(), b + 1)) << "more than one line changed";
    return *a;
  }

  TraceFolder folder_;
  std::filesystem::path trace_ = folder_.path("a.detrec");
  std::filesystem::path copy_ = folder_.path("b.detrec");
  std::vector<std::string> before_;
};

TEST_F(Reseal, ChangesOneThing) {
  EXPECT_NE(changed_line({"data", "4", "1", "1"}).find("\"13345\""), std::string::npos);
  EXPECT_NE(changed_line({"result", "4", "-4"}).find("-1 EINTR"), std::string::npos);
  EXPECT_NE(changed_line({"arg", "4", "0", "9"}).find("read(9,"), std::string::npos);
  EXPECT_NE(changed_line({"number", "4", "1"}).find("write(3,"), std::string::npos);
  EXPECT_EQ(changed_line({"ticks", "4", "1"}).substr(0, 5), "4:21:");
  EXPECT_EQ(changed_line({"pc", "10", "-1"}).substr(0, 15), "10:300:0x40117f");
  EXPECT_NE(changed_line({"signal", "10", "12"}).find("SIGUSR2"), std::string::npos);
  EXPECT_NE(changed_line({"status", "22", "4"}).find("status 4"), std::string::npos);
  EXPECT_NE(changed_line({"thread", "4", "2"}).find(" 2 syscall"), std::string::npos);
}

TEST_F(Reseal, ChangesTheOrder) {
  EXPECT_EQ(after({"drop", "5"}).size(), before_.size() - 1);
  EXPECT_EQ(after({"repeat", "5"}).size(), before_.size() + 1);
  EXPECT_EQ(after({"end", "5"}).size(), 4u);
  const auto swapped = after({"swap", "6"});
  EXPECT_EQ(swapped[5].substr(1), before_[6].substr(1));
  EXPECT_EQ(swapped[6].substr(1), before_[5].substr(1));
}

TEST_F(Reseal, AReaderMissesDataThatIsMissing) {
  event::RecordBuffer large;
  event::testing::add_read(large, 0, 150'000);
  event::testing::add_read(large, 1, 5);
  storage::testing::write_trace(folder_.path("large.detrec"), large.bytes());
  const auto done =
      reseal(folder_.path("large.detrec"), copy_, [](std::vector<Event>& events) -> event::Status {
        events[0].records.resize(events[0].header().size);
        return event::Done{};
      });
  ASSERT_TRUE(done.ok());
  auto reader = storage::TraceReader::open(copy_);
  auto cursor = reader.value()->events();
  ASSERT_TRUE(cursor.value().next().ok());
  const auto second = cursor.value().next();
  ASSERT_FALSE(second.ok());
  EXPECT_NE(to_string(second.error()).find("a data record is missing"), std::string::npos);
}

TEST_F(Reseal, LeavesTheOriginalAlone) {
  after({"drop", "5"});
  EXPECT_EQ(dump(trace_), before_);
}

TEST_F(Reseal, RefusesWhatMakesNoSense) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"drop"}, {"drop", "x"}, {"dance", "1"}, {"arg", "1", "2"}})
    EXPECT_FALSE(parse_change(words).ok());
  for (const std::vector<std::string>& words : {std::vector<std::string>{"drop", "99"},
                                                {"drop", "0"},
                                                {"result", "2", "1"},
                                                {"data", "4", "5", "1"},
                                                {"arg", "4", "6", "1"}}) {
    EXPECT_FALSE(reseal(trace_, copy_, parse_change(words).value()).ok());
  }
}

}  // namespace
}  // namespace detrec::reseal
