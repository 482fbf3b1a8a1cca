// Test rig: a core whose state can be placed and looked at directly, and short names for what scenarios are
// made of.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/core.h"
#include "server/core/signal/child_exit.h"

namespace detrec::core {

inline void PrintTo(ThreadId id, std::ostream* out) { *out << id.value; }

}  // namespace detrec::core

namespace detrec::core::testing {

// A few matchers, so that the tests need not include all of gmock.
template <class... V>
auto ElementsAre(V... values) {
  return [=](const auto& list) {
    std::size_t i = 0;
    const bool same = ((i < list.size() && list[i++] == values) && ...);
    return list.size() == sizeof...(V) && (sizeof...(V) == 0 || same);
  };
}
inline auto HasSubstr(std::string part) {
  return [part](const std::string& text) { return text.find(part) != std::string::npos; };
}
template <class M>
auto Not(M matcher) {
  return [matcher](const auto& v) { return !matcher(v); };
}
template <class V>
auto Each(V value) {
  return [value](const auto& list) {
    for (const auto& v : list) {
      if (!(v == value)) return false;
    }
    return true;
  };
}
#define EXPECT_THAT(value, matcher) EXPECT_TRUE((matcher)(value)) << ::testing::PrintToString(value)

inline ThreadId T(int v) { return {v}; }
inline ProcessId P(int v) { return {v}; }
inline AddressSpaceId AS(int owner, std::uint32_t n = 0) { return {T(owner), n}; }
inline LogicalTime ns(std::uint64_t v) { return {v}; }
inline LogicalTime E(std::uint64_t v = 0) { return kDefaultEpoch + LogicalTime{v}; }
inline std::vector<ThreadId> Ts(std::initializer_list<int> list) {
  std::vector<ThreadId> out;
  for (const int v : list) out.push_back(T(v));
  return out;
}
inline constexpr Signal kSigInt{2}, kSigKill{9}, kSigUsr1{10}, kSigUsr2{12}, kSigTerm{15}, kSigChld{17};

/// The test-only accessor of the specification.
class TestCore : public Core {
 public:
  using Core::accepted_;
  using Core::admissions_;
  using Core::Admit;
  using Core::admit_at_drain;
  using Core::apply_host_expiries;
  using Core::apply_intents;
  using Core::arena_;
  using Core::barriers_;
  using Core::begin_observation;
  using Core::charge_and_sample;
  using Core::child_signal_ready_;
  using Core::child_waiters_;
  using Core::cleared_;
  using Core::clock_;
  using Core::commit_exec;
  using Core::committed_;
  using Core::completed_;
  using Core::completed_retirements_;
  using Core::config_;
  using Core::control_;
  using Core::control_barrier;
  using Core::Core;
  using Core::cpu_;
  using Core::creation_order_;
  using Core::decide;
  using Core::Decided;
  using Core::deferred_;
  using Core::drain;
  using Core::drop_barriers_naming;
  using Core::drop_registration;
  using Core::effects_;
  using Core::eligible;
  using Core::end_exec;
  using Core::expired_sleeps_;
  using Core::external_;
  using Core::external_done_;
  using Core::failure_;
  using Core::fences_;
  using Core::fill_request;
  using Core::fill_response;
  using Core::finish_turn;
  using Core::first_exec_passed_;
  using Core::force_unblock;
  using Core::futexes_;
  using Core::fuzz_;
  using Core::given_up_;
  using Core::handle_due_event;
  using Core::handle_empty_queue;
  using Core::harvest_external;
  using Core::host_waits_;
  using Core::initial_priority;
  using Core::install_origin;
  using Core::intents_;
  using Core::kill_thread;
  using Core::last_charged_;
  using Core::last_receipts_;
  using Core::live_;
  using Core::live_threads;
  using Core::loop_wakes_;
  using Core::mark_registered;
  using Core::may_lend_poll;
  using Core::mounts_;
  using Core::nonce_;
  using Core::nothing_left;
  using Core::observe_sibling;
  using Core::parked_;
  using Core::pending_epochs_;
  using Core::permits_;
  using Core::physical_exits_;
  using Core::physical_reported_;
  using Core::physical_waiters_;
  using Core::posix_tables_;
  using Core::post_intent;
  using Core::preparations_;
  using Core::process_of;
  using Core::progress_;
  using Core::proof_matches;
  using Core::proofs_;
  using Core::protocol_failure;
  using Core::protocol_failure_;
  using Core::queue_;
  using Core::ready_;
  using Core::record;
  using Core::register_thread;
  using Core::Removal;
  using Core::removals_;
  using Core::remove_at_drain;
  using Core::renew_slots;
  using Core::reopen;
  using Core::replace_request;
  using Core::replayer_;
  using Core::requeue_deferred;
  using Core::reservations_;
  using Core::restored_;
  using Core::retirements_;
  using Core::revalidate;
  using Core::running_;
  using Core::select_observations;
  using Core::signal_notes_;
  using Core::signal_target;
  using Core::slices_;
  using Core::staged_slices_;
  using Core::starting_;
  using Core::syscalls_;
  using Core::terminal;
  using Core::terminals_;
  using Core::timed_;
  using Core::timers_;
  using Core::tombstones_;
  using Core::tree_;
  using Core::turn_;
  using Core::unnotified_;
  using Core::vfork_hold;
  using Core::vfork_random_;
  using Core::waits_;
  using Core::witness_matches;
  using Core::writer_;
};

/// The configuration of rows that say nothing else: cancelling mode off, uncontrolled, no physical reports.
inline CoreConfig plain() {
  CoreConfig c;
  c.cancel_killed_requests = false;
  c.controlled = false;
  c.reports_physical_exits = false;
  return c;
}
inline CoreConfig cancelling() {
  CoreConfig c = plain();
  c.cancel_killed_requests = true;
  return c;
}

class Rig {
 public:
  explicit Rig(CoreConfig config = plain()) {
    config.log = &log;
    core = std::make_unique<TestCore>(std::move(config));
  }
  TestCore* operator->() { return core.get(); }
  TestCore& operator*() { return *core; }

  // --- placing state ---
  /// A registered thread with priority and empty slots, not queued.
  void known(int tid, int creator, bool leader, int priority = 1000) {
    core->tree_.add(T(tid), T(creator), leader);
    const ProcessId process = core->process_of(T(tid));
    if (leader && tid == creator) core->waits_.add_root(process);
    if (leader && tid != creator)
      core->waits_.add_child(process, core->process_of(T(creator)), T(creator), kSigChld, false);
    core->queue_.set_persistent(T(tid), {static_cast<std::uint32_t>(priority)});
    core->mark_registered(T(tid), process);
    as[tid] = AS(leader ? tid : core->process_of(T(tid)).value);
  }
  void root(int tid, int priority = 1000) { known(tid, tid, true, priority), core->queue_.push_back(T(tid)); }
  void process(int tid, int creator, int priority = 1000) {
    known(tid, creator, true, priority), core->queue_.push_back(T(tid));
  }
  void thread(int tid, int creator, int priority = 1000) {
    known(tid, creator, false, priority), core->queue_.push_back(T(tid));
  }
  void fill(int tid, const ResourceRequest& request = ResourceRequest::none()) {
    core->fill_request(T(tid), request);
  }
  void fill(int tid, const Resource& r) { fill(tid, ResourceRequest::one(r)); }
  /// Parks a thread on a futex as a Futex(wait) message would.
  CallId wait_futex(int tid, const FutexKey& key, std::uint32_t mask = kFullFutexMask,
                    std::optional<LogicalTime> deadline = std::nullopt, std::uint32_t observed = 0) {
    return send(tid, FutexWait{key, mask, deadline, observed});
  }
  FutexKey key(std::uint64_t address, int owner = 1) { return FutexKey::private_key(AS(owner), address); }
  void sleep(int tid, LogicalTime until) {  // outside the queue, as after a turn
    if (!core->record(T(tid))->request.filled()) fill(tid, Resource::sleep_until(until));
    core->queue_.remove(T(tid));
    core->timed_.add_thread(T(tid), until);
  }
  void external(int tid, std::uint64_t op) {
    core->queue_.remove(T(tid));
    core->external_[T(tid)] = {T(tid), op};
  }

  // --- talking ---
  CallId send(int tid, Request request) {
    return send_as(tid, as.contains(tid) ? as[tid] : AS(tid), std::move(request));
  }
  CallId send_as(int tid, AddressSpaceId space, Request request) {
    const CallId id = core->send({T(tid), clock[tid], space, std::move(request)});
    collect();
    return id;
  }
  void collect() {
    for (Reply& r : core->take_replies()) {
      order.push_back(r.call);
      replies[r.call] = std::move(r);
    }
  }
  StepResult step() {
    const StepResult result = core->step();
    collect();
    return result;
  }
  StepKind kind() { return step().kind; }
  bool pending(CallId call) { return !replies.contains(call); }
  bool refused(CallId call) {
    return !pending(call) && std::holds_alternative<ThreadExited>(replies[call].answer);
  }
  bool acknowledged(CallId call) {
    return !pending(call) && std::holds_alternative<Acknowledged>(replies[call].answer);
  }
  template <class A>
  A get(CallId call) {
    if (pending(call) || !std::holds_alternative<A>(replies[call].answer)) {
      ADD_FAILURE() << "call " << call << (pending(call) ? " is pending" : " has another answer");
      return A{};
    }
    return std::get<A>(replies[call].answer);
  }
  TurnReply reply(CallId call) { return get<TurnAnswer>(call).reply; }
  std::optional<LogicalTime> time(CallId call) { return replies.at(call).time; }
  template <class Eff>
  std::vector<Eff> effects() {
    std::vector<Eff> out;
    for (const Effect& e : core->effects_) {
      if (const auto* one = std::get_if<Eff>(&e)) out.push_back(*one);
    }
    return out;
  }
  std::vector<int> queued() {
    std::vector<int> out;
    for (const ThreadId t : core->queue_.in_order()) out.push_back(t.value);
    return out;
  }
  std::vector<int> queued_sorted() {
    auto out = queued();
    std::sort(out.begin(), out.end());
    return out;
  }
  LogicalTime deadline_of(int tid) { return core->timed_.thread_deadline(T(tid)).value_or(LogicalTime{1}); }
  int priority(int tid) {
    return static_cast<int>(core->queue_.queued_priority(T(tid)).value_or(Priority{77777}).value);
  }
  bool filled(int tid) { return core->record(T(tid)) != nullptr && core->record(T(tid))->request.filled(); }
  ResourceRequest request(int tid) { return core->record(T(tid))->request.value().request; }
  Deregister leaving(int tid, int process, std::uint64_t syscalls = 0,
                     std::vector<std::uint64_t> slices = {}) {
    Deregister d;
    d.tid = T(tid);
    d.process = P(process);
    d.as = as.contains(tid) ? as[tid] : AS(tid);
    d.start_entered = true;
    d.syscalls = syscalls;
    for (const auto s : slices) d.timeslices.add(s);
    return d;
  }

  LogBuffer log;
  std::unique_ptr<TestCore> core;
  std::map<int, ThreadClock> clock;
  std::map<int, AddressSpaceId> as;
  std::map<CallId, Reply> replies;
  std::vector<CallId> order;
};

/// FX-ONE
inline std::unique_ptr<Rig> fx_one(bool registered = true, CoreConfig config = cancelling()) {
  auto rig = std::make_unique<Rig>(std::move(config));
  rig->core->tree_.add(T(17), T(17), true);
  if (registered) rig->root(17);
  rig->as[17] = AS(17);
  return rig;
}

}  // namespace detrec::core::testing
