// Two-stage child exit and process retirement: CHILD-1 .. CHILD-33, RETIRE-1 .. RETIRE-9.
#include <cerrno>

#include "tests/core/control_rig.h"

namespace detrec::core::testing {
namespace {

const ProtocolFailure kIdentity = ProtocolFailure::identity(), kPhase = ProtocolFailure::phase();
const WaitStatus kS = WaitStatus::exited(7), kOther = WaitStatus::exited(8);
const ProcessKey kChild{P(100), 1}, kParent{P(50), 1};
using Stage = ChildReservation::Phase;

struct ExitRig : ControlRig {
  explicit ExitRig(bool with_parent = true) : ControlRig(with_parent) {}
  Protocol<Core::ExitMode> reserve(bool group = true, int tid = 100,
                                   std::optional<ProcessKey> child = std::nullopt) {
    return core->reserve_exit(T(tid), group, P(100), AS(100), child);
  }
  System<Done> terminate(WaitStatus status = kS, bool group = true) {
    return core->consume_boundary(
        {core->permits_.at(T(100)), BoundaryReceipt::Kind::kTermination, group, status});
  }
  /// Up to "awaiting publication".
  void exited(WaitStatus status = kS) {
    EXPECT_TRUE(reserve());
    EXPECT_TRUE(terminate(status));
  }
  ChildExitCompletion event(bool waitable = true) { return {kParent, kChild, kS, waitable}; }
  using State = ChildExitCallback::State;
};

TEST(Child, S_CHILD_1_a_group_exit_reserves) {
  ExitRig rig;
  const CallId call =
      rig.send(100, RequestResources{ResourceRequest::one(Resource::exit(true, P(100), AS(100)))});
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  EXPECT_FALSE(rig.pending(call));
  EXPECT_EQ(rig->permits_.size(), 1u);
  EXPECT_TRUE(rig->fences_.at(T(100)).group);
  EXPECT_EQ(rig->reservations_.at(kChild).phase, Stage::kAwaitingStatus);
  EXPECT_EQ(rig->reservations_.at(kChild).parent, kParent);
  EXPECT_TRUE(rig->timed_.empty());
  EXPECT_TRUE(rig->control_barrier());
  EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
}

TEST(Child, S_CHILD_2_without_control_object) {  // TIMED-22
  Rig rig(cancelling());
  rig.root(50);
  rig->queue_.remove(T(50));
  rig.process(100, 50);
  rig.send(100, RequestResources{ResourceRequest::one(Resource::exit(true, P(100), AS(100)))});
  EXPECT_EQ(rig.kind(), StepKind::kGranted);
  ASSERT_EQ(rig->timed_.size(), 1u);
  EXPECT_EQ(rig->timed_.all().begin()->kind, TimedKind::kChildExit);
  EXPECT_EQ(rig->timed_.next_deadline(), rig->committed_time() + ns(1));
  EXPECT_TRUE(rig->fences_.empty());
}

TEST(Child, S_CHILD_3_only_final_exits_reserve) {
  ExitRig rig;
  rig.second();
  EXPECT_TRUE(rig.reserve(false));
  EXPECT_EQ(rig->fences_.size(), 1u);
  EXPECT_TRUE(rig->reservations_.empty());
  ExitRig last;
  EXPECT_TRUE(last.reserve(false));
  EXPECT_EQ(last->fences_.size(), 1u);
  EXPECT_EQ(last->reservations_.size(), 1u);
}

TEST(Child, S_CHILD_4_processes_without_live_parent) {
  ExitRig root(false);
  EXPECT_TRUE(root.reserve());
  EXPECT_EQ(root->fences_.size(), 1u);
  EXPECT_TRUE(root->reservations_.empty());
  const auto orphan = [](ExitRig& rig) {
    rig->kill_thread(T(50), AS(50));
    rig->terminals_[kParent] = {TerminalClass::kRoot, {}, kS};
  };
  ExitRig terminal;
  orphan(terminal);
  EXPECT_TRUE(terminal.reserve());
  EXPECT_TRUE(terminal->reservations_.empty());
  ExitRig ambiguous;
  orphan(ambiguous);
  ambiguous->terminals_[{P(50), 2}] = {TerminalClass::kRoot, {}, kS};
  EXPECT_EQ(ambiguous.reserve().error(), kIdentity);  // ID-9
}

TEST(Child, S_CHILD_5_refused_exits_are_protocol_failures) {
  const auto with = [](auto change, AddressSpaceId as = AS(100), ProcessId process = P(100)) {
    ExitRig rig;
    rig.second();
    rig->renew_slots(T(101));
    rig.fill(101);
    const CallId call =
        rig.send(100, RequestResources{ResourceRequest::one(Resource::exit(true, process, as))});
    change(rig);
    const bool failed_before = rig->failed();
    rig.step();
    EXPECT_TRUE(rig->failed());
    if (!failed_before) {
      EXPECT_EQ(rig.failure(), kIdentity);
    }
    EXPECT_TRUE(rig.pending(call));
    EXPECT_TRUE(rig->timed_.empty());
  };
  with([](ExitRig& r) { r->permits_[T(100)] = {task(100, 100), 1, {}}; });
  with([](ExitRig& r) { r->permits_[T(101)] = {task(101, 100), 1, {}}; });
  with([](ExitRig&) {}, AS(100, 4));
  with([](ExitRig&) {}, AS(100), P(50));
  with([](ExitRig& r) { r->fail(std::nullopt, std::nullopt, "backend"); });
  ExitRig fenced;
  fenced->fences_[T(101)] = {{}, P(100), AS(100), false};
  EXPECT_EQ(fenced.reserve().error(), kIdentity);
}

TEST(Child, S_CHILD_6_a_key_is_used_once) {
  for (const int what : {0, 1, 2}) {
    ExitRig rig;
    if (what == 0) rig->reservations_[kChild] = {};
    if (what == 1) rig->completed_[kChild] = {};
    if (what == 2) rig->terminals_[kChild] = {};
    EXPECT_EQ(rig.reserve().error(), kPhase);
    EXPECT_TRUE(rig->fences_.empty());
    EXPECT_TRUE(rig->permits_.empty());
  }
}

TEST(Child, S_CHILD_7_the_receipt_records_the_status) {
  ExitRig rig;
  rig.exited();
  EXPECT_EQ(rig->reservations_.at(kChild).phase, Stage::kAwaitingPublication);
  EXPECT_EQ(rig->reservations_.at(kChild).status, kS);
  EXPECT_EQ(rig->terminals_.at(kChild), (TerminalProcess{TerminalClass::kLiveParent, kParent, kS}));
  EXPECT_TRUE(rig->fences_.empty());
  EXPECT_TRUE(rig->control_barrier());
}

TEST(Child, S_CHILD_8_a_fatal_signal_has_no_first_stage) {
  ExitRig rig;
  rig->running_ = T(100);
  ASSERT_TRUE(rig->authorise(task(100, 100), AS(100)));
  EXPECT_TRUE(rig.terminate());
  EXPECT_EQ(rig->reservations_.at(kChild).phase, Stage::kAwaitingPublication);
}

TEST(Child, S_CHILD_9_retirement_barriers) {
  ExitRig root(false);
  root.exited();
  EXPECT_EQ(root->retirements_.at(kChild), kS);
  ExitRig orphan;
  orphan->kill_thread(T(50), AS(50));
  orphan->terminals_[kParent] = {TerminalClass::kRoot, {}, kS};
  orphan.exited();
  EXPECT_EQ(orphan->retirements_.at(kChild), kS);
  EXPECT_EQ(orphan->waits_.meta(P(100)), nullptr);  // consumed at once
}

TEST(Child, S_CHILD_10_publication_in_two_steps) {
  ExitRig rig;
  rig.exited();
  ChildExitCallback callback(*rig, rig.event());
  EXPECT_EQ(callback.advance().state, ExitRig::State::kNotFinished);
  EXPECT_EQ(rig.control.published.size(), 1u);
  EXPECT_EQ(rig->reservations_.at(kChild).phase, Stage::kPublished);
  const std::uint64_t wakes = rig->loop_wakes_;
  EXPECT_EQ(callback.advance().state, ExitRig::State::kSucceeded);
  EXPECT_TRUE(rig->reservations_.empty());
  EXPECT_EQ(rig->completed_.count(kChild), 1u);
  EXPECT_GT(rig->loop_wakes_, wakes);
  EXPECT_FALSE(rig->failed());
  EXPECT_TRUE(rig.control.forwarded.empty());
}

std::pair<int, int> publish(ExitRig& rig, bool waitable = true) {
  ChildExitCallback callback(*rig, rig.event(waitable));
  const auto first = callback.advance();
  if (first.state != ExitRig::State::kNotFinished) return {first.error.value, -1};
  const auto second = callback.advance();
  return {0, second.state == ExitRig::State::kSucceeded ? 0 : second.error.value};
}

TEST(Child, S_CHILD_11_a_waitable_child_stays) {
  ExitRig rig;
  rig.exited();
  EXPECT_EQ(publish(rig).second, 0);
  EXPECT_TRUE(rig->waits_.ready(P(50), {}).child);
}

TEST(Child, S_CHILD_12_an_auto_reaped_child_goes) {
  ExitRig rig;
  rig.exited();
  EXPECT_EQ(publish(rig, false).second, 0);
  EXPECT_FALSE(rig->waits_.ready(P(50), {}).any);
}

TEST(Child, S_CHILD_13_nothing_to_reap) {
  ExitRig rig;
  rig.exited();
  rig->waits_.consume(P(50), P(100));
  EXPECT_EQ(publish(rig, false).second, EINVAL);
  EXPECT_TRUE(rig->failed());
}

TEST(Child, S_CHILD_14_events_that_do_not_fit) {
  const auto with = [](int error, const char* what, bool finished, auto change) {
    ExitRig rig;
    if (finished) {
      rig.exited();
    } else {
      EXPECT_TRUE(rig.reserve());
    }
    std::optional<ChildExitCompletion> event = rig.event();
    change(event);
    ChildExitCallback callback(*rig, event);
    const auto result = callback.advance();
    EXPECT_EQ(result.state, ExitRig::State::kFailed);
    EXPECT_EQ(result.error.value, error);
    EXPECT_TRUE(rig.control.published.empty());
    EXPECT_TRUE(rig->failed());
    EXPECT_THAT(rig->failure()->phase, HasSubstr(what));
  };
  using Event = std::optional<ChildExitCompletion>;
  with(EINVAL, "Phase", false, [](Event&) {});
  with(EINVAL, "Identity", true, [](Event& e) { e->child.generation = 9; });
  with(EINVAL, "Identity", true, [](Event& e) { e->parent.generation = 9; });
  with(EINVAL, "Identity", true, [](Event& e) { e->status = kOther; });
  with(ENOSYS, "Unsupported", true, [](Event& e) { e.reset(); });
  EXPECT_EQ(ProtocolFailure::overflow().as_errno(), Errno{EOVERFLOW});  // CHILD-28
}

TEST(Child, S_CHILD_15_rejected_before_commit) {
  ExitRig rig;
  rig.exited();
  rig.control.result = {ChildExitResult::Kind::kRejected, {ENOMEM}, {}};
  EXPECT_EQ(publish(rig, false), (std::pair{0, ENOMEM}));
  EXPECT_TRUE(rig->failed());
  EXPECT_TRUE(rig->waits_.ready(P(50), {}).child);  // nothing consumed
  EXPECT_TRUE(rig.control.forwarded.empty());
}

TEST(Child, S_CHILD_16_failed_after_commit) {
  for (const bool forwarding_fails : {false, true}) {
    ExitRig rig;
    rig.exited();
    rig->watch_failure();
    rig.control.result = {ChildExitResult::Kind::kFailedAfterCommit, {EIO}, {}};
    if (forwarding_fails) rig.control.forward_error = Errno{EPIPE};
    EXPECT_EQ(publish(rig).second, forwarding_fails ? EPIPE : 0);
    EXPECT_EQ(rig.control.order, (std::vector<std::string>{"receipt before wake-ups"}));
    EXPECT_TRUE(rig->failed());
    EXPECT_EQ(rig.effects<FailureNotice>().size(), 1u);
  }
}

TEST(Child, S_CHILD_17_duplicates) {
  const auto twice = [](ChildExitResult result) {
    ExitRig rig;
    rig.exited();
    rig.control.result = result;
    publish(rig);
    const auto out = publish(rig);
    EXPECT_EQ(rig.control.published.size(), 1u);
    EXPECT_LE(rig.control.forwarded.size(), 1u);
    return out.second;
  };
  EXPECT_EQ(twice({}), 0);
  EXPECT_EQ(twice({ChildExitResult::Kind::kRejected, {ENOMEM}, {}}), ENOMEM);
  EXPECT_EQ(twice({ChildExitResult::Kind::kFailedAfterCommit, {EIO}, {}}), 0);
  ExitRig rig;
  rig.exited();
  publish(rig);
  EXPECT_EQ(publish(rig, false).first, EINVAL);
}

TEST(Child, S_CHILD_18_destruction_fails_closed) {
  ExitRig unstarted;
  unstarted.exited();
  const std::uint64_t wakes = unstarted->loop_wakes_;
  { ChildExitCallback callback(*unstarted, unstarted.event()); }
  EXPECT_TRUE(unstarted->failed());
  EXPECT_TRUE(unstarted->reservations_.empty());
  EXPECT_TRUE(unstarted->completed_.empty());
  EXPECT_GT(unstarted->loop_wakes_, wakes);
  for (const auto kind : {ChildExitResult::Kind::kCommitted, ChildExitResult::Kind::kRejected,
                          ChildExitResult::Kind::kFailedAfterCommit}) {
    ExitRig rig;
    rig.exited();
    rig.control.result = {kind, {EIO}, {}};
    {
      ChildExitCallback callback(*rig, rig.event());
      callback.advance();
    }
    EXPECT_TRUE(rig->failed());
    EXPECT_TRUE(rig->reservations_.empty());
    EXPECT_EQ(rig->completed_.size(), 1u);
    EXPECT_EQ(rig.control.forwarded.size(), kind == ChildExitResult::Kind::kFailedAfterCommit ? 1u : 0u);
  }
  ExitRig absent;  // no reservation is no error
  { ChildExitCallback callback(*absent, absent.event()); }
  EXPECT_TRUE(absent->failed());
}

TEST(Child, S_CHILD_19_finished_callbacks) {
  ExitRig rig;
  rig.exited();
  {
    ChildExitCallback callback(*rig, rig.event());
    callback.advance();
    callback.advance();
    EXPECT_DEATH(callback.advance(), "finished child-exit callback");
  }
  EXPECT_FALSE(rig->failed());
}

TEST(Child, S_CHILD_20_cancelling_needs_failure) {
  ExitRig rig;
  rig.exited();
  EXPECT_EQ(rig->cancel_child_exit(rig.event()).error(), kPhase);
}

TEST(Child, S_CHILD_21_a_second_admission) {
  ExitRig rig;
  rig.exited();
  EXPECT_TRUE(rig->admit_child_exit(rig.event()));
  EXPECT_EQ(rig->admit_child_exit(rig.event()).error(), kPhase);
  EXPECT_EQ(rig.control.published.size(), 1u);
}

TEST(Child, S_CHILD_22_failed_reservations_leave_nothing) {
  for (const int what : {0, 1, 2}) {
    ExitRig rig;
    if (what == 1) rig->nonce_.set_last(NonceCounter::kMax);
    if (what == 2) rig.control.refuse_reserve = Errno{1};
    const auto done = rig.reserve(true, 100, what == 0 ? std::optional(ProcessKey{P(101), 1}) : std::nullopt);
    EXPECT_EQ(done.error(), what == 1 ? ProtocolFailure::overflow() : kIdentity);
    EXPECT_TRUE(rig->fences_.empty());
    EXPECT_TRUE(rig->reservations_.empty());
    EXPECT_TRUE(rig->permits_.empty());
  }
}

TEST(Child, S_CHILD_23_final_receipts_that_do_not_fit) {
  const auto with = [](bool good, auto change) {
    ExitRig rig;
    EXPECT_TRUE(rig.reserve());
    change(rig);
    const auto done = rig.terminate();
    EXPECT_EQ(done.ok(), good);
    if (!good) {
      EXPECT_EQ(done.error(), Errno{EINVAL});
      EXPECT_EQ(rig->permits_.size(), 1u);
      EXPECT_EQ(rig->fences_.size(), 1u);
    }
  };
  with(false, [](ExitRig& r) { r->reservations_.at(kChild).parent = {P(51), 1}; });
  with(false, [](ExitRig& r) { r->reservations_.at(kChild).phase = Stage::kAwaitingPublication; });
  with(true, [](ExitRig& r) { r->terminals_[kChild] = {TerminalClass::kLiveParent, kParent, kS}; });
  with(false, [](ExitRig& r) { r->terminals_[kChild] = {TerminalClass::kLiveParent, kParent, kOther}; });
}

TEST(Child, S_CHILD_24_completions_that_do_not_fit) {
  ExitRig rig;
  rig.exited();
  rig.control.keep_receipt = true;
  rig.control.result.receipt = {kParent, {P(101), 1}, kS, true};
  EXPECT_TRUE(rig->admit_child_exit(rig.event()));
  EXPECT_EQ(rig->complete_child_exit(rig.event()).error(), Errno{EINVAL});
  EXPECT_THAT(rig->failure()->phase, HasSubstr("Identity"));
  ExitRig early;
  early.exited();
  EXPECT_EQ(early->complete_child_exit(early.event()).error(), Errno{EINVAL});
  EXPECT_THAT(early->failure()->phase, HasSubstr("Phase"));
  ExitRig missing;
  EXPECT_EQ(missing->complete_child_exit(missing.event()).error(), Errno{EINVAL});
  EXPECT_THAT(missing->failure()->phase, HasSubstr("Identity"));
}

TEST(Child, S_CHILD_25_a_reservation_stops_the_loop) {
  ExitRig rig;
  rig.process(7, 50);
  rig.fill(7);
  rig.exited();
  rig->timed_.set_alarm(P(7), E(), {});
  rig->last_charged_ = true;
  const LogicalTime now = rig->clock().value();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.kind(), StepKind::kWaitControl);
  EXPECT_EQ(rig->clock().value(), now);
  EXPECT_EQ(rig->timed_.size(), 1u);
  EXPECT_EQ(rig->turn().value, 0u);
  publish(rig);
  EXPECT_EQ(rig.step().thread, T(7));
}

TEST(Child, S_CHILD_26_the_barrier_falls_last) {
  ExitRig rig;
  rig.exited();
  ChildExitCallback callback(*rig, rig.event());
  callback.advance();
  EXPECT_TRUE(rig->control_barrier());
  const std::uint64_t wakes = rig->loop_wakes_;
  callback.advance();
  EXPECT_EQ(rig->completed_.at(kChild).first, rig.event());
  EXPECT_EQ(rig->loop_wakes_, wakes + 1);
  EXPECT_FALSE(rig->control_barrier());
}

// --- RETIRE ---

TEST(Retire, S_RETIRE_1_the_root_s_receipt) {
  ExitRig rig(false);
  rig.exited();
  EXPECT_TRUE(rig->control_barrier());
  const std::uint64_t wakes = rig->loop_wakes_;
  EXPECT_TRUE(rig->consume_retirement({kChild, kS}));
  EXPECT_FALSE(rig->control_barrier());
  EXPECT_GT(rig->loop_wakes_, wakes);
  EXPECT_TRUE(rig->consume_retirement({kChild, kS}));
  EXPECT_EQ(rig->consume_retirement({kChild, kOther}).error(), Errno{EINVAL});
  EXPECT_TRUE(rig->failed());
}

TEST(Retire, S_RETIRE_2_after_a_publication) {
  ExitRig before;
  before.exited();
  EXPECT_EQ(before->consume_retirement({kChild, kS}).error(), Errno{EINVAL});
  EXPECT_THAT(before->failure()->phase, HasSubstr("Phase"));
  ExitRig committed;
  committed.exited();
  publish(committed);
  EXPECT_TRUE(committed->consume_retirement({kChild, kS}));
  EXPECT_EQ(committed.control.published.size(), 1u);
  ExitRig failed;
  failed.exited();
  failed.control.result = {ChildExitResult::Kind::kFailedAfterCommit, {EIO}, {}};
  publish(failed);
  failed->failure_.reset();  // look behind the failed run
  EXPECT_EQ(failed->consume_retirement({kChild, kS}).error(), Errno{EINVAL});
  EXPECT_THAT(failed->failure()->phase, HasSubstr("Phase"));
}

TEST(Retire, S_RETIRE_3_without_terminal_record) {
  const auto with = [](const char* flaw, auto change, ProcessKey key = kChild) {
    ExitRig rig;
    change(rig);
    const std::uint64_t wakes = rig->loop_wakes_;
    const bool good = flaw == nullptr;
    EXPECT_EQ(rig->consume_retirement({key, kS}).ok(), good);
    if (!good) {
      EXPECT_THAT(rig->failure()->phase, HasSubstr(flaw));
    }
    if (good) {
      EXPECT_EQ(rig->loop_wakes_, wakes);
      EXPECT_TRUE(rig->is_registered(T(100)));
      EXPECT_TRUE(rig->consume_retirement({key, kS}));
    }
  };
  with(nullptr, [](ExitRig&) {});
  with("Phase", [](ExitRig& r) { r->permits_[T(100)] = {task(100, 100), 1, {}}; });
  with("Phase", [](ExitRig& r) { r->fences_[T(100)] = {{}, P(100), AS(100), false}; });
  with("Phase", [](ExitRig& r) { r->reservations_[kChild] = {}; });
  with("Identity", [](ExitRig&) {}, {P(100), 2});
}

TEST(Retire, S_RETIRE_4_without_authority_receipts_do_nothing) {
  Rig none(controlled_mode());
  EXPECT_TRUE(none->consume_retirement({kChild, kS}));
  EXPECT_TRUE(none->completed_retirements_.empty());
  ExitRig failed;
  failed->fail(std::nullopt, std::nullopt, "backend");
  EXPECT_TRUE(failed->consume_retirement({{P(9), 9}, kS}));
  EXPECT_TRUE(failed->completed_retirements_.empty());
}

TEST(Retire, S_RETIRE_5_a_completed_retirement_is_final) {
  ExitRig rig(false);
  rig->completed_retirements_[kChild] = {kChild, kS};
  EXPECT_TRUE(rig.reserve());
  EXPECT_EQ(rig.terminate().error(), Errno{EINVAL});
  EXPECT_EQ(rig->fences_.size(), 1u);
}

TEST(Retire, S_RETIRE_6_receipts_that_contradict_the_record) {
  for (const bool generation : {true, false}) {
    ExitRig rig(false);
    rig.exited();
    const RetirementReceipt receipt =
        generation ? RetirementReceipt{{P(100), 2}, kS} : RetirementReceipt{kChild, kOther};
    EXPECT_EQ(rig->consume_retirement(receipt).error(), Errno{EINVAL});
    EXPECT_THAT(rig->failure()->phase, HasSubstr("Identity"));
    EXPECT_EQ(rig->retirements_.size(), 1u);
  }
}

TEST(Retire, S_RETIRE_7_a_rejected_receipt_fails_the_run) {
  ExitRig rig(false);
  const std::uint64_t waiter = rig->watch_failure();
  EXPECT_EQ(rig->consume_retirement({{P(100), 5}, kS}).error(), Errno{EINVAL});
  EXPECT_EQ(rig->failure()->process, P(100));
  ASSERT_EQ(rig.effects<FailureNotice>().size(), 1u);
  EXPECT_EQ(rig.effects<FailureNotice>()[0].waiter, waiter);
}

}  // namespace
}  // namespace detrec::core::testing
