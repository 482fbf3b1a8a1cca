// Schedule events and replay, preemption records and slices: TRACE-1 .. TRACE-27, PREEMPT-1 .. PREEMPT-19.
#include <nlohmann/json.hpp>

#include "server/core/helper/guest_thread.h"
#include "server/core/host/host_files.h"
#include "tests/core/rig.h"

namespace detrec::core::testing {
namespace {

ScheduleEvent ev(int tid, Operation op, std::uint64_t count = 1) {
  ScheduleEvent e;
  e.tid = T(tid);
  e.op = op;
  e.count = count;
  return e;
}
ScheduleEvent other(int tid) { return ev(tid, Operation::other()); }
ScheduleEvent ticks(int tid, std::uint64_t n) { return ev(tid, Operation::ticks(), n); }
ScheduleEvent pre(int tid, int nr) { return ev(tid, Operation::syscall(nr, SyscallPhase::kPre)); }
ScheduleEvent post(int tid, int nr) { return ev(tid, Operation::syscall(nr, SyscallPhase::kPost)); }
constexpr int kExecve = 59, kExit = 60, kRead = 0;
using Switch = Replayer::Switch;
using Match = Replayer::Match;
Replayer replayer(std::vector<ScheduleEvent> list, ReplayStop stop = ReplayStop::kNever, bool end = false) {
  return Replayer(std::move(list), stop, end);
}

TEST(Trace, S_TRACE_1_bootstrap_addresses_are_marked_in_logs_only) {
  ScheduleEvent e = ticks(3, 223);
  e.end = 0x1234;
  e.end_time = ns(2'230);
  const std::string stored = e.serialised();
  EXPECT_THAT(e.text(), HasSubstr("to 0x1234"));
  e.bootstrap = true;
  EXPECT_THAT(e.text(), HasSubstr("to host:0x1234"));
  EXPECT_EQ(e.serialised(), stored);
  const auto back = ScheduleEvent::parse(stored);
  ASSERT_TRUE(back);
  e.bootstrap = false;
  EXPECT_EQ(*back, e);
  EXPECT_FALSE(ScheduleEvent::parse("{"));
  EXPECT_FALSE(ScheduleEvent::parse("{\"tid\":1,\"op\":99}"));
}

TEST(Trace, S_TRACE_2_a_match_continues) {
  Replayer r = replayer({ticks(3, 10)});
  const auto a = r.observe(ticks(3, 10));
  EXPECT_EQ(a.match, Match::kMatch);
  EXPECT_EQ(a.change, Switch::kNone);
  EXPECT_FALSE(a.slice);
}

TEST(Trace, S_TRACE_3_the_slice_before_another_thread) {
  Replayer r = replayer({other(3), ticks(3, 123), other(3), ticks(5, 1)});
  const auto a = r.observe(other(3));
  EXPECT_EQ(a.change, Switch::kNone);
  EXPECT_EQ(a.slice, ns(1'230));
}

TEST(Trace, S_TRACE_4_the_slice_before_another_thread_s_call) {
  Replayer r = replayer({other(3), ticks(3, 123), other(3), pre(5, kRead)});
  EXPECT_EQ(r.observe(other(3)).slice, ns(1'230));
  Replayer batches = replayer({other(3), ticks(3, 10), ticks(3, 20)});
  EXPECT_EQ(batches.observe(other(3)).slice, ns(100));
  Replayer alone = replayer({other(3), ticks(3, 10), pre(3, kRead)});
  EXPECT_FALSE(alone.observe(other(3)).slice);
}

TEST(Trace, S_TRACE_5_immediate_switches) {
  for (const ScheduleEvent& next : {pre(3, kExit), post(3, kExit)}) {
    Replayer r = replayer({other(5), next});
    const auto a = r.observe(other(5));
    EXPECT_EQ(a.change, Switch::kImmediate);
    EXPECT_EQ(a.next, T(3));
    EXPECT_FALSE(a.slice);
  }
}

TEST(Trace, S_TRACE_6_switches_after_the_call_blocks) {
  Replayer r = replayer({pre(5, kRead), other(3)});
  const auto a = r.observe(pre(5, kRead));
  EXPECT_EQ(a.change, Switch::kAfterBlock);
  EXPECT_EQ(a.next, T(3));
}

TEST(Trace, S_TRACE_7_resync_by_insertion) {
  Replayer r = replayer({ticks(3, 123), pre(3, kExecve)});
  auto a = r.observe(other(3));
  EXPECT_EQ(a.match, Match::kHard);
  EXPECT_EQ(r.total().hard, 1u);
  EXPECT_TRUE(r.last_mismatched());
  EXPECT_EQ(a.change, Switch::kNone);
  a = r.observe(ticks(3, 123));
  EXPECT_EQ(a.match, Match::kMatch);
  EXPECT_EQ(r.total().insertion_resyncs, 1u);
  EXPECT_FALSE(r.last_mismatched());
  EXPECT_EQ(a.change, Switch::kNone);
}

TEST(Trace, S_TRACE_8_resync_by_deletion) {
  Replayer r = replayer({ticks(3, 1), ticks(3, 2), pre(3, kRead)});
  r.observe(pre(3, kRead));
  EXPECT_EQ(r.total().deletion_resyncs, 1u);
  EXPECT_EQ(r.total().fast_forwards, 1u);
  EXPECT_EQ(r.next(), nullptr);
  EXPECT_EQ(r.of(T(3)).deletion_resyncs, 1u);
  std::vector<ScheduleEvent> far(12, ticks(3, 1));
  far.push_back(pre(3, kRead));  // beyond the next 10
  Replayer late = replayer(far);
  late.observe(pre(3, kRead));
  EXPECT_EQ(late.total().deletion_resyncs, 0u);
}

TEST(Trace, TRACE_12_a_soft_mismatch_is_consumed) {
  Replayer r = replayer({ticks(3, 10), ticks(3, 5)});
  EXPECT_EQ(r.observe(ticks(3, 9)).match, Match::kSoft);
  EXPECT_EQ(r.total().soft, 1u);
  EXPECT_EQ(r.next()->count, 5u);
  EXPECT_FALSE(replayer({ticks(3, 10)}, ReplayStop::kOnHard).observe(ticks(3, 9)).stop);
  EXPECT_TRUE(replayer({ticks(3, 10)}, ReplayStop::kOnAny).observe(ticks(3, 9)).stop);  // --strict
  EXPECT_THAT(r.describe(), HasSubstr("soft 1"));
  EXPECT_THAT(r.describe(), HasSubstr("thread 3"));
}

TEST(Trace, TRACE_17_switches_while_mismatched_are_counted) {
  Replayer r = replayer({ticks(5, 10)});
  EXPECT_EQ(r.observe(other(3)).change, Switch::kImmediate);
  EXPECT_EQ(r.total().at_switch, 1u);
}

CoreConfig recording() {
  CoreConfig c = cancelling();
  c.record_schedule = true;
  return c;
}
const std::vector<ScheduleEvent>& events(Rig& rig) { return rig->writer_->record().events; }

TEST(Trace, S_TRACE_9_addresses_before_the_first_exec) {
  auto rig = fx_one(true, recording());
  ScheduleEvent a = ticks(17, 5), b = pre(17, kExecve), c = ticks(17, 6);
  for (ScheduleEvent* e : {&a, &b, &c}) {
    e->start = 1, e->end = 2;
    rig->send(17, TraceEvent{*e});
  }
  EXPECT_FALSE(events(*rig)[0].end);
  EXPECT_FALSE(events(*rig)[1].end);
  EXPECT_EQ(events(*rig)[2].end, 2u);
  EXPECT_EQ(events(*rig)[2].start, 1u);
}

TEST(Trace, S_TRACE_10_exhausted_lists) {
  EXPECT_FALSE(replayer({}).observe(other(3)).stop);
  EXPECT_FALSE(replayer({}).observe(other(3)).guided);
  EXPECT_TRUE(replayer({}, ReplayStop::kNever, true).observe(other(3)).stop);
}

TEST(Trace, S_TRACE_11_stack_points) {
  CoreConfig config = recording();
  config.stack_points = {5, 2};
  auto rig = fx_one(true, config);
  std::vector<int> fired;
  for (int i = 0; i <= 5; ++i) {
    if (rig->get<TraceAnswer>(rig->send(17, TraceEvent{other(17)})).print_stack) fired.push_back(i);
  }
  EXPECT_EQ(fired, (std::vector<int>{2, 5}));
  EXPECT_EQ(rig->effects<TakeStackTrace>().size(), 2u);
}

TEST(Trace, TRACE_24_with_replay_a_point_names_the_recorded_event) {
  CoreConfig config = cancelling();
  config.replay_schedule = {ticks(17, 1), ticks(17, 2), pre(17, kRead), other(17)};
  config.stack_points = {2};
  auto rig = fx_one(true, config);
  EXPECT_FALSE(
      rig->get<TraceAnswer>(rig->send(17, TraceEvent{other(17)})).print_stack);  // resyncs onto event 3
  auto again = fx_one(true, config);
  EXPECT_TRUE(again->get<TraceAnswer>(again->send(17, TraceEvent{pre(17, kRead)})).print_stack);
}

TEST(Trace, S_TRACE_12_empty_batches) {  // TRACE-4: a core without sequential mode does not exist (SHUT-3)
  auto rig = fx_one(true, recording());
  rig->send(17, TraceEvent{ticks(17, 0)});
  EXPECT_TRUE(events(*rig).empty());
}

TEST(Trace, S_TRACE_13_dying_on_desync) {
  for (const bool die : {true, false}) {
    CoreConfig config = cancelling();
    config.replay_schedule = {ticks(17, 5)};
    config.replay_stop = die ? ReplayStop::kOnHard : ReplayStop::kNever;
    auto rig = fx_one(true, config);
    const CallId call = rig->send(17, TraceEvent{other(17)});
    EXPECT_EQ(rig->core->terminal_report().has_value(), die);
    EXPECT_EQ(rig->pending(call), die);
    if (die) {
      EXPECT_EQ(rig->core->terminal_report()->status, 125);
    } else {
      EXPECT_NE(rig->core->replayer_->next(), nullptr);
    }
  }
}

TEST(Trace, S_TRACE_14_a_switch_moves_priorities) {
  CoreConfig config = cancelling();
  config.replay_schedule = {other(3), ticks(5, 40), ticks(5, 1), other(3), other(5)};
  Rig rig(config);
  rig.root(3);
  rig.process(5, 3);
  rig.fill(5);
  const CallId call = rig.send(3, TraceEvent{other(3)});
  EXPECT_EQ(rig.priority(3), 9999);
  EXPECT_EQ(rig.priority(5), 1);
  EXPECT_EQ(rig->staged_slices_.at(T(5)), ns(400));
  EXPECT_TRUE(rig.pending(call));
  EXPECT_EQ(rig.step().thread, T(5));
  rig->queue_.remove(T(5));
  rig->last_charged_ = false;
  const LogicalTime before = rig->clock().value();
  EXPECT_EQ(rig.step().thread, T(3));
  EXPECT_TRUE(rig.get<TraceAnswer>(call).yielded);
  rig->charge_and_sample(true);
  EXPECT_EQ(rig->clock().value(), before);
  rig.send(3, TraceEvent{other(3)});  // a mismatch whose switch is due to 5, which is not queued
  EXPECT_EQ(rig.log.count("switch to thread 5, which cannot run"), 1);
}

TEST(Trace, S_TRACE_15_slices_apply_after_the_first_exec) {
  GuestThread guest(T(3), AS(3), ThreadClock());
  guest.clock().advance_by(ns(70));
  guest.set_slice_ends(ns(500), ns(600));
  guest.apply_slice(ns(1'230));
  EXPECT_EQ(guest.slice_end(), ns(500));
  guest.pass_first_exec();
  guest.apply_slice(ns(1'230));
  EXPECT_EQ(guest.slice_end(), ns(1'300));
  EXPECT_EQ(guest.maximum_end(), ns(1'300));
  guest.apply_slice(std::nullopt);
  EXPECT_EQ(guest.slice_end(), ns(1'300));
}

TEST(Trace, S_TRACE_16_consumed_then_recorded) {
  CoreConfig config = recording();
  config.replay_schedule = {other(17), ticks(17, 4)};
  auto rig = fx_one(true, config);
  rig->send(17, TraceEvent{other(17)});
  rig->send(17, TraceEvent{ticks(17, 4)});
  EXPECT_EQ(rig->core->replayer_->consumed(), 2u);
  EXPECT_EQ(events(*rig).size(), 2u);
  const auto summary = rig->core->summary();
  EXPECT_EQ(summary->events_replayed, 2u);
  EXPECT_EQ(summary->events_recorded, 2u);
  EXPECT_EQ(summary->events_desynced, 0u);
}

TEST(Trace, S_TRACE_17_refused_senders) {
  auto rig = fx_one(true, recording());
  rig->core->accepted_[T(17)] = AS(17, 1);
  EXPECT_TRUE(rig->refused(rig->send(17, TraceEvent{other(17)})));
  rig->core->accepted_.clear();
  rig->core->kill_thread(T(17), AS(17));
  EXPECT_TRUE(rig->refused(rig->send(17, TraceEvent{other(17)})));
  EXPECT_TRUE(events(*rig).empty());
}

TEST(Trace, S_TRACE_18_recorded_in_order) {
  auto rig = fx_one(true, recording());
  ScheduleEvent a = other(17), b = ticks(17, 7);
  a.end_time = ns(10), b.end_time = ns(80);
  rig->send(17, TraceEvent{a});
  rig->send(17, TraceEvent{b});
  ASSERT_EQ(events(*rig).size(), 2u);
  EXPECT_EQ(events(*rig)[0], a);
  EXPECT_EQ(events(*rig)[1].end_time, ns(80));
  auto off = fx_one();
  const TraceAnswer empty = off->get<TraceAnswer>(off->send(17, TraceEvent{a}));
  EXPECT_FALSE(empty.yielded || empty.slice || empty.print_stack);
}

TEST(Trace,
     S_TRACE_19_stack_signals) {  // the trace itself is taken by who reads guest memory
  CoreConfig config = recording();
  config.stack_points = {0};
  config.stack_signal = Signal{40};
  auto rig = fx_one(true, config);
  EXPECT_EQ(rig->get<TraceAnswer>(rig->send(17, TraceEvent{other(17)})).stack_signal, Signal{40});
  rig->send(17, TraceEvent{other(17)});
  ASSERT_EQ(rig->effects<DeliverSignal>().size(), 1u);
  EXPECT_EQ(rig->effects<DeliverSignal>()[0].signal, Signal{40});
}

// --- PREEMPT ---

class MemoryDestination : public RecordDestination {
 public:
  std::string name() const override { return "/somewhere/record.json"; }
  bool write(const std::string& text, std::string&) override {
    ++writes;
    last = text;
    return true;
  }
  int writes = 0;
  std::string last;
};

TEST(Preempt, S_PREEMPT_1_round_trip) {
  MemoryDestination file;
  PreemptionWriter w(&file);
  w.add_thread(T(2), {1000});
  w.add_thread(T(4), {1000});
  const auto change = [&](int tid, std::uint64_t at, std::uint32_t before, std::uint32_t after) {
    w.change(T(tid), ns(at), {before}, {after}, TickPoint{at, 0x400000 + at});
  };
  change(2, 3, 1000, 3), change(2, 30, 3, 30), change(2, 300, 30, 300);
  change(4, 2, 1000, 2), change(4, 20, 2, 20), change(4, 200, 20, 200);
  w.add_event(other(2));
  const auto read = PreemptionRecord::parse(w.record().json());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, w.record());
  EXPECT_FALSE(w.flush());
  EXPECT_EQ(PreemptionRecord::parse(file.last).value(), w.record());
  const PreemptionHistory& two = read->threads.at(T(2));
  EXPECT_EQ(two.final, Priority{300});
  EXPECT_EQ(two.initial(), Priority{1000});
  EXPECT_EQ(two.changes, (std::vector<PriorityChange>{{ns(3), {1000}}, {ns(30), {3}}, {ns(300), {30}}}));
  EXPECT_EQ(two.points[2], (TickPoint{300, 0x400000 + 300}));
  EXPECT_EQ(read->threads.at(T(4)).changes,
            (std::vector<PriorityChange>{{ns(2), {1000}}, {ns(20), {2}}, {ns(200), {20}}}));
  PreemptionHistory without = two;  // the other representation has no points
  without.points.clear();
  EXPECT_EQ(PreemptionHistory::from_from(two.as_from()), without);
}

TEST(Preempt, S_PREEMPT_2_epochs) {
  PreemptionRecord r;
  const std::vector<ChaosEpoch> epochs{{ns(100), 0, Factor::rounded(2.5)},
                                       {ns(500), 1, Factor::rounded(0.75)}};
  r.threads[T(2)].epochs = epochs;
  EXPECT_EQ(PreemptionRecord::parse(r.json()).value(), r);
  EpochCursor cursor(epochs);
  EXPECT_FALSE(cursor.advance(ns(99)));
  EXPECT_EQ(cursor.advance(ns(100)), epochs[0]);
  EXPECT_FALSE(cursor.advance(ns(499)));
  EXPECT_EQ(cursor.advance(ns(500)), epochs[1]);
  EXPECT_FALSE(cursor.advance(kIndefinite));
}

TEST(Preempt, S_PREEMPT_3_normalising) {
  PreemptionRecord r;
  for (int t = 2; t <= 6; ++t) r.threads[T(t)].final = {1000};
  r.threads[T(4)].final = {9722};
  r.threads[T(5)].changes = {{ns(5), {7839}}};
  r.threads[T(5)].final = {9982};
  r.normalise();
  EXPECT_EQ(r.threads.at(T(4)).final, Priority{1002});
  EXPECT_EQ(r.threads.at(T(5)).initial(), Priority{1001});
  EXPECT_EQ(r.threads.at(T(5)).final, Priority{1003});
  EXPECT_FALSE(r.threads.contains(T(2)));
}

TEST(Preempt, S_PREEMPT_4_dropping_the_latest) {
  PreemptionRecord r;
  r.threads[T(2)] = {{20}, {{ns(10), {1000}}}, {}, {}};
  r.threads[T(3)] = {{30}, {{ns(5), {1000}}, {ns(40), {25}}}, {{1, 0}, {2, 0}}, {}};
  r.drop_latest();
  EXPECT_EQ(r.threads.at(T(3)).final, Priority{25});
  EXPECT_EQ(r.threads.at(T(3)).changes.size(), 1u);
  EXPECT_EQ(r.threads.at(T(3)).points.size(), 1u);
  r.drop_latest();
  EXPECT_EQ(r.threads.at(T(2)).final, Priority{1000});
  r.drop_latest();
  EXPECT_EQ(r.changes(), 0u);
  r.drop_latest();
  EXPECT_FALSE(r.threads.contains(T(3)));
  EXPECT_TRUE(r.threads.contains(T(2)));
}

TEST(Preempt, S_PREEMPT_5_invalid_records) {
  const auto invalid = [](auto change) {
    PreemptionRecord r;
    r.threads[T(2)] = {
        {20}, {{ns(10), {1000}}, {ns(20), {5}}}, {{1, 5}, {2, 0}}, {{ns(1), 1, {}}, {ns(2), 2, {}}}};
    EXPECT_FALSE(r.invalid());
    change(r.threads[T(2)]);
    EXPECT_TRUE(r.invalid());
    EXPECT_FALSE(PreemptionRecord::parse(r.json()));
  };
  using H = PreemptionHistory;
  invalid([](H& h) { h.changes[0].until = {0}; });
  invalid([](H& h) { h.final = {10001}; });
  invalid([](H& h) { h.changes[1].time = ns(10); });
  invalid([](H& h) { h.points.pop_back(); });
  invalid([](H& h) { h.points[1] = {1, 4}; });
  invalid([](H& h) { h.epochs[0].factor.q32 = 0; });
  invalid([](H& h) { h.epochs[1].number = 1; });
  EXPECT_FALSE(PreemptionRecord::parse("not json"));
  EXPECT_FALSE(PreemptionRecord::parse(R"({"threads":{"x":{"final":1}}})"));
  EXPECT_FALSE(PreemptionRecord::parse(R"({"threads":{"2":{"final":1,"changes":[[1]]}}})"));
}

TEST(Preempt, S_PREEMPT_6_misuse_of_the_writer) {
  PreemptionWriter w(nullptr);
  w.add_thread(T(2), {1000});
  EXPECT_DEATH(w.add_thread(T(2), {1000}), "twice");
  EXPECT_DEATH(w.change(T(3), ns(1), {1000}, {5}, std::nullopt), "unknown");
  EXPECT_DEATH(w.change(T(2), ns(1), {999}, {5}, std::nullopt), "changes from priority");
  w.change(T(2), ns(10), {1000}, {5}, std::nullopt);
  EXPECT_DEATH(w.change(T(2), ns(10), {5}, {6}, std::nullopt), "does not grow");
  w.epoch(T(2), {ns(5), 1, {}});
  EXPECT_DEATH(w.epoch(T(2), {ns(6), 1, {}}), "does not grow");
}

TEST(Preempt, S_PREEMPT_7_slowdown_factors) {
  const auto f = [](std::uint64_t seed, int tid, std::uint64_t epoch, double r = 4.0) {
    return slowdown_factor(r, seed, T(tid), epoch);
  };
  EXPECT_EQ(f(1, 2, 3), f(1, 2, 3));
  EXPECT_NE(f(1, 2, 3), f(1, 3, 3));
  EXPECT_NE(f(1, 2, 3), f(2, 2, 3));
  EXPECT_NE(f(1, 2, 3), f(1, 2, 4));
  EXPECT_EQ(f(1, 2, 3, 1.0), 1.0);
  EXPECT_EQ(f(1, 2, 3, 0.5), 1.0);
  int below = 0;
  for (int t = 1; t <= 400; ++t) {
    EXPECT_GE(f(9, t, 0), 0.25 - 1e-9);
    EXPECT_LE(f(9, t, 0), 4.0 + 1e-9);
    below += f(9, t, 0) < 1.0;
  }
  EXPECT_GT(below, 140);  // log-uniform: half of them
  EXPECT_LT(below, 260);
  ChaosConfig chaos;
  chaos.enabled = true;
  chaos.slowdown = 4.0;
  EXPECT_EQ(SlicePlan::chaos(chaos, 1, T(2), {1000}).factor(), Factor::rounded(f(1, 2, 0)));
}

TEST(Preempt, S_PREEMPT_8_priority_points_are_recorded) {
  for (const bool schedule_replay : {false, true}) {
    CoreConfig config = cancelling();
    config.record_preemptions = true;
    if (schedule_replay) config.replay_schedule = std::vector<ScheduleEvent>{};
    auto rig = fx_one(true, config);
    rig->core->writer_->add_thread(T(17), {1000});
    rig->core->pending_epochs_[T(17)] = {{ns(10), 1, {}}, {ns(20), 2, {}}};
    rig->send(17, RequestResources{ResourceRequest::one(Resource::priority_point({20}, ns(50), 7, 0x401000)),
                                   {{ns(10), 1, {}}, {ns(20), 2, {}}}});
    rig->step();
    const PreemptionHistory& h = rig->core->writer_->record().threads.at(T(17));
    EXPECT_EQ(h.epochs.size(), schedule_replay ? 0u : 2u);
    EXPECT_EQ(h.changes.size(), schedule_replay ? 0u : 1u);
    if (!schedule_replay) {
      EXPECT_EQ(h.changes[0], (PriorityChange{ns(50), {1000}}));
      EXPECT_EQ(h.points[0], (TickPoint{7, 0x401000}));
    }
  }
}

TEST(Preempt, S_PREEMPT_9_old_files_replay_by_time) {
  const auto r = PreemptionRecord::parse(R"({"threads":{"2":{"final":20,"changes":[[100,1000]]}}})");
  ASSERT_TRUE(r);
  SlicePlan plan = SlicePlan::replay(r->threads.at(T(2)));
  const Slice s = plan.next(ns(5), {});
  EXPECT_EQ(s.end, ns(100));
  EXPECT_FALSE(s.point);
}

TEST(Preempt, S_PREEMPT_10_files_are_written_once) {
  MemoryDestination file;
  {
    PreemptionWriter w(&file);
    w.flush();
    w.flush();
  }
  EXPECT_EQ(file.writes, 1);
  { PreemptionWriter w(&file); }
  EXPECT_EQ(file.writes, 2);
  { PreemptionWriter w(nullptr); }
  EXPECT_EQ(file.writes, 2);
}

TEST(Preempt, S_PREEMPT_11_recorded_slices) {
  SlicePlan plan = SlicePlan::replay({{20}, {{ns(100), {1000}}}, {{10, 0x4000}}, {}});
  Slice s = plan.next(ns(0), {});
  EXPECT_EQ(s.point, (TickPoint{10, 0x4000}));
  EXPECT_EQ(s.priority, Priority{1000});
  s = plan.next(ns(100), {10, 0x4000});
  EXPECT_EQ(s.end, kIndefinite);
  EXPECT_EQ(s.priority, Priority{20});
}

TEST(Preempt, S_PREEMPT_12_recorded_ends_in_the_past) {
  const PreemptionHistory timed{{20}, {{ns(100), {1000}}}, {}, {}};
  EXPECT_DEATH(SlicePlan::replay(timed).next(ns(101), {}), "lies before");
  PreemptionHistory exact = timed;
  exact.points = {{10, 0x4000}};
  EXPECT_DEATH(SlicePlan::replay(exact).next(ns(0), {11, 0}), "lies before");
  EXPECT_DEATH(SlicePlan::replay(exact).next(ns(0), {10, 0x4001}), "lies before");
  EXPECT_EQ(SlicePlan::replay(exact).next(ns(0), {10, 0x4000}).priority, Priority{1000});
}

TEST(Preempt, S_PREEMPT_13_two_kinds_of_replay_exclude_each_other) {
  CoreConfig config = plain();
  config.replay_preemptions = PreemptionRecord{};
  config.replay_schedule = std::vector<ScheduleEvent>{};
  EXPECT_DEATH(Core{config}, "exclude each other");
  config.replay_schedule.reset();
  config.replay_preemptions->threads[T(3)].final = {0};
  EXPECT_DEATH(Core{config}, "invalid preemption record");
}

TEST(Preempt, S_PREEMPT_14_the_last_resort) {
  EXPECT_EQ(SlicePlan::plain(kDefaultMaxTimeslice).next(ns(5), {}).end, ns(200'000'005));
}

TEST(Preempt, S_PREEMPT_15_chaos_epochs) {
  ChaosConfig chaos;
  chaos.enabled = true;
  chaos.slowdown = 3.0;
  chaos.epoch_length = ns(1'000);
  SlicePlan plan = SlicePlan::chaos(chaos, 1, T(2), {1000});
  for (const std::uint64_t t : {999u, 1'000u, 3'500u}) plan.next(ns(t), {});
  const auto epochs = plan.take_epochs();
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].number, 1u);
  EXPECT_EQ(epochs[1].number, 3u);
  EXPECT_EQ(epochs[1].factor, Factor::rounded(slowdown_factor(3.0, 1, T(2), 3)));
  EXPECT_TRUE(plan.take_epochs().empty());
  chaos.epoch_length = {};
  SlicePlan still = SlicePlan::chaos(chaos, 1, T(2), {1000});
  still.next(ns(99'999), {});
  EXPECT_TRUE(still.take_epochs().empty());
  // PREEMPT-18: what no priority point flushed travels with the deregistration.
  CoreConfig config = cancelling();
  config.record_preemptions = true;
  auto rig = fx_one(true, config);
  rig->core->writer_->add_thread(T(17), {1000});
  Deregister d = rig->leaving(17, 17);
  d.epochs = epochs;
  rig->send(17, d);
  EXPECT_EQ(rig->core->writer_->record().threads.at(T(17)).epochs, epochs);
}

TEST(Preempt, S_PREEMPT_16_chaos_slices) {
  ChaosConfig chaos;
  chaos.enabled = true;
  chaos.mean = ns(1'000);
  const auto run = [&] {
    SlicePlan plan = SlicePlan::chaos(chaos, 77, T(2), {1000});
    std::vector<std::pair<std::uint64_t, std::uint32_t>> out;
    for (int i = 0; i < 1'000; ++i) {
      const Slice s = plan.next(ns(0), {});
      EXPECT_GE(s.ticks, 1u);
      EXPECT_TRUE(valid_priority(s.priority));
      out.emplace_back(s.ticks, s.priority.value);
    }
    return out;
  };
  const auto slices = run();
  EXPECT_EQ(slices, run());
  double sum = 0;
  std::set<std::uint32_t> priorities;
  for (const auto& [n, p] : slices) sum += static_cast<double>(n), priorities.insert(p);
  EXPECT_GT(sum / 1'000, 80);  // mean 1 + 100 ticks
  EXPECT_LT(sum / 1'000, 125);
  EXPECT_GT(priorities.size(), 900u);
}

}  // namespace
}  // namespace detrec::core::testing
