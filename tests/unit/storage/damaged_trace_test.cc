// Files that are no traces, and traces that somebody or something changed.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/unit/event/random_records.h"
#include "tests/unit/storage/sample_run.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;

std::string open_error(const std::filesystem::path& path) {
  const auto reader = TraceReader::open(path);
  return reader ? std::string() : to_string(reader.error());
}

/// Opens and reads everything; the first error, or empty.
std::string read_error(const std::filesystem::path& path) {
  const auto reader = TraceReader::open(path);
  if (!reader) return to_string(reader.error());
  static_cast<void>(reader.value()->statistics().ok());
  const auto captures = reader.value()->captures();
  if (!captures) return to_string(captures.error());
  for (const Capture& capture : captures.value()) {
    const auto content = reader.value()->read_capture(capture, 1u << 20);
    if (!content) return to_string(content.error());
  }
  auto cursor = reader.value()->events(std::max(reader.value()->first_event(), EventNumber{1}));
  if (!cursor) return to_string(cursor.error());
  while (true) {
    const auto record = cursor.value().next();
    if (!record) return to_string(record.error());
    if (!record.value()) return {};
  }
}

class DamagedTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = TraceWriter::create(trace_, sample_info(), small_chunks());
    ASSERT_TRUE(writer.ok());
    const std::vector<std::byte> content(3000, std::byte{5});
    ASSERT_TRUE(writer.value()->add_capture({1}, {"/bin/prog"}, content).ok());
    event::RecordBuffer records = sample_run();
    event::testing::RandomRecords random(31);
    for (int i = 0; i < 100; ++i) random.add(records);
    add_all(*writer.value(), records.bytes());
    ASSERT_TRUE(writer.value()->finish({}).ok());
    ASSERT_EQ(read_error(trace_), "");
  }
  static WriterOptions small_chunks() {
    WriterOptions options;
    options.chunk_bytes = 3000;
    return options;
  }
  std::string after(const std::string& sql) {
    const auto copy = folder_.path("changed.detrec");
    std::filesystem::copy_file(trace_, copy, std::filesystem::copy_options::overwrite_existing);
    const auto rows = query(copy, sql);
    EXPECT_TRUE(rows.empty()) << rows.front();
    return read_error(copy);
  }

  TraceFolder folder_;
  std::filesystem::path trace_ = folder_.path("run.detrec");
};

TEST(NoTrace, ClearMessages) {
  const TraceFolder folder;
  const auto path = folder.path("x.detrec");
  EXPECT_EQ(open_error(path), path.string() + ": No such file or directory");
  EXPECT_EQ(open_error(folder.path("")), folder.path("").string() + ": it is a directory");
  write_file(path, {});
  EXPECT_EQ(open_error(path), path.string() + ": it is empty");
  write_file(path, std::as_bytes(std::span("short")));
  EXPECT_EQ(open_error(path), path.string() + ": it is not a trace");
  write_file(path, std::vector<std::byte>(100'000, std::byte{'x'}));
  EXPECT_EQ(open_error(path), path.string() + ": it is not a trace");
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "CREATE TABLE t(x)", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  EXPECT_EQ(open_error(path), path.string() + ": it is an SQLite file, but not a trace");
}

TEST_F(DamagedTrace, EveryTruncationIsSeen) {
  const auto whole = bytes_of_file(trace_);
  const auto copy = folder_.path("short.detrec");
  for (std::size_t size = 0; size < whole.size(); size += 1021) {
    write_file(copy, std::span(whole).first(size));
    ASSERT_NE(open_error(copy), "") << size;
  }
}

TEST_F(DamagedTrace, FlippedBitsNeverHarm) {
  const auto whole = bytes_of_file(trace_);
  const auto copy = folder_.path("flipped.detrec");
  std::mt19937_64 random(17);
  const auto good = read_records(trace_);
  int seen = 0;
  for (int i = 0; i < 400; ++i) {
    auto changed = whole;
    changed[random() % changed.size()] ^= static_cast<std::byte>(1u << random() % 8);
    write_file(copy, changed);
    if (!read_error(copy).empty()) {
      ++seen;
    } else {
      // Rows that nobody reads, free space, or the description: the events are what they were.
      ASSERT_TRUE(same(read_records(copy), good)) << i;
    }
  }
  EXPECT_GT(seen, 20);
}

TEST_F(DamagedTrace, RowsThatDoNotFitTogether) {
  EXPECT_NE(after("UPDATE chunk SET crc = crc + 1 WHERE seq = 2").find("chunk 2: its checksum is wrong"),
            std::string::npos);
  EXPECT_NE(after("UPDATE chunk SET raw_size = raw_size + 1 WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET raw_size = 1 << 62 WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET raw_size = -1 WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET codec = 9 WHERE seq = 2").find("coding 9"), std::string::npos);
  EXPECT_NE(after("UPDATE chunk SET codec = 2 + (1 << 32) WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET data = zeroblob(900000000) WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET first_event = first_event + 1 WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET last_event = last_event - 1 WHERE seq = 1"), "");
  EXPECT_NE(after("UPDATE chunk SET last_event = -5 WHERE seq = 1"), "");
  EXPECT_NE(after("DELETE FROM chunk WHERE seq = 2"), "");
  EXPECT_NE(after("UPDATE chunk SET seq = CASE seq WHEN 2 THEN 1003 WHEN 3 THEN 1002 ELSE seq END; "
                  "UPDATE chunk SET seq = seq - 1000 WHERE seq > 1000"),
            "")
      << "swapped";
  EXPECT_NE(
      after("UPDATE chunk SET first_event = first_event + 1, last_event = last_event + 1 WHERE seq >= 3"), "")
      << "a gap";
  EXPECT_NE(after("UPDATE chunk SET data = 'text' WHERE seq = 1"), "");
  EXPECT_NE(after("UPDATE file SET size = size + 1").find("a piece is missing"), std::string::npos);
  EXPECT_NE(after("UPDATE file SET size = 1 << 60"), "");
  EXPECT_NE(after("UPDATE file SET hash = zeroblob(32)").find("its checksum is wrong"), std::string::npos);
  EXPECT_NE(after("UPDATE file_piece SET size = 1 << 40"), "");
  EXPECT_NE(after("UPDATE file_piece SET data = zeroblob(10)"), "");
  EXPECT_NE(after("UPDATE file_piece SET data = x''"), "") << "a hole instead";
  EXPECT_NE(after("UPDATE file_piece SET data = x'', size = 1 << 40"), "");
  EXPECT_NE(after("DELETE FROM file_piece"), "");
  EXPECT_NE(after("DROP TABLE chunk"), "");
  EXPECT_NE(after("DROP TABLE recording"), "");
  EXPECT_NE(after("UPDATE recording SET value = '3' WHERE key = 'event_set'").find("event_set '3'"),
            std::string::npos);
  EXPECT_NE(after("DELETE FROM recording WHERE key = 'tick_semantics'"), "");
  EXPECT_NE(
      after("DROP TABLE chunk; CREATE VIEW chunk AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
            "FROM r) SELECT 0 AS stream, i AS seq, i AS first_event, i AS last_event FROM r LIMIT 100"),
      "");
}

TEST_F(DamagedTrace, ReadOnlyPlacesAreNoObstacle) {
  // As another user, since nothing is read-only for root.
  const auto place = folder_.path("place");
  std::filesystem::create_directory(place);
  const auto trace = place / "run.detrec";
  std::filesystem::copy_file(trace_, trace);
  query(trace, "PRAGMA journal_mode = WAL");  // as a recording leaves it while somebody reads
  ASSERT_EQ(::chmod(trace.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(place.c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder_.path("").c_str(), 0755), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
    const std::string error = read_error(trace);
    std::fputs(error.c_str(), stderr);
    ::_exit(error.empty() && ::access(place.c_str(), W_OK) != 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(::chmod(place.c_str(), 0755), 0);
}

}  // namespace
}  // namespace detrec::storage
