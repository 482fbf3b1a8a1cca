#include <gtest/gtest.h>

#include "storage/migrations.h"
#include "storage/read/open_trace.h"
#include "tests/unit/event/sample_records.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;
using Rows = std::vector<std::string>;

// As if versions 2 and 3 existed, and today's traces were old.
Status convert_values(sqlite::Database& database) {
  return database.execute("UPDATE recording SET value = 'converted ' || value WHERE key = 'host'");
}
Status fail_to_convert(sqlite::Database&) { return Error{ErrorCode::kInvalid, "made to fail", {}}; }

constexpr Migration kSteps[] = {
    {1, "CREATE TABLE added(value INTEGER); INSERT INTO added VALUES(7)", nullptr},
    {2, "ALTER TABLE bookmark ADD COLUMN color TEXT", convert_values},
};
constexpr Migration kFailing[] = {
    {1, "CREATE TABLE added(value INTEGER)", nullptr},
    {2, "DROP TABLE bookmark", fail_to_convert},
};

class Migrations : public ::testing::Test {
 protected:
  void SetUp() override {
    event::RecordBuffer records;
    event::testing::add_samples(records);
    write_trace(trace_, records.bytes());
  }
  TraceFolder folder_;
  std::filesystem::path trace_ = folder_.path("old.detrec");
};

TEST_F(Migrations, AnOldTraceIsConvertedInSteps) {
  auto opened = open_trace(trace_, {3, kSteps});
  ASSERT_TRUE(opened.ok()) << to_string(opened.error());
  EXPECT_EQ(opened.value().number("PRAGMA user_version").value(), 3);
  EXPECT_EQ(query(trace_, "SELECT value FROM added"), (Rows{"7"}));
  EXPECT_EQ(query(trace_, "SELECT value FROM recording WHERE key = 'host'"), (Rows{"converted testhost"}));
  EXPECT_TRUE(open_trace(trace_, {3, kSteps}).ok()) << "and only once";
  EXPECT_EQ(query(trace_, "SELECT value FROM recording WHERE key = 'host'"), (Rows{"converted testhost"}));
}

TEST_F(Migrations, AFailureLeavesTheTraceAsItWas) {
  const auto before = bytes_of_file(trace_);
  const auto opened = open_trace(trace_, {3, kFailing});
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message,
            "it has the older trace version 1 and could not be converted: made to fail");
  EXPECT_TRUE(same(bytes_of_file(trace_), before));
  EXPECT_TRUE(TraceReader::open(trace_).ok());
}

TEST_F(Migrations, AMissingStepIsAnError) {
  EXPECT_FALSE(open_trace(trace_, {4, kSteps}).ok());
  EXPECT_TRUE(TraceReader::open(trace_).ok());
}

TEST_F(Migrations, ANewerTraceIsRefused) {
  query(trace_, "PRAGMA user_version = 2");
  const auto opened = TraceReader::open(trace_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(to_string(opened.error()).find("newer detrec"), std::string::npos);
}

}  // namespace
}  // namespace detrec::storage
