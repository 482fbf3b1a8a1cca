// The queries of docs/trace-format.md, with the output that stands there.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/storage/sample_run.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;

struct Example {
  std::string sql;
  std::vector<std::string> output;
};

/// Every ```sql block and the ``` block behind it.
std::vector<Example> examples_of(const std::filesystem::path& page) {
  const auto bytes = bytes_of_file(page);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<Example> examples;
  enum { kOutside, kSql, kBetween, kOutput } state = kOutside;
  for (std::string line; std::getline(text, line);) {
    if (line == "```sql") {
      examples.emplace_back();
      state = kSql;
    } else if (line == "```") {
      state = state == kSql ? kBetween : state == kBetween ? kOutput : kOutside;
    } else if (state == kSql) {
      examples.back().sql += line + "\n";
    } else if (state == kOutput) {
      examples.back().output.push_back(line);
    }
  }
  return examples;
}

TEST(Documentation, QueriesGiveWhatThePageShows) {
  const TraceFolder folder;
  const auto trace = folder.path("run.detrec");
  write_trace(trace, sample_run().bytes());
  const auto examples = examples_of(DOCUMENTATION);
  EXPECT_GE(examples.size(), 8u);
  for (const Example& example : examples) EXPECT_EQ(query(trace, example.sql), example.output) << example.sql;
}

TEST(Documentation, NamesEveryTable) {
  const TraceFolder folder;
  const auto trace = folder.path("run.detrec");
  write_trace(trace, sample_run().bytes());
  const auto bytes = bytes_of_file(DOCUMENTATION);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const auto& name : query(trace, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")) {
    const bool named = text.find("`" + name + "`") != std::string_view::npos ||
                       text.find("**" + name + "**") != std::string_view::npos;
    EXPECT_TRUE(named) << name;
  }
  for (const auto& key : query(trace, "SELECT key FROM recording WHERE key <> 'slice'"))
    EXPECT_NE(text.find("`" + key + "`"), std::string_view::npos) << key;
}

}  // namespace
}  // namespace detrec::storage
