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

/// One image that computes in two threads, tries one execve in vain, and is replaced by another image.
event::RecordBuffer run_with_exec(bool replaced) {
  event::RecordBuffer buffer;
  const auto at = [](std::uint32_t thread, std::uint64_t ticks, std::uint64_t pc) {
    return event::RecordHead{{thread}, {ticks}, {pc}};
  };
  const std::string none[] = {""};
  wire::StartBody start{};
  start.pid = start.tid = 100;
  start.parent_pid = 1;
  buffer.add_start(at(1, 0, 0x401000), start, "/bin/old", none, none);     // 1
  buffer.add_thread(at(1, 5, 0x401010), {2, 101, 100, 0});                 // 2
  buffer.add_turn(at(1, 20, 0x401020), {2, wire::TurnReason::kWaits, 0});  // 3
  buffer.add_exit(at(2, 30, 0x401030), {wire::ExitCause::kExec, 0, 0});    // 4
  wire::SyscallBody failed{};
  failed.number = 59;
  failed.result = -2;
  buffer.add_syscall(at(2, 30, 0x401030), failed, {});                      // 5
  buffer.add_turn(at(2, 31, 0x401034), {1, wire::TurnReason::kYields, 0});  // 6
  buffer.add_turn(at(1, 32, 0x401034), {2, wire::TurnReason::kYields, 0});  // 7
  buffer.add_exit(at(2, 40, 0x401040), {wire::ExitCause::kExec, 0, 0});     // 8
  if (replaced) {
    buffer.add_start(at(3, 0, 0x501000), start, "/bin/new", none, none);     // 9
    buffer.add_exit(at(3, 7, 0x501010), {wire::ExitCause::kProcess, 4, 0});  // 10
  } else {
    buffer.add_exit(at(2, 40, 0), {wire::ExitCause::kKilled, 9, 0});  // 9
  }
  return buffer;
}

TEST(Exec, EndsTheImageBeforeIt) {
  const TraceFolder folder;
  const auto trace = folder.path("a.detrec");
  write_trace(trace, run_with_exec(true).bytes());
  EXPECT_EQ(query(trace, "SELECT id, pid, parent, first_event, last_event, cause, status FROM process"),
            (Rows{"1|100|1|1|8|exec|0", "2|100|1|9|10|process|4"}));
  EXPECT_EQ(query(trace, "SELECT number, process, last_event, ticks, cause, status FROM thread"),
            (Rows{"1|1|8|32|exec|0", "2|1|8|40|exec|0", "3|2|10|7|process|4"}));
  EXPECT_EQ(
      query(trace, "SELECT thread, first_event, last_event, ticks_to, reason FROM timeslice"),
      (Rows{"1|1|3|20|waits", "2|4|6|31|yields", "1|7|7|32|yields", "2|8|8|40|exec", "3|9|10|7|exits"}));
}

TEST(Exec, ThatIsNotReachedEndsNothing) {
  const TraceFolder folder;
  const auto trace = folder.path("a.detrec");
  write_trace(trace, run_with_exec(false).bytes());
  EXPECT_EQ(query(trace, "SELECT id, last_event, cause, status FROM process"), (Rows{"1|9|killed|9"}));
  EXPECT_EQ(
      query(trace, "SELECT thread, first_event, last_event, reason FROM timeslice ORDER BY seq DESC LIMIT 1"),
      (Rows{"2|8|9|exits"}));
}

TEST(Summary, TicksThatTheEngineCouldNotAddUpAreThoseOfTheThreads) {
  const TraceFolder folder;
  const auto trace = folder.path("a.detrec");
  auto writer = TraceWriter::create(trace, sample_info());
  ASSERT_TRUE(writer.ok());
  add_all(*writer.value(), run_with_exec(false).bytes());
  ASSERT_TRUE(writer.value()->finish({}).ok());
  EXPECT_EQ(query(trace, "SELECT value FROM recording WHERE key = 'ticks'"), (Rows{"72"}));
  EXPECT_EQ(query(trace, "SELECT sum(ticks) FROM thread"), (Rows{"72"}));
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
