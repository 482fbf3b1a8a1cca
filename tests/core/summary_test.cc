// Run summary and backend failure: SUM-1 .. SUM-15, FAIL-1 .. FAIL-13, and what the host does for the core.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "server/core/host/host_files.h"
#include "tests/core/control_rig.h"

namespace detrec::core::testing {
namespace {

std::string temp_path(const char* name) {
  return ::testing::TempDir() + "core_" + name + "_" + std::to_string(::getpid());
}
std::string read_file(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

TEST(Sum, S_SUM_1_the_preemption_text) {
  const std::string path = temp_path("record.json");
  FileDestination file(path);
  CoreConfig config = cancelling();
  config.record_destination = &file;
  auto rig = fx_one(true, config);
  rig->core->writer_->add_thread(T(17), {1000});
  rig->core->writer_->change(T(17), ns(100), {1000}, {20}, TickPoint{10, 0});
  const RunSummary first = *rig->core->summary();
  const auto j = nlohmann::json::parse(read_file(path));
  EXPECT_EQ(j["threads"]["17"]["changes"].dump(), "[[100,1000]]");
  EXPECT_EQ(rig->core->preemption_writer(), nullptr);
  ASSERT_TRUE(first.preemption);
  EXPECT_EQ(first.preemption->comparison(), "preemption events: 1 changes, 0 epochs");
  EXPECT_THAT(first.preemption->full(), HasSubstr(first.preemption->count_line + "\n"));
  EXPECT_THAT(first.preemption->full(), HasSubstr(path));
  const std::string text = first.full_text(), json = first.json();
  ::unlink(path.c_str());
  const RunSummary second = *rig->core->summary();
  EXPECT_FALSE(second.preemption);
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_EQ(first.full_text(), text);
  EXPECT_EQ(first.json(), json);
  auto memory = fx_one(true, [] {
    CoreConfig c = cancelling();
    c.record_preemptions = true;
    return c;
  }());
  const auto kept = memory->core->summary()->preemption;
  EXPECT_LE(kept->excerpt.size(), 200u);  // SUM-8
  EXPECT_FALSE(kept->excerpt.empty());
}

RunSummary sample() {
  RunSummary s;
  s.scheduler_turns = 4;
  s.events_recorded = s.events_replayed = 11;
  s.events_desynced = 2;
  s.desync_text = "soft 2";
  s.process_count = s.thread_count = 1;
  s.thread_tree = "[3]";
  s.syscall_count = 3;
  s.virtual_elapsed = s.virtual_final = ns(2'512'380);
  s.timeslices.add(512'380);
  s.thread_timeslices = {{T(3), s.timeslices}};
  s.preemption = PreemptionText{"preemption events: 7 changes, 0 epochs", "", "/tmp/somewhere.json"};
  return s;
}

TEST(Sum, S_SUM_2_two_records) {
  LogBuffer log;
  sample().log(log);
  ASSERT_EQ(log.lines.size(), 3u);  // host time is a record of its own (SUM-6)
  EXPECT_EQ(log.lines[0].first, LogLevel::kInfo);
  EXPECT_EQ(log.lines[1].first, LogLevel::kDebug);
  for (const char* part :
       {"1 process of 1 thread", "3 syscalls", "4 turns", "11 events recorded (2 desynchronised)", "soft 2",
        "7 changes", "2_512_380ns", "count 1", "min 512_380ns", "max 512_380ns", "mean 512_380ns"})
    EXPECT_THAT(log.lines[0].second, HasSubstr(part));
  EXPECT_THAT(log.lines[0].second, Not(HasSubstr("somewhere")));
  EXPECT_THAT(log.lines[0].second, Not(HasSubstr("replayed")));
  EXPECT_THAT(log.lines[1].second, HasSubstr("replayed 11"));
  EXPECT_THAT(log.lines[1].second, HasSubstr("/tmp/somewhere.json"));
}

TEST(Sum, S_SUM_3_what_changes_the_comparison) {
  const std::string base = sample().comparison_text();
  const auto changed = [&](auto change) {
    RunSummary s = sample();
    change(s);
    EXPECT_NE(s.comparison_text(), base);
  };
  changed([](RunSummary& s) { ++s.scheduler_turns; });
  changed([](RunSummary& s) { ++s.events_recorded; });
  changed([](RunSummary& s) { ++s.events_desynced; });
  changed([](RunSummary& s) { ++s.thread_count; });
  changed([](RunSummary& s) { ++*s.syscall_count; });
  changed([](RunSummary& s) { s.virtual_elapsed += ns(1); });
  changed([](RunSummary& s) { ++s.timeslices.count; });
  changed([](RunSummary& s) { s.thread_tree = "[3 4]"; });
  changed([](RunSummary& s) { s.preemption->count_line = "preemption events: 8"; });
}

TEST(Sum, S_SUM_4_timeslice_statistics) {
  TimesliceStats s;
  EXPECT_EQ(s.mean_ns(), 0u);
  for (const std::uint64_t v : {10u, 30u, 20u}) s.add(v);
  EXPECT_EQ(s, (TimesliceStats{3, 60, 10, 30}));
  EXPECT_EQ(s.mean_ns(), 20u);
  TimesliceStats a, b, empty;
  a.add(10), a.add(40), b.add(5), b.add(100);
  a.merge(b);
  EXPECT_EQ(a, (TimesliceStats{4, 155, 5, 100}));
  a.merge(empty);
  EXPECT_EQ(a.count, 4u);
  empty.merge(a);
  EXPECT_EQ(empty, a);
}

TEST(Sum, S_SUM_5_json) {
  RunSummary s = sample();
  s.dispatch = "backend";
  const std::string text = s.json();
  EXPECT_EQ(text.back(), '\n');
  EXPECT_NE(text[text.size() - 2], '\n');
  EXPECT_THAT(text, HasSubstr("\n  \"scheduler_turns\": 4,"));
  const auto j = nlohmann::json::parse(text);
  std::set<std::string> keys;
  for (const auto& [key, value] : j.items()) keys.insert(key);
  EXPECT_EQ(keys,
            (std::set<std::string>{"scheduler_turns", "events_replayed", "events_recorded", "events_desynced",
                                   "desync_text", "preemption_text", "thread_tree", "process_count",
                                   "thread_count", "syscall_count", "virtual_elapsed_ns", "virtual_final_ns",
                                   "host_elapsed_ns", "timeslices", "thread_timeslices", "dispatch"}));
  EXPECT_EQ(j["timeslices"]["sum_ns"], 512'380);
  EXPECT_EQ(j["thread_timeslices"][0][0], 3);
  EXPECT_EQ(j["dispatch"], "backend");
  EXPECT_THAT(s.full_text(), Not(HasSubstr("backend")));
  EXPECT_THAT(s.comparison_text(), Not(HasSubstr("backend")));
}

TEST(Sum, S_SUM_6_virtual_times) {
  Rig rig;
  rig->clock_.add_extra(ns(7));
  EXPECT_EQ(rig->summary()->virtual_elapsed, ns(7));
  EXPECT_EQ(rig->summary()->virtual_final, E(7));
  CoreConfig config = plain();
  config.virtual_time = false;
  Rig off(config);
  off->clock_.add_extra(ns(7));
  EXPECT_EQ(off->summary()->virtual_elapsed, ns(0));
  EXPECT_EQ(off->summary()->virtual_final, ns(0));
  LogicalTime now{100};  // SUM-11
  CoreConfig host = plain();
  host.host_time = [&] { return now; };
  Rig measured(host);
  now = ns(160);
  EXPECT_EQ(measured->summary()->host_elapsed_ns, 60u);
  now = ns(40);
  EXPECT_FALSE(measured->summary());
}

TEST(Sum, S_SUM_7_syscalls_of_all_threads) {
  auto rig = fx_one();
  rig->thread(18, 17);
  rig->as[18] = AS(17);
  rig->send(18, rig->leaving(18, 17, 7));
  rig->send(17, rig->leaving(17, 17, 3));
  rig->send(18, rig->leaving(18, 17, 7));
  EXPECT_EQ(rig->core->summary()->syscall_count, 10u);
}

TEST(Sum, S_SUM_8_runs_that_differ_on_the_host_only) {
  RunSummary a = sample(), b = sample();
  b.host_elapsed_ns = 55;
  b.dispatch = "x";
  b.preemption->destination = "/elsewhere";
  b.events_replayed = 99;
  EXPECT_EQ(a.comparison_text(), b.comparison_text());
}

// --- FAIL ---

TEST(Fail, S_FAIL_1_waiters) {
  Rig rig;
  const std::uint64_t one = rig->watch_failure(), two = rig->watch_failure();
  EXPECT_TRUE(rig.effects<FailureNotice>().empty());
  rig->fail(P(3), T(3), "first");
  rig.collect();
  EXPECT_EQ(rig.effects<FailureNotice>().size(), 2u);
  const std::uint64_t three = rig->watch_failure();
  ASSERT_EQ(rig.effects<FailureNotice>().size(), 3u);
  EXPECT_EQ(rig.effects<FailureNotice>()[2].waiter, three);
  EXPECT_NE(one, two);
  rig->fail(P(4), std::nullopt, "second");
  EXPECT_EQ(rig->failure()->phase, "first");
}

TEST(Fail, S_FAIL_2_failure_inside_a_selection) {
  for (const bool loop_first : {true, false}) {
    auto rig = std::make_unique<Rig>(cancelling());
    rig->root(1);
    rig->core->queue_.remove(T(1));
    for (const int t : {17, 19, 23}) rig->process(t, 1);
    rig->core->record(T(17))->child_tid_address = 0x404100;
    rig->wait_futex(19, rig->key(0x404100, 17));
    rig->core->queue_.select_exact(T(23));
    rig->core->progress_.selected = true;
    EXPECT_EQ(rig->kind(), StepKind::kWaitRequest);
    rig->clock[17].advance_by(ns(37));
    rig->core->fail(std::nullopt, std::nullopt, "backend");
    EXPECT_FALSE(rig->core->queue_.selection_open());
    if (loop_first) {
      EXPECT_EQ(rig->kind(), StepKind::kFailed);
    }
    EXPECT_TRUE(rig->acknowledged(rig->send(17, rig->leaving(17, 17, 1))));
    EXPECT_EQ(rig->kind(), StepKind::kFailed);
    for (const int t : {19, 23}) EXPECT_FALSE(rig->core->record(T(t))->response.filled());
    EXPECT_EQ(rig->core->clock().value(), E(37));
    EXPECT_EQ(rig->core->turn().value, 0u);
    EXPECT_TRUE(rig->core->queue_.contains(T(19)));  // FAIL-5: woken, and never granted
    EXPECT_FALSE(rig->core->queue_.contains(T(17)));
    EXPECT_FALSE(rig->core->is_registered(T(17)));
    EXPECT_EQ(rig->core->syscalls_.size(), 1u);
  }
}

TEST(Fail, S_FAIL_3_failure_while_waiting_for_quiescence) {
  Rig rig;
  rig.root(3);
  rig.process(5, 3);
  rig.fill(5);
  EXPECT_EQ(rig.kind(), StepKind::kWaitRequest);
  rig->fail(std::nullopt, std::nullopt, "backend");
  EXPECT_EQ(rig.kind(), StepKind::kFailed);
  EXPECT_FALSE(rig->record(T(5))->response.filled());
  EXPECT_EQ(rig->turn().value, 0u);
  EXPECT_EQ(rig->clock().value(), E());
}

TEST(Fail, S_FAIL_4_the_loop_ends_by_itself) {
  for (const bool registered : {false, true}) {
    Rig rig;
    if (registered) rig.root(3);
    rig->fail(std::nullopt, std::nullopt, "backend");
    EXPECT_EQ(rig.kind(), StepKind::kFailed);
    EXPECT_EQ(rig->take_start_signal(), registered);
    const FailureCleanup done = rig->clean_up_after_failure(std::nullopt);
    EXPECT_FALSE(done.loop || done.recording);
  }
}

TEST(Fail, S_FAIL_5_a_selected_turn_is_not_finished) {
  Rig rig;
  rig.root(17);
  rig.fill(17);
  rig->timed_.set_alarm(P(17), E(37), {});
  rig->queue_.select();
  rig->progress_.selected = true;
  rig->fail(std::nullopt, std::nullopt, "backend");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(rig.kind(), StepKind::kFailed);
  EXPECT_FALSE(rig->record(T(17))->response.filled());
  EXPECT_EQ(rig->clock().value(), E());
  EXPECT_EQ(rig->timed_.size(), 1u);
}

TEST(Fail, S_FAIL_6_ordinary_messages_stay_pending) {
  auto rig = fx_one();
  rig->core->fail(std::nullopt, std::nullopt, "backend");
  rig->clock[17].advance_by(ns(37));
  EXPECT_TRUE(rig->pending(rig->send(17, RegisterChild{T(18), P(17), 0, {}, kSigChld, std::nullopt})));
  EXPECT_FALSE(rig->core->clock().contains(T(17)));
  EXPECT_FALSE(rig->core->is_registered(T(18)));
  EXPECT_FALSE(rig->filled(17));
  // Admitted before the failure, granted never.
  auto other = fx_one();
  const CallId call = other->send(17, RegisterChild{T(18), P(17), 0, {}, kSigChld, std::nullopt});
  other->core->fail(std::nullopt, std::nullopt, "backend");
  other->step();
  EXPECT_TRUE(other->pending(call));
}

TEST(Fail, S_FAIL_7_clean_up_writes_the_partial_record) {
  const std::string path = temp_path("partial.json");
  FileDestination file(path);
  CoreConfig config = cancelling();
  config.record_destination = &file;
  bool started = false;
  config.host_time = [&] { return std::exchange(started, true) ? ns(0) : LogicalTime::seconds(60); };
  auto rig = fx_one(true, config);
  rig->core->writer_->add_thread(T(17), {1000});
  rig->core->writer_->change(T(17), ns(37), {1000}, {1001}, TickPoint{23, 0});
  EXPECT_FALSE(rig->core->summary());
  rig->core->fail(std::nullopt, std::nullopt, "backend");
  const FailureCleanup done = rig->core->clean_up_after_failure(std::nullopt);
  EXPECT_FALSE(done.loop || done.recording);
  const auto record = PreemptionRecord::parse(read_file(path));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->threads.size(), 1u);
  EXPECT_EQ(record->threads.at(T(17)), (PreemptionHistory{{1001}, {{ns(37), {1000}}}, {{23, 0}}, {}}));
  EXPECT_TRUE(record->events.empty());
  ::unlink(path.c_str());
}

TEST(Fail, S_FAIL_8_both_outcomes_are_returned) {
  FileDestination directory("/");
  CoreConfig config = cancelling();
  config.record_destination = &directory;
  auto rig = fx_one(true, config);
  rig->core->fail(std::nullopt, std::nullopt, "backend");
  const FailureCleanup done = rig->core->clean_up_after_failure("the loop crashed");
  EXPECT_EQ(done.loop, "the loop crashed");
  ASSERT_TRUE(done.recording);
  EXPECT_EQ(rig->core->failure()->phase, "backend");
}

TEST(Fail, S_FAIL_9_an_in_memory_record_is_discarded) {
  CoreConfig config = cancelling();
  config.record_preemptions = true;
  auto rig = fx_one(true, config);
  rig->core->fail(std::nullopt, std::nullopt, "backend");
  EXPECT_FALSE(rig->core->clean_up_after_failure(std::nullopt).recording);
  EXPECT_EQ(rig->core->preemption_writer(), nullptr);
}

TEST(Fail, S_FAIL_10_signal_calls_after_failure) {
  ControlRig rig;
  rig->running_ = T(100);
  rig->fail(std::nullopt, std::nullopt, "backend");
  EXPECT_FALSE(*rig->authorise(task(100, 100), AS(100)));
  EXPECT_TRUE(rig->consume_retirement({{P(5), 5}, {}}));
  EXPECT_EQ(rig->reserve_exit(T(100), true, P(100), AS(100)).error(), ProtocolFailure::identity());
}

TEST(Fail, S_FAIL_11_one_line) {
  Rig rig;
  rig->fail(P(100), T(101), "phase text");
  rig->fail(P(1), T(1), "later");
  EXPECT_EQ(rig.log.count("run failed: process 100 thread 101: phase text"), 1);
  EXPECT_EQ(rig.log.count("run failed"), 1);
}

TEST(Shut, S_SHUT_4_SHUT_1_a_normal_end) {
  auto rig = fx_one();
  rig->send(17, rig->leaving(17, 17, 5));
  StepKind kind = rig->kind();
  while (kind == StepKind::kSkip) kind = rig->kind();
  EXPECT_EQ(kind, StepKind::kFinished);
  const std::string path = temp_path("summary.json");
  LogBuffer log;
  const RunSummary summary = *rig->core->summary();
  EXPECT_FALSE(write_summary(summary, {path, false, 2}, log));
  EXPECT_EQ(log.count(summary.comparison_text()), 1);
  EXPECT_EQ(nlohmann::json::parse(read_file(path))["syscall_count"], 5);
  ::unlink(path.c_str());
}

// --- host ---

TEST(Unsup, S_UNSUP_2_the_report_descriptor_is_duplicated) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  {
    ReportDescriptor report(fds[1], nullptr);
    EXPECT_GE(report.fd(), fds[1]);
    EXPECT_NE(::fcntl(report.fd(), F_GETFD) & FD_CLOEXEC, 0);
    CoreConfig config = plain();
    config.report_unsupported = [&](const std::string& name) { report.report(name); };
    Rig rig(config);
    for (const char* name : {"one", "one", "two"}) rig.send(17, ReportUnsupported{name});
  }
  ::close(fds[1]);
  std::string text(64, 0);
  text.resize(static_cast<std::size_t>(::read(fds[0], text.data(), text.size())));
  EXPECT_EQ(text, "one\ntwo\n");
  ::close(fds[0]);
  LogBuffer log;
  ReportDescriptor bad(-1, &log);
  bad.report("x");
  EXPECT_EQ(log.count("unsupported-call report"), 1);
}

TEST(Port, PORT_1_the_kernel_s_range) {
  const PortRange range = kernel_port_range();
  EXPECT_LE(range.first, range.last);
  EXPECT_GT(range.first, 0);
}

TEST(Sum, SUM_14_the_end_of_a_run) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  LogBuffer log;
  const RunSummary summary = sample();
  EXPECT_FALSE(write_summary(summary, {std::nullopt, true, fds[1]}, log));
  EXPECT_TRUE(log.lines.empty());
  std::string text(8'192, 0);
  text.resize(static_cast<std::size_t>(::read(fds[0], text.data(), text.size())));
  EXPECT_EQ(text, summary.full_text());
  EXPECT_THAT(text, HasSubstr("detrec run summary"));
  EXPECT_TRUE(
      write_summary(summary, {"/", false, 2}, log));  // a directory: the error is told, the log is written
  EXPECT_FALSE(log.lines.empty());
  ::close(fds[0]), ::close(fds[1]);
}

TEST(Sum, SUM_14_the_writer_survives_a_full_non_blocking_descriptor) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_NONBLOCK), 0);
  const std::string big(300'000, 'x');
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::close(fds[1]);
    ::fcntl(fds[0], F_SETFL, 0);
    std::string buffer(65'536, 0);
    std::size_t total = 0;
    for (ssize_t n; (n = ::read(fds[0], buffer.data(), buffer.size())) > 0;)
      total += static_cast<std::size_t>(n);
    ::_exit(total == 300'000 ? 0 : 1);
  }
  ::close(fds[0]);
  EXPECT_TRUE(write_fully(fds[1], big));
  ::close(fds[1]);
  int status = -1;
  ::waitpid(reader, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace detrec::core::testing
