// The tables that people look up, from a run with two processes, threads, signals and output.
#include <gtest/gtest.h>

#include <cstring>

#include "storage/index_trace.h"
#include "tests/unit/event/sample_records.h"
#include "tests/unit/storage/sample_run.h"
#include "tests/unit/storage/trace_folder.h"

namespace detrec::storage {
namespace {

using namespace testing;
using Rows = std::vector<std::string>;

class Tables : public ::testing::Test {
 protected:
  void SetUp() override { write_trace(trace_, sample_run().bytes()); }
  Rows rows(const std::string& sql) { return query(trace_, sql); }

  TraceFolder folder_;
  std::filesystem::path trace_ = folder_.path("run.detrec");
};

TEST_F(Tables, ProcessesAndThreads) {
  EXPECT_EQ(rows("SELECT id, pid, parent, first_event, last_event, cause, status FROM process"),
            (Rows{"1|100|1|1|22|process|3", "2|200|100|12|21|signal|11"}));
  EXPECT_EQ(rows("SELECT number, process, tid, creator, first_event, last_event, ticks, cause FROM thread"),
            (Rows{"1|1|100||1|22|900|process", "2|1|101|1|9|16|40|thread", "3|2|200|1|12|21|60|signal"}));
}

TEST_F(Tables, ImagesAndMappings) {
  EXPECT_EQ(rows("SELECT event, process, path, argv, json_extract(envp, '$[0]') FROM image"),
            (Rows{"2|1|/bin/prog|[\"prog\",\"a b\"]|HOME=/root"}));
  EXPECT_EQ(rows("SELECT event, printf('%x', address), length, content, capture, name FROM mapping"),
            (Rows{"1|400000|8192|capture|1|/bin/prog"}));
}

TEST_F(Tables, Timeslices) {
  EXPECT_EQ(rows("SELECT thread, first_event, last_event, ticks_from, ticks_to, reason FROM timeslice"),
            (Rows{"1|1|13|0|500|slice", "2|14|17|0|40|exits", "3|18|19|0|50|waits",
                  "1|20|20|500|800|preempted", "3|21|21|50|60|exits", "1|22|22|800|900|exits"}));
  EXPECT_EQ(rows("SELECT event, thread, ticks, printf('%x', pc), to_thread, reason FROM preemption"),
            (Rows{"13|1|500|401100|2|slice", "20|1|800|401200|3|preempted"}));
}

TEST_F(Tables, SignalsAndExits) {
  EXPECT_EQ(rows("SELECT position, thread, name, asynchronous, sender, printf('%x', address) FROM signals"),
            (Rows{"10:300:0x401180|1|SIGUSR1|1|77|0", "18:45:0x401500|3|SIGSEGV|0||dead0000"}));
  EXPECT_EQ(rows("SELECT event, thread, cause, status FROM exit"),
            (Rows{"16|2|thread|0", "21|3|signal|11", "22|1|process|3"}));
}

TEST_F(Tables, OutputInOrder) {
  EXPECT_EQ(rows("SELECT event, thread, fd, data FROM output"),
            (Rows{"6|1|1|hello\n", "7|1|2|oops\n", "15|2|2|again\n"}));
}

TEST_F(Tables, SystemCalls) {
  EXPECT_EQ(rows("SELECT count(*) FROM syscall"), (Rows{"9"}));
  EXPECT_EQ(rows("SELECT event, name, error FROM call WHERE error IS NOT NULL"),
            (Rows{"5|openat|ENOENT", "8|syscall_1000|ENOSYS"}));
  EXPECT_EQ(rows("SELECT name, count, error FROM unsupported_calls"), (Rows{"syscall_1000|1|ENOSYS"}));
}

TEST_F(Tables, Descriptors) {
  EXPECT_EQ(
      rows("SELECT process, fd, path, first_event, last_event FROM descriptor WHERE fd > 2 ORDER BY 1, 2, 4"),
      (Rows{"1|3|/etc/data|3|22", "1|4|/etc/data|11|22", "2|3|/etc/data|12|21", "2|4|/etc/data|12|21"}))
      << "made by dup2, inherited by the child";
  EXPECT_EQ(rows("SELECT path, sum(bytes_read), sum(bytes_written) FROM file_io GROUP BY path"),
            (Rows{"/etc/data|12|0", "[stderr]|0|11", "[stdout]|0|6"}));
}

TEST_F(Tables, NumbersHaveNames) {
  EXPECT_EQ(rows("SELECT name FROM syscall_name WHERE nr = 257"), (Rows{"openat"}));
  EXPECT_EQ(rows("SELECT name FROM errno_name WHERE errno IN (2, 512)"), (Rows{"ENOENT", "ERESTARTSYS"}));
  EXPECT_EQ(rows("SELECT name FROM signal_name WHERE number = 9"), (Rows{"SIGKILL"}));
}

TEST_F(Tables, EventKindsAddUp) {
  EXPECT_EQ(rows("SELECT sum(records) FROM event_kind"), rows("SELECT sum(records) FROM chunk"));
  EXPECT_EQ(rows("SELECT sum(coded_bytes + payload_bytes) FROM event_kind"),
            rows("SELECT sum(raw_size) FROM chunk"));
}

TEST_F(Tables, WhatComesLaterHasItsPlace) {
  EXPECT_EQ(rows("SELECT (SELECT count(*) FROM snapshot) + (SELECT count(*) FROM page) + (SELECT count(*) "
                 "FROM bookmark)"),
            (Rows{"0"}));
}

TEST_F(Tables, IndexingAgainChangesNothing) {
  const char* dump = "SELECT * FROM syscall UNION ALL SELECT *, 0, 0, 0, 0, 0, 0, 0, 0 FROM descriptor";
  const Rows before = rows(dump);
  const auto counts = index_trace(trace_);
  ASSERT_TRUE(counts.ok()) << to_string(counts.error());
  EXPECT_EQ(counts.value().syscalls, 9u);
  EXPECT_EQ(rows(dump), before);
  EXPECT_EQ(rows("SELECT event, thread, fd, data FROM output").size(), 3u);
}

TEST(Index, ManyCallsAreIndexedOnlyWhenAskedFor) {
  const TraceFolder folder;
  event::RecordBuffer buffer;
  for (std::uint64_t i = 0; i < 50; ++i) event::testing::add_read(buffer, i, 8);
  WriterOptions options;
  options.indexed_syscalls = 49;
  const auto trace = folder.path("a.detrec");
  write_trace(trace, buffer.bytes(), options);
  EXPECT_EQ(
      query(trace, "SELECT count(*), (SELECT value FROM recording WHERE key = 'syscall_rows') FROM syscall"),
      (Rows{"0|none"}));
  ASSERT_TRUE(index_trace(trace).ok());
  EXPECT_EQ(
      query(trace, "SELECT count(*), (SELECT value FROM recording WHERE key = 'syscall_rows') FROM syscall"),
      (Rows{"50|complete"}));
}

TEST(Index, OfWhatIsNoTrace) {
  const TraceFolder folder;
  EXPECT_FALSE(index_trace(folder.path("none.detrec")).ok());
  write_file(folder.path("text"), std::as_bytes(std::span("this is text")));
  EXPECT_FALSE(index_trace(folder.path("text")).ok());
}

}  // namespace
}  // namespace detrec::storage
