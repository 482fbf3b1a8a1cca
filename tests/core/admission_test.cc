// Message admission, unsupported calls, shutdown: RPC-1 .. RPC-13, UNSUP-1 .. UNSUP-4, SHUT-1 .. SHUT-6.
#include "server/core/helper/guest_thread.h"
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

TEST(Rpc, S_RPC_1_what_the_helper_does_with_a_refusal) {  // RPC-7 .. RPC-9
  enum class Cause { kKilled, kStale, kFailed, kNone };
  for (const Cause cause : {Cause::kKilled, Cause::kStale, Cause::kFailed, Cause::kNone}) {
    auto rig = fx_one();
    ThreadClock clock;
    clock.advance_by(ns(37));
    GuestThread helper(T(17), AS(17), clock);
    if (cause == Cause::kKilled) rig->core->kill_thread(T(17), AS(17));
    if (cause == Cause::kStale) {
      rig->core->accepted_[T(17)] = AS(17);
      helper.take_address_space(AS(17, 1));
    }
    if (cause == Cause::kFailed) rig->core->fail(std::nullopt, std::nullopt, "backend");
    rig->core->send(helper.message(AskGlobalTime{}));
    const std::vector<Reply> replies = rig->core->take_replies();
    EXPECT_EQ(replies.size(), cause == Cause::kFailed ? 0u : 1u);
    if (cause == Cause::kFailed) {
      rig->core->watch_failure();
      EXPECT_EQ(rig->effects<FailureNotice>().size(), 1u);
    } else {
      const bool refused = cause != Cause::kNone;
      EXPECT_EQ(helper.receive(replies[0]),
                refused ? GuestThread::Verdict::kRetire : GuestThread::Verdict::kReturn);
    }
    EXPECT_EQ(helper.retired(), cause == Cause::kKilled || cause == Cause::kStale);
    EXPECT_EQ(helper.clock().elapsed(), ns(37));
  }
}

TEST(Rpc, S_RPC_2_a_missing_record_is_not_death) {
  auto rig = fx_one();
  rig->core->drop_registration(T(17));
  EXPECT_FALSE(rig->core->is_tombstoned(T(17)));
  rig->core->kill_thread(T(17), AS(17));
  EXPECT_TRUE(rig->core->is_tombstoned(T(17)));
}

TEST(Rpc, S_RPC_3_late_requests_of_the_dead) {
  auto rig = fx_one();
  rig->clock[17].add_syscall();
  rig->send(17, AskGlobalTime{});
  rig->core->kill_thread(T(17), AS(17));
  const GlobalClock before = rig->core->clock();
  rig->clock[17].add_syscall();
  EXPECT_TRUE(rig->refused(rig->send(17, RequestResources{})));
  EXPECT_FALSE(rig->core->is_registered(T(17)));
  EXPECT_EQ(rig->core->clock(), before);
}

TEST(Rpc, S_RPC_4_deregistrations_of_the_dead) {
  auto rig = fx_one();
  rig->send(17, AskGlobalTime{});
  rig->core->kill_thread(T(17), AS(17));
  const GlobalClock before = rig->core->clock();
  for (const std::uint64_t count : {17u, 99u}) {
    rig->clock[17].advance_by(ns(5));
    EXPECT_TRUE(rig->acknowledged(rig->send(17, rig->leaving(17, 17, count, {7}))));
  }
  EXPECT_EQ(rig->core->syscalls_.at(T(17)), 17u);
  EXPECT_EQ(rig->core->slices_.at(T(17)), (TimesliceStats{1, 7, 7, 7}));
  EXPECT_EQ(rig->core->summary()->syscall_count, 17u);
  EXPECT_EQ(rig->core->clock(), before);
  EXPECT_FALSE(rig->core->is_registered(T(17)));
}

TEST(Rpc, S_RPC_5_death_ends_a_parked_request) {
  auto rig = fx_one();
  const CallId call = rig->send(17, RequestResources{});
  rig->core->kill_thread(T(17), AS(17));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
  EXPECT_FALSE(rig->time(call));
}

TEST(Rpc, S_RPC_6_death_ends_a_replay_yield) {
  CoreConfig config = cancelling();
  config.replay_schedule = std::vector<ScheduleEvent>(2);
  for (int i = 0; i < 2; ++i) {
    (*config.replay_schedule)[i].tid = T(17 + i);
    (*config.replay_schedule)[i].end_time = ns(static_cast<std::uint64_t>(i + 1));
  }
  auto rig = fx_one(true, config);
  rig->process(18, 17);
  ScheduleEvent e = (*config.replay_schedule)[0];
  const CallId call = rig->send(17, TraceEvent{e});
  EXPECT_TRUE(rig->pending(call));
  EXPECT_TRUE(rig->request(17).is(ResourceKind::kReplayYield));
  rig->core->kill_thread(T(17), AS(17));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
}

TEST(Rpc, S_RPC_7_what_death_does_to_slots) {
  for (const bool cancel : {true, false}) {
    for (const bool filled : {true, false}) {
      Rig rig(cancel ? cancelling() : plain());
      rig.root(17);
      if (filled) rig.fill(17);
      rig->kill_thread(T(17), AS(17));
      const TurnRecord& r = rig->arena_.turn(rig->arena_.find(T(17)));
      EXPECT_EQ(r.request.value().exited, !filled);
      EXPECT_EQ(r.response.filled(), filled && cancel);
      if (filled && cancel) {
        EXPECT_EQ(r.response.value().kind, TurnReplyKind::kSignaled);
      }
    }
  }
}

TEST(Rpc, S_RPC_8_a_started_unknown_thread_is_fatal) {
  Rig rig;
  EXPECT_DEATH(rig.send(17, rig.leaving(17, 17)), "started thread 17 is unknown");
}

TEST(Rpc, S_RPC_9_another_owner_is_fatal) {
  Rig rig;
  Deregister d = rig.leaving(17, 17);
  d.start_entered = false;
  d.tid = T(18);
  EXPECT_DEATH(rig.send(17, d), "names another owner");
  d.tid = T(17);
  d.as = AS(17, 4);
  EXPECT_DEATH(rig.send(17, d), "names another owner");
}

TEST(Rpc, S_RPC_10_consuming_a_constructed_child) {  // FAIL-9
  for (const bool registered : {false, true}) {
    for (const bool failed : {false, true}) {
      auto rig = fx_one();
      CallId parent = 0;
      if (registered)
        parent = rig->send(17, RegisterChild{T(18), P(17), 0, {CloneFlags::kThread}, {}, std::nullopt});
      if (failed) rig->core->fail(std::nullopt, std::nullopt, "backend");
      rig->as[18] = AS(17);
      const GlobalClock before = rig->core->clock();
      Deregister d = rig->leaving(18, 17);
      d.start_entered = false;
      EXPECT_TRUE(rig->acknowledged(rig->send(18, d)));
      EXPECT_FALSE(rig->core->is_registered(T(18)));
      EXPECT_EQ(rig->core->is_tombstoned(T(18)), registered);
      if (!registered) {
        EXPECT_FALSE(rig->core->clock().contains(T(18)));
        EXPECT_EQ(rig->core->clock(), before);
      } else {
        EXPECT_TRUE(rig->pending(parent));
      }
      EXPECT_EQ(rig->core->turn().value, 0u);
    }
  }
}

TEST(Rpc, S_RPC_11_stale_address_spaces) {
  auto rig = fx_one();
  rig->core->accepted_[T(17)] = AS(17, 1);
  rig->clock[17].advance_by(ns(999'999));
  const GlobalClock before = rig->core->clock();
  EXPECT_TRUE(rig->refused(rig->send_as(17, AS(17, 0), AskGlobalTime{})));
  EXPECT_TRUE(rig->acknowledged(rig->send_as(17, AS(17, 0), rig->leaving(17, 17))));
  EXPECT_TRUE(rig->refused(rig->send_as(17, AS(17, 0), FutexWait{rig->key(1), 1, std::nullopt, 0})));
  EXPECT_EQ(rig->core->clock(), before);
  EXPECT_TRUE(rig->core->is_registered(T(17)));
}

TEST(Rpc, S_RPC_12_death_between_grant_and_completion) {
  auto rig = fx_one();
  const CallId call = rig->send(17, RequestResources{});
  EXPECT_EQ(rig->core->step().kind, StepKind::kGranted);
  rig->core->kill_thread(T(17), AS(17));
  rig->collect();
  EXPECT_TRUE(rig->refused(call));
}

TEST(Rpc, S_RPC_13_a_request_without_record_is_fatal) {
  auto rig = fx_one();
  rig->core->drop_registration(T(17));
  EXPECT_DEATH(rig->send(17, RequestResources{}), "without turn record");
}

TEST(Rpc, S_RPC_14_releases_change_nothing) {
  auto rig = fx_one();
  rig->clock[17].advance_by(ns(5));
  EXPECT_TRUE(rig->acknowledged(rig->send(17, ReleaseResources{})));
  EXPECT_TRUE(rig->acknowledged(rig->send(17, ReleaseAllResources{})));
  EXPECT_THAT(rig->queued(), ElementsAre(17));
  EXPECT_EQ(rig->core->turn().value, 0u);
  EXPECT_EQ(rig->core->clock().value(), E(5));
}

TEST(Rpc, S_RPC_15_the_sender_is_the_transport_s) {
  Rig rig;
  rig.root(17);
  rig.thread(18, 17);
  rig.clock[18].advance_by(ns(9));
  rig.send(18, IsThreadLive{T(17)});
  EXPECT_TRUE(rig->clock().contains(T(18)));
  EXPECT_FALSE(rig->clock().contains(T(17)));
}

TEST(Rpc, S_RPC_16_an_answer_of_another_type_is_fatal) {
  const Reply reply{1, T(17), std::nullopt, Acknowledged{}};
  GuestThread::expect<Acknowledged>(reply);
  EXPECT_DEATH(GuestThread::expect<TimeAnswer>(reply), "another type");
}

TEST(Rpc, S_RPC_17_address_space_before_tombstone) {
  auto rig = fx_one();
  rig->send(17, AskGlobalTime{});
  rig->core->accepted_[T(17)] = AS(17);
  rig->core->kill_thread(T(17), AS(17));
  const GlobalClock before = rig->core->clock();
  rig->clock[17].advance_by(ns(50));
  Deregister d = rig->leaving(17, 17, 4);
  d.as = AS(17, 9);
  EXPECT_TRUE(rig->acknowledged(rig->send_as(17, AS(17, 9), d)));
  EXPECT_FALSE(rig->core->syscalls_.contains(T(17)));
  EXPECT_TRUE(rig->acknowledged(rig->send(17, rig->leaving(17, 17, 4))));
  EXPECT_EQ(rig->core->syscalls_.at(T(17)), 4u);
  EXPECT_EQ(rig->core->clock(), before);
}

TEST(Unsup, S_UNSUP_1_the_warning) {
  EXPECT_EQ(UnsupportedCalls::format({"vmsplice", "getppid", "getppid"}),
            "unsupported system calls used: getppid,vmsplice");
  EXPECT_EQ(UnsupportedCalls::format({}), "");
  LogBuffer log;
  {
    CoreConfig config = plain();
    config.log = &log;
    Core core(config);
    core.send({T(17), ThreadClock(), AS(17), ReportUnsupported{"b"}});
    core.send({T(17), ThreadClock(), AS(17), ReportUnsupported{"a"}});
    core.send({T(17), ThreadClock(), AS(17), ReportUnsupported{"b"}});
    EXPECT_EQ(log.count("unsupported"), 0);
  }
  EXPECT_EQ(log.count("unsupported system calls used: a,b"), 1);
  EXPECT_EQ(log.count("core ends"), 1);  // SHUT-6
}

TEST(Unsup, S_UNSUP_3_each_name_is_reported_once) {
  std::vector<std::string> lines;
  CoreConfig config = plain();
  config.report_unsupported = [&](const std::string& name) { lines.push_back(name); };
  Rig rig(config);
  for (const char* name : {"one", "one", "two"}) rig.send(17, ReportUnsupported{name});
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Shut, S_SHUT_3_only_sequential_cores_are_driven_from_outside) {
  CoreConfig config = plain();
  config.sequentialize_threads = false;
  EXPECT_DEATH(Core{config}, "sequential mode");
}

TEST(Shut, SHUT_5_the_status_of_a_shutdown_is_the_caller_s) {
  for (const int status : {3, 130}) {
    auto rig = fx_one();
    rig->send(17, Shutdown{status});
    ASSERT_TRUE(rig->core->terminal_report());
    EXPECT_EQ(rig->core->terminal_report()->status, status);
    EXPECT_EQ(rig->kind(), StepKind::kTerminal);
  }
}

}  // namespace
}  // namespace detrec::core::testing
