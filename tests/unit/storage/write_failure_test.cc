// Every write of a recording fails once: the recorder is told, nothing hangs, and the trace is good up to the
// last transaction.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/event/sample_records.h"
#include "tests/unit/storage/failing_files.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;

constexpr std::uint64_t kEvents = 400;
constexpr std::uint64_t kEventsPerFlush = 50;

struct Outcome {
  bool created = false;
  std::uint64_t flushed = 0;  ///< events of flushes that were reported to have succeeded
  std::string error;          ///< the first; empty: all went well
};

Outcome record(const std::filesystem::path& path, const WriterOptions& options) {
  Outcome outcome;
  auto writer = TraceWriter::create(path, sample_info(), options);
  if (!writer) {
    outcome.error = to_string(writer.error());
    return outcome;
  }
  outcome.created = true;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    event::RecordBuffer buffer;
    event::testing::add_read(buffer, i * 7919, 300);
    const auto added = writer.value()->add(buffer.bytes(), {i});
    if (!added) {
      outcome.error = to_string(added.error());
      EXPECT_FALSE(writer.value()->flush().ok()) << "an error stays";
      EXPECT_FALSE(writer.value()->finish({}).ok());
      return outcome;
    }
    if ((i + 1) % kEventsPerFlush != 0) continue;
    const auto flushed = writer.value()->flush();
    if (flushed) {
      outcome.flushed = i + 1;
    } else if (outcome.error.empty()) {
      outcome.error = to_string(flushed.error());
    }
  }
  const auto finished = writer.value()->finish({});
  if (!finished && outcome.error.empty()) outcome.error = to_string(finished.error());
  return outcome;
}

/// The trace can be opened and read, and has at least what was flushed.
void check_trace(const std::filesystem::path& path, const Outcome& outcome) {
  if (!outcome.created) return;
  if (!std::filesystem::exists(path)) {  // not even its tables could be made
    EXPECT_EQ(outcome.flushed, 0u);
    EXPECT_NE(outcome.error, "");
    return;
  }
  auto reader = TraceReader::open(path);
  ASSERT_TRUE(reader.ok()) << to_string(reader.error());
  EXPECT_GE(reader.value()->last_event().value, outcome.flushed);
  EXPECT_TRUE(outcome.error.empty() || !reader.value()->recording().complete() ||
              reader.value()->last_event().value == kEvents);
  event::RecordBuffer expected;
  for (std::uint64_t i = 0; i < reader.value()->last_event().value; ++i)
    event::testing::add_read(expected, i * 7919, 300);
  reader.value().reset();
  EXPECT_TRUE(same(read_records(path), expected.bytes()));
}

void fail_everywhere(FileFailure failure, const char* expected_error) {
  const TraceFolder folder;
  FailingFiles files;
  WriterOptions options;
  options.chunk_bytes = 4000;
  options.vfs = files.name();
  const Outcome good = record(folder.path("good.detrec"), options);
  ASSERT_EQ(good.error, "");
  const std::int64_t operations = files.operations();
  ASSERT_GT(operations, 100);
  int failed = 0;
  // Every operation of the beginning, where the file is made, and a sample of the rest.
  for (std::int64_t n = 0; n < operations; n += n < 30 ? 1 : 23) {
    const auto path = folder.path("run-" + std::to_string(n) + ".detrec");
    files.fail_after(n, failure);
    const Outcome outcome = record(path, options);
    files.fail_after(0, FileFailure::kNone);
    if (!outcome.error.empty()) {
      ++failed;
      EXPECT_NE(outcome.error.find(expected_error), std::string::npos) << outcome.error;
    }
    SCOPED_TRACE(n);
    check_trace(path, outcome);
  }
  EXPECT_GT(failed, 10);
}

TEST(WriteFailure, TheDiskIsFull) { fail_everywhere(FileFailure::kFull, "the disk is full"); }

TEST(WriteFailure, TheDiskBreaks) { fail_everywhere(FileFailure::kWriteError, "disk I/O error"); }

TEST(WriteFailure, NothingWaitsForTheDisk) {
  const TraceFolder folder;
  FailingFiles files;
  WriterOptions options;
  options.vfs = files.name();
  options.chunk_bytes = 4000;
  files.fail_after(0, FileFailure::kSyncError);  // each of them
  const Outcome outcome = record(folder.path("a.detrec"), options);
  files.fail_after(0, FileFailure::kNone);
  EXPECT_EQ(outcome.error, "");
  check_trace(folder.path("a.detrec"), outcome);
}

TEST(WriteFailure, AFileSizeLimit) {
  const TraceFolder folder;
  const auto path = folder.path("a.detrec");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{250'000, 250'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(9);
    WriterOptions options;
    options.chunk_bytes = 4000;
    const Outcome outcome = record(path, options);
    ::_exit(outcome.created && !outcome.error.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  Outcome outcome;
  outcome.created = true;
  outcome.error = "as it was";
  check_trace(path, outcome);
}

}  // namespace
}  // namespace detrec::storage
