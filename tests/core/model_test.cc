// Model checking of the protocol parts that have races by nature. Small cases: every interleaving of guest
// messages, loop steps and host events, by re-execution from the start, states seen before are not explored
// again. Larger cases: seeded random walks (DETREC_CORE_WALKS sets how many).
#include <cstdlib>
#include <functional>
#include <unordered_set>

#include "tests/core/control_rig.h"

namespace detrec::core::testing {
namespace {

/// A scripted guest thread. Each operation is sent when the earlier one was answered; a refusal or the end of
/// the script is followed by the thread's physical exit, which deregisters it.
struct Actor {
  using Op = std::function<std::optional<Request>(struct World&, Actor&)>;
  int tid = 0, process = 0;
  std::vector<Op> script;
  std::size_t pc = 0;
  CallId call = 0;
  bool waiting = false;
  bool holds_turn = false;  ///< granted, has not asked again
  bool ended = false;
  bool absent = false;  ///< not started yet
  std::optional<Answer> last;
};

/// Something the host can do when it is enabled.
struct HostEvent {
  std::string name;
  std::function<bool(struct World&)> enabled;
  std::function<void(struct World&)> happen;
  int budget = 1;
};

struct World {
  explicit World(bool controlled, CoreConfig config = controlled_mode())
      : rig(controlled ? std::make_unique<ControlRig>(true, config) : nullptr),
        plain_rig(controlled ? nullptr : std::make_unique<Rig>(config)) {}
  Rig& r() { return rig ? *rig : *plain_rig; }
  TestCore& core() { return *r().core; }

  void check() {
    TestCore& c = core();
    int running = 0;
    for (const Actor& a : actors) running += a.holds_turn && !a.ended && !c.is_tombstoned(T(a.tid));
    EXPECT_LE(running, 1) << "more than one running thread";
    std::set<ProcessId> permitted;
    for (const auto& [tid, permit] : c.permits_)
      EXPECT_TRUE(permitted.insert(permit.task.process.pid).second) << "two permits of one process";
    for (const Actor& a : actors) {
      const ThreadId t = T(a.tid);
      const bool waits = c.futexes_.waiting(t) || c.timed_.thread_deadline(t) || c.host_waits_.contains(t);
      const int outside =
          (waits ? 1 : 0) + static_cast<int>(c.external_.count(t) + c.deferred_.count(t) +
                                             c.child_waiters_.count(t) + c.physical_waiters_.count(t));
      EXPECT_LE(outside + (c.queue_.contains(t) && !c.removals_.contains(t) ? 1 : 0), 1)
          << "thread " << a.tid << " is in two queues";
      if (c.is_tombstoned(t)) {
        EXPECT_FALSE(c.admissions_.contains(t));
        EXPECT_EQ(outside, 0) << "a dead thread is in a pool";
        EXPECT_NE(c.running(), t);
      }
    }
    EXPECT_GE(c.clock().value(), last_clock);
    EXPECT_GE(c.committed_time(), last_committed);
    EXPECT_GE(c.turn(), last_turn);
    last_clock = c.clock().value();
    last_committed = c.committed_time();
    last_turn = c.turn();
  }

  void deliver() {
    Rig& rg = r();
    for (Actor& a : actors) {
      if (!a.waiting || rg.pending(a.call)) continue;
      a.waiting = false;
      a.last = rg.replies.at(a.call).answer;
      if (std::holds_alternative<ThreadExited>(*a.last)) {
        a.pc = a.script.size();
      } else {
        EXPECT_FALSE(core().is_tombstoned(T(a.tid)) && !std::holds_alternative<Acknowledged>(*a.last))
            << "a dead thread was answered";
        const bool grant =
            std::holds_alternative<TurnAnswer>(*a.last) || std::holds_alternative<StartAnswer>(*a.last);
        if (grant && !core().external_.contains(T(a.tid))) a.holds_turn = true;
        if (const auto* f = std::get_if<FutexAnswer>(&*a.last); f != nullptr && core().running() == T(a.tid))
          a.holds_turn = true;
      }
    }
  }

  bool can_send(const Actor& a) const { return !a.ended && !a.waiting && !a.absent; }
  void send(Actor& a) {
    Rig& rg = r();
    std::optional<Request> request;
    while (a.pc < a.script.size() && !request) request = a.script[a.pc++](*this, a);
    if (!request) {  // the physical exit of the thread
      a.ended = true;
      a.holds_turn = false;
      rg.send(a.tid, rg.leaving(a.tid, a.process));
    } else {
      a.holds_turn = a.holds_turn && !(std::holds_alternative<RequestResources>(*request) ||
                                       std::holds_alternative<RequestParkable>(*request) ||
                                       std::holds_alternative<FutexWait>(*request) ||
                                       std::holds_alternative<RegisterChild>(*request) ||
                                       std::holds_alternative<StartThread>(*request));
      a.call = rg.send(a.tid, *request);
      a.waiting = true;
    }
    deliver();
  }

  /// Enabled actions; 0 is the loop.
  std::vector<int> enabled() {
    std::vector<int> out;
    if (core().failed() || core().terminal_report()) return out;
    if (!idle) out.push_back(0);
    for (std::size_t i = 0; i < actors.size(); ++i) {
      if (can_send(actors[i])) out.push_back(static_cast<int>(1 + i));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].budget > 0 && events[i].enabled(*this)) out.push_back(static_cast<int>(100 + i));
    }
    return out;
  }
  void act(int action) {
    const std::uint64_t wakes = core().loop_wakes_;
    if (action == 0) {
      const StepKind kind = r().step().kind;
      last_kind = kind;
      idle = kind != StepKind::kGranted && kind != StepKind::kSkip;
    } else {
      if (action >= 100) {
        --events[static_cast<std::size_t>(action - 100)].budget;
        events[static_cast<std::size_t>(action - 100)].happen(*this);
        r().collect();
      } else {
        send(actors[static_cast<std::size_t>(action - 1)]);
      }
      idle = false;
    }
    (void)wakes;
    deliver();
    check();
  }

  std::string digest() {
    TestCore& c = core();
    std::string d = c.state_text();
    for (const ThreadId t : c.queue_.in_order()) d += fmt::format("q{}", t.value);
    for (const auto& [t, a] : c.admissions_) d += fmt::format("a{}.{}", t.value, static_cast<int>(a));
    for (const auto& [t, a] : c.removals_) d += fmt::format("r{}.{}", t.value, static_cast<int>(a));
    for (const auto& [t, p] : c.permits_) d += fmt::format("p{}.{}", t.value, p.sequence);
    for (const auto& [t, f] : c.fences_) d += fmt::format("f{}", t.value);
    for (const auto& [k, v] : c.reservations_)
      d += fmt::format("R{}.{}", k.pid.value, static_cast<int>(v.phase));
    for (const auto& [k, v] : c.retirements_) d += fmt::format("T{}", k.pid.value);
    for (const auto& [k, v] : c.parked_)
      d += fmt::format("P{}.{}.{}", k.tid.value, static_cast<int>(v.phase), v.cycle);
    for (const auto& [k, v] : c.preparations_) d += fmt::format("X{}.{}", v.caller.value, v.observed.size());
    for (const auto& [k, v] : c.barriers_)
      d += fmt::format("B{}.{}", k.value, v.child.value_or(ThreadId{}).value);
    for (const ThreadId t : c.external_done_) d += fmt::format("D{}", t.value);
    for (const ThreadId t : c.expired_sleeps_) d += fmt::format("S{}", t.value);
    for (const auto& p : c.physical_exits_) d += fmt::format("E{}", p.value);
    d += fmt::format("i{}n{}c{}l{}m{}", c.intents_.size(), idle, c.last_charged_, c.progress_.selected,
                     c.progress_.maintained);
    for (const Actor& a : actors)
      d += fmt::format("|{}{}{}{}{}{}", a.pc, a.waiting, a.holds_turn, a.ended, a.absent,
                       c.is_tombstoned(T(a.tid)));
    for (const HostEvent& e : events) d += fmt::format("h{}", e.budget);
    return d + extra;
  }

  std::unique_ptr<ControlRig> rig;
  std::unique_ptr<Rig> plain_rig;
  std::vector<Actor> actors;
  std::vector<HostEvent> events;
  std::string extra;  ///< what scripts remember
  std::map<std::string, int> memory;
  bool idle = false;
  StepKind last_kind = StepKind::kSkip;
  LogicalTime last_clock, last_committed;
  TurnNumber last_turn;
};

struct Explored {
  std::size_t states = 0, ends = 0;
};

/// Every interleaving of the world that `make` builds; `at_end` judges states without enabled actions.
Explored explore(const std::function<std::unique_ptr<World>()>& make,
                 const std::function<void(World&)>& at_end, std::size_t limit = 200'000) {
  Explored out;
  std::unordered_set<std::string> seen;
  std::vector<std::vector<int>> stack{{}};
  while (!stack.empty() && !::testing::Test::HasFailure()) {
    const std::vector<int> path = std::move(stack.back());
    stack.pop_back();
    const auto world = make();
    for (const int action : path) world->act(action);
    if (::testing::Test::HasFailure()) {
      std::string text;
      for (const int action : path) text += fmt::format(" {}", action);
      ADD_FAILURE() << "path" << text << "\n" << world->digest();
      break;
    }
    if (!seen.insert(world->digest()).second) continue;
    if (++out.states > limit) {
      ADD_FAILURE() << "the case is too large to explore";
      break;
    }
    const std::vector<int> next = world->enabled();
    if (next.empty()) {
      ++out.ends;
      at_end(*world);
      if (::testing::Test::HasFailure()) {
        std::string text;
        for (const int action : path) text += fmt::format(" {}", action);
        ADD_FAILURE() << "end of path" << text << "\n" << world->digest();
      }
    }
    for (const int action : next) {
      stack.push_back(path);
      stack.back().push_back(action);
    }
  }
  return out;
}

void everybody_done(World& w) {
  TestCore& c = w.core();
  EXPECT_FALSE(c.failed()) << c.failure()->phase;
  EXPECT_FALSE(c.terminal_report()) << c.terminal_report()->text;
  for (const Actor& a : w.actors)
    EXPECT_TRUE(a.ended || a.absent) << "thread " << a.tid << " is stuck: a lost wake-up";
  EXPECT_TRUE(c.fences_.empty() && c.reservations_.empty() && c.retirements_.empty() && c.barriers_.empty() &&
              c.physical_exits_.empty() && !c.control_barrier())
      << "a barrier was not released";
  EXPECT_TRUE(c.permits_.empty());
  EXPECT_TRUE(c.parked_.empty());
}

Actor::Op ask(ResourceRequest request) {
  return [request](World&, Actor&) -> std::optional<Request> { return RequestResources{request}; };
}
Actor::Op ask(const Resource& r) { return ask(ResourceRequest::one(r)); }

CoreConfig uncontrolled() {
  CoreConfig c = cancelling();
  return c;
}

// --- futex wait against wake and death ---

TEST(Model, futex_wait_against_wake) {
  const auto make = [] {
    auto w = std::make_unique<World>(false, uncontrolled());
    w->r().root(17);
    w->r().thread(18, 17), w->r().thread(19, 17), w->r().thread(20, 17);
    const FutexKey key = w->r().key(0x10, 17);
    // Three waiters that look at a word before they wait, one that changes it and wakes everybody.
    for (const int t : {17, 18, 20}) {
      Actor a;
      a.tid = t, a.process = 17;
      a.script = {ask(ResourceRequest::none()), [key](World& world, Actor&) -> std::optional<Request> {
                    if (world.memory["word"] != 0) return std::nullopt;
                    return FutexWait{key, kFullFutexMask, std::nullopt, 0};
                  }};
      w->actors.push_back(a);
    }
    Actor waker;
    waker.tid = 19, waker.process = 17;
    waker.script = {ask(ResourceRequest::none()), [key](World& world, Actor&) -> std::optional<Request> {
                      world.memory["word"] = 1;
                      world.extra += "w";
                      return FutexWake{key, 10, kFullFutexMask};
                    }};
    w->actors.push_back(waker);
    return w;
  };
  const Explored e = explore(make, everybody_done);
  EXPECT_GT(e.states, 40u);
  EXPECT_GE(e.ends, 1u);
}

TEST(Model, join_against_thread_exit) {
  const auto make = [] {
    auto w = std::make_unique<World>(false, uncontrolled());
    w->r().root(17);
    w->r().thread(18, 17);
    w->core().record(T(18))->child_tid_address = 0x1000;
    Actor joiner, leaver;
    joiner.tid = 17, leaver.tid = 18;
    joiner.process = leaver.process = 17;
    const FutexKey key = w->r().key(0x1000, 17);
    joiner.script = {ask(ResourceRequest::none()), [key](World&, Actor&) -> std::optional<Request> {
                       return FutexWait{key, kFullFutexMask, std::nullopt, 18};  // reads 18 in the word
                     }};
    leaver.script = {ask(ResourceRequest::none()), ask(Resource::exit(false, P(17), AS(17)))};
    w->actors = {joiner, leaver};
    return w;
  };
  EXPECT_GE(explore(make, everybody_done).states, 15u);
}

// --- a wait with deadline against a wake ---

TEST(Model, timeout_against_wake) {
  const auto make = [] {
    auto w = std::make_unique<World>(false, uncontrolled());
    w->r().root(17);
    w->r().thread(18, 17);
    const FutexKey key = w->r().key(0x10, 17);
    Actor waiter, waker;
    waiter.tid = 17, waker.tid = 18;
    waiter.process = waker.process = 17;
    waiter.script = {[key](World&, Actor&) -> std::optional<Request> {
                       return FutexWait{key, kFullFutexMask, E(600'000), 0};
                     },
                     ask(ResourceRequest::none())};
    waker.script = {ask(ResourceRequest::none()), ask(Resource::sleep_until(E(700'000))),
                    [key](World&, Actor&) -> std::optional<Request> {
                      return FutexWake{key, 1, kFullFutexMask};
                    }};
    w->actors = {waiter, waker};
    return w;
  };
  EXPECT_GE(explore(make, everybody_done).states, 15u);
}

// --- child exit against wait ---

ChildExitCompletion completion() { return {{P(50), 1}, {P(100), 1}, WaitStatus::exited(3), true}; }

/// Receipts, publication and physical exits as a backend reports them, for parent 50 and child 100.
void add_exit_backend(World& w, int pid) {
  const auto is_fenced = [pid](World& world) {
    for (const auto& [tid, fence] : world.core().fences_) {
      if (fence.process == P(pid)) return true;
    }
    return false;
  };
  w.events.push_back({"receipt", is_fenced,
                      [pid](World& world) {
                        for (const auto& [tid, fence] : world.core().fences_) {
                          if (fence.process != P(pid)) continue;
                          const BoundaryReceipt receipt{fence.permit, BoundaryReceipt::Kind::kTermination,
                                                        fence.group, WaitStatus::exited(3)};
                          EXPECT_TRUE(world.core().consume_boundary(receipt));
                          return;
                        }
                      },
                      4});
  if (pid == 100) {
    const auto phase_is = [](World& world, ChildReservation::Phase phase) {
      const auto it = world.core().reservations_.find({P(100), 1});
      return it != world.core().reservations_.end() && it->second.phase == phase;
    };
    using Phase = ChildReservation::Phase;
    const auto now_completion = [](World& world) {
      ChildExitCompletion c = completion();
      c.status = world.core().reservations_.at({P(100), 1}).status;
      return c;
    };
    w.events.push_back(
        {"admit", [=](World& world) { return phase_is(world, Phase::kAwaitingPublication); },
         [=](World& world) { EXPECT_TRUE(world.core().admit_child_exit(now_completion(world))); }, 1});
    w.events.push_back(
        {"complete", [=](World& world) { return phase_is(world, Phase::kPublished); },
         [=](World& world) { EXPECT_TRUE(world.core().complete_child_exit(now_completion(world))); }, 1});
  }
  w.events.push_back({"retire",
                      [pid](World& world) {
                        return world.core().retirements_.contains({P(pid), 1});
                      },
                      [pid](World& world) {
                        const WaitStatus status = world.core().retirements_.at({P(pid), 1});
                        EXPECT_TRUE(world.core().consume_retirement({{P(pid), 1}, status}));
                      },
                      1});
  w.events.push_back({"gone", [pid](World& world) { return world.core().physical_exits_.contains(P(pid)); },
                      [pid](World& world) { EXPECT_TRUE(world.core().complete_physical_exit(P(pid))); }, 1});
}

std::unique_ptr<World> exit_world(bool second_thread) {
  CoreConfig config = controlled_mode();
  config.reports_physical_exits = true;
  auto w = std::make_unique<World>(true, config);
  w->core().queue_.push_back(T(50));
  Actor parent, child;
  parent.tid = parent.process = 50;
  child.tid = child.process = 100;
  parent.script = {ask(Resource::wait_child(P(50), {})),
                   [](World&, Actor&) -> std::optional<Request> { return ReadyChild{{}}; },
                   [](World&, Actor& a) -> std::optional<Request> {
                     const auto ready = std::get<ReadyAnswer>(*a.last);
                     EXPECT_TRUE(ready.child) << "the wait ended without a child";
                     return ConsumeChild{P(100)};
                   },
                   ask(Resource::exit(true, P(50), AS(50)))};
  child.script = {ask(ResourceRequest::none()), ask(Resource::exit(true, P(100), AS(100)))};
  w->actors = {parent, child};
  if (second_thread) {
    w->rig->second();
    Actor other;
    other.tid = 101, other.process = 100;
    other.script = {ask(ResourceRequest::none()), ask(ResourceRequest::none())};
    w->actors.push_back(other);
  }
  add_exit_backend(*w, 50);
  add_exit_backend(*w, 100);
  return w;
}

TEST(Model, child_exit_against_wait) {
  const Explored e = explore([] { return exit_world(false); }, everybody_done);
  EXPECT_GT(e.states, 50u);
}

TEST(Model, group_exit_against_wait_and_a_sibling) {
  const Explored e = explore([] { return exit_world(true); }, everybody_done);
  EXPECT_GT(e.states, 200u);
}

// --- a fatal signal in the middle ---

TEST(Model, fatal_signal_in_the_middle_of_everything) {
  const auto make = [] {
    auto w = exit_world(true);
    // Once, whoever of process 100 runs takes a deadly signal at its boundary.
    const auto target = [](World& world) -> int {
      const auto running = world.core().running();
      return running && world.core().process_of(*running) == P(100) &&
                     !world.core().fences_.contains(*running)
                 ? running->value
                 : 0;
    };
    w->events.push_back(
        {"deadly", [=](World& world) { return target(world) != 0; },
         [=](World& world) {
           const int tid = target(world);
           const auto permit = world.core().authorise(task(tid, 100), AS(100));
           if (!permit || !*permit) return;
           EXPECT_TRUE(world.core().consume_boundary(
               {**permit, BoundaryReceipt::Kind::kTermination, true, WaitStatus::killed(kSigTerm)}));
           for (Actor& a : world.actors) {
             if (a.process == 100) a.holds_turn = false;
           }
         },
         1});
    return w;
  };
  const Explored e = explore(make, everybody_done);
  EXPECT_GT(e.states, 200u);
}

// --- parked requests with observations ---

std::unique_ptr<World> park_world(ObservationEnd end) {
  auto w = std::make_unique<World>(true);
  w->rig->alarm(100, 600'000);
  w->rig->second();
  Actor sleeper, worker;
  sleeper.tid = sleeper.process = 100;
  worker.tid = 101, worker.process = 100;
  const auto answer = [end](World& world, Actor& a) -> std::optional<Request> {
    const auto* control = a.last ? std::get_if<ControlAnswer>(&*a.last) : nullptr;
    if (control == nullptr) return std::nullopt;
    world.rig->control.names.clear();
    return world.rig->finish(control->control, end);
  };
  sleeper.script = {
      [](World&, Actor&) -> std::optional<Request> {
        return RequestParkable{ResourceRequest::one(Resource::sleep_until(E(2'000'000))),
                               Capability::sleep(site(100, 100), E(2'000'000))};
      },
      answer,
      [](World& world, Actor& a) -> std::optional<Request> {
        if (const auto* t = a.last ? std::get_if<TicketAnswer>(&*a.last) : nullptr)
          return ResumeParked{t->ticket};
        if (a.last && std::holds_alternative<Interrupted>(*a.last)) {
          const auto it = world.core().permits_.find(T(100));
          EXPECT_NE(it, world.core().permits_.end());
          EXPECT_TRUE(
              world.core().consume_boundary({it->second, BoundaryReceipt::Kind::kDelivered, false, {}}));
          return RequestResources{};
        }
        if (a.last && std::holds_alternative<Terminate>(*a.last)) {
          const auto it = world.core().permits_.find(T(100));
          EXPECT_NE(it, world.core().permits_.end());
          EXPECT_TRUE(world.core().consume_boundary(
              {it->second, BoundaryReceipt::Kind::kTermination, false, WaitStatus::killed({14})}));
          return RequestResources{};  // refused: the thread is dead
        }
        return std::nullopt;
      }};
  worker.script = {ask(ResourceRequest::none()), ask(Resource::sleep_until(E(900'000))),
                   ask(ResourceRequest::none())};
  w->actors = {sleeper, worker};
  w->rig->control.name_on_alarm = std::vector{task(100, 100)};
  return w;
}

TEST(Model, observations_resume_interrupt_and_terminate) {
  for (const ObservationEnd end :
       {ObservationEnd::kResume, ObservationEnd::kInterrupt, ObservationEnd::kTerminate}) {
    const Explored e = explore([end] { return park_world(end); },
                               [](World& w) {
                                 // The root's threads end by deregistration, without exit boundary: nothing
                                 // may be left standing.
                                 everybody_done(w);
                               });
    EXPECT_GT(e.states, 20u);
  }
}

TEST(Model, death_while_observing) {
  const auto make = [] {
    auto w = park_world(ObservationEnd::kResume);
    w->events.push_back(
        {"killed", [](World& world) { return world.core().permits_.contains(T(100)); },
         [](World& world) {
           const DeliveryPermit permit = world.core().permits_.at(T(100));
           EXPECT_TRUE(world.core().consume_boundary(
               {permit, BoundaryReceipt::Kind::kTermination, false, WaitStatus::killed(kSigKill)}));
         },
         1});
    return w;
  };
  const Explored e = explore(make, [](World& w) {
    // A finish that was on its way when the thread died finds no observation: an Identity failure, never a
    // grant.
    if (w.core().failed()) {
      EXPECT_EQ(*w.core().protocol_failure_, ProtocolFailure::identity());
      return;
    }
    everybody_done(w);
  });
  EXPECT_GT(e.states, 20u);
}

// --- exec against exit-group ---

TEST(Model, exec_against_exit_group) {
  const auto make = [] {
    CoreConfig config = cancelling();
    config.reports_physical_exits = true;
    auto w = std::make_unique<World>(false, config);
    w->r().root(1);
    w->core().kill_thread(T(1), AS(1));
    w->core().drain();
    w->core().complete_physical_exit(P(1));
    w->r().known(17, 1, true);
    w->core().queue_.push_back(T(17));
    w->r().thread(18, 17);
    Actor leader, worker, image;
    leader.tid = leader.process = 17;
    worker.tid = 18, worker.process = 17;
    image.tid = image.process = 17;
    image.absent = true;
    leader.script = {ask(ResourceRequest::none()), ask(Resource::exit(true, P(17), AS(17)))};
    worker.script = {
        ask(ResourceRequest::none()),
        [](World&, Actor&) -> std::optional<Request> {
          return PrepareExec{P(17), AS(17), {}};
        },
        [](World& world, Actor& a) -> std::optional<Request> {
          // The native exec: the kernel ends everybody else, the image connects under the leader's id.
          if (!a.last || !std::holds_alternative<Acknowledged>(*a.last) ||
              world.core().is_tombstoned(T(18)) || !world.core().preparations_.contains(P(17)))
            return std::nullopt;
          world.r().as[17] = AS(17, 1);
          world.r().clock[17] = ThreadClock();
          const CallId call = world.r().send(17, RegisterChild{T(17), P(17), 0, {}, {}, std::nullopt});
          world.r().get<ReconnectAnswer>(call);
          world.r().clock[17].advance_to(*world.r().time(call));
          world.actors[0].ended = true;  // the old leader's guest side is gone
          world.actors[0].holds_turn = world.actors[0].waiting = false;
          world.actors[2].absent = false;
          a.ended = true;
          a.holds_turn = false;
          world.extra += "x";
          return FutexFinished{};  // whatever 18 still says is refused
        }};
    image.script = {[](World&, Actor&) -> std::optional<Request> { return StartThread{}; },
                    [](World&, Actor&) -> std::optional<Request> {
                      return ExecCompleted{P(17), std::nullopt};
                    },
                    ask(Resource::exit(true, P(17), AS(17, 1)))};
    w->actors = {leader, worker, image};
    w->r().clock[18].advance_by(ns(10));
    w->r().as[18] = AS(17);
    w->r().send(18, AskGlobalTime{});
    w->events.push_back({"gone", [](World& world) { return world.core().physical_exits_.contains(P(17)); },
                         [](World& world) { world.core().complete_physical_exit(P(17)); }, 1});
    return w;
  };
  const Explored e = explore(make, [](World& w) {
    EXPECT_FALSE(w.core().terminal_report()) << w.core().terminal_report()->text;
    EXPECT_TRUE(w.core().physical_exits_.empty());
    EXPECT_TRUE(w.core().preparations_.empty());
    EXPECT_TRUE(w.core().live_threads(P(17)).empty());
    for (const Actor& a : w.actors) EXPECT_TRUE(a.ended || a.absent);
  });
  EXPECT_GE(e.states, 25u);
}

// --- vfork: the barrier against a sibling, the child's own waits, its death, a failed vfork ---

std::unique_ptr<World> vfork_world() {
  auto w = std::make_unique<World>(false, uncontrolled());
  w->r().root(17);
  w->r().thread(18, 17);
  w->r().as[20] = AS(17);
  Actor parent, sibling, child;
  parent.tid = parent.process = sibling.process = 17;
  sibling.tid = 18;
  child.tid = child.process = 20;
  child.absent = true;
  parent.script = {ask(ResourceRequest::none()),
                   [](World&, Actor& a) -> std::optional<Request> {
                     a.absent = true;  // in the kernel, until the child is gone
                     return RequestResources{
                         ResourceRequest::one(Resource::external(ResourceKind::kVforkBlock, {T(17), 1}))};
                   },
                   [](World& world, Actor&) -> std::optional<Request> {
                     const bool failed = world.memory["failed"] != 0;
                     return RequestResources{ResourceRequest::one(Resource::external(
                         failed ? ResourceKind::kVforkFailed : ResourceKind::kExternalDone, {T(17), 1}))};
                   }};
  sibling.script = {ask(ResourceRequest::none()), ask(ResourceRequest::none())};
  child.script = {[](World& world, Actor&) -> std::optional<Request> {
                    world.r().clock[20] = world.r().clock[17].child_copy();
                    return RegisterVforkChild{T(20),    T(17), 0, {CloneFlags::kVfork | CloneFlags::kVm},
                                              kSigChld, {}};
                  },
                  [](World&, Actor&) -> std::optional<Request> { return StartThread{}; },
                  ask(Resource::external(ResourceKind::kExternalBlock, {T(20), 1})),
                  ask(Resource::external(ResourceKind::kExternalDone, {T(20), 1})),
                  ask(Resource::sleep_until(E(5'000'000)))};
  w->actors = {parent, sibling, child};
  const auto in_kernel = [](World& world) {
    return world.actors[0].absent && world.core().external_.contains(T(17));
  };
  const auto unborn = [=](World& world) {
    return in_kernel(world) && world.actors[2].absent && world.memory["failed"] == 0;
  };
  w->events.push_back({"born", unborn, [](World& world) { world.actors[2].absent = false; }, 1});
  w->events.push_back({"fails", unborn,
                       [](World& world) {
                         world.memory["failed"] = 1;
                         world.extra += "F";
                         world.actors[0].absent = false;
                       },
                       1});
  w->events.push_back({"goes on", [=](World& world) { return in_kernel(world) && world.actors[2].ended; },
                       [](World& world) { world.actors[0].absent = false; }, 1});
  w->events.push_back({"deadly", [](World& world) { return world.core().is_registered(T(20)); },
                       [](World& world) {
                         world.core().kill_thread(T(20), AS(17));
                         world.actors[2].holds_turn = false;
                       },
                       1});
  return w;
}

TEST(Model, vfork_against_a_sibling) {
  std::size_t born = 0, failed = 0;
  const Explored e = explore(vfork_world, [&](World& w) {
    everybody_done(w);
    EXPECT_TRUE(w.actors[0].ended) << "the parent never came back";
    EXPECT_EQ(w.actors[2].ended, w.memory["failed"] == 0);
    (w.actors[2].ended ? born : failed) += 1;
  });
  EXPECT_GT(e.states, 150u);
  EXPECT_GT(born, 0u);
  EXPECT_GT(failed, 0u);
}

// --- a recording: waits end by wake-ups and by reports of the host ---

TEST(Model, recorded_waits_against_wake_and_host) {
  const auto make = [] {
    CoreConfig config = uncontrolled();
    config.policy = RunPolicy::kRecord;
    auto w = std::make_unique<World>(false, config);
    w->r().root(17);
    w->r().thread(18, 17), w->r().thread(19, 17);
    const FutexKey key = w->r().key(0x10, 17);
    Actor waiter, sleeper, waker;
    waiter.tid = 17, sleeper.tid = 18, waker.tid = 19;
    waiter.process = sleeper.process = waker.process = 17;
    waiter.script = {[key](World&, Actor&) -> std::optional<Request> {
                       return FutexWait{key, kFullFutexMask, E(600'000), 0};
                     },
                     ask(ResourceRequest::none())};
    sleeper.script = {ask(Resource::sleep_until(E(700'000))), ask(ResourceRequest::none())};
    waker.script = {ask(ResourceRequest::none()),
                    [key](World&, Actor&) -> std::optional<Request> {
                      return FutexWake{key, 1, kFullFutexMask};
                    },
                    ask(Resource::external(ResourceKind::kExternalBlock, {T(19), 1})),
                    ask(Resource::external(ResourceKind::kExternalDone, {T(19), 1}))};
    w->actors = {waiter, sleeper, waker};
    for (const int t : {17, 18}) {
      w->events.push_back({"expired", [t](World& world) { return world.core().host_waits_.contains(T(t)); },
                           [t](World& world) { world.core().host_expired(T(t)); }, 1});
    }
    return w;
  };
  EXPECT_GT(explore(make, everybody_done).states, 100u);
}

// --- random walks ---

struct Walk {
  explicit Walk(std::uint64_t seed) : random(seed), world(false, config(seed)) {
    world.r().root(3);
    add(3);
  }
  static CoreConfig config(std::uint64_t seed) {
    CoreConfig c = cancelling();
    c.master_seed = seed;
    c.queue_policy = static_cast<QueuePolicy>(seed % 4);
    c.sticky = 0.5;
    c.post_fork = static_cast<PostForkPolicy>(seed / 4 % 3);
    c.chaos.race_targeted = seed % 5 == 0;
    c.shuffle_futexes = seed % 3 == 0;
    if (seed % 7 == 0) {
      c.pct = {3, 200};
      c.queue_policy = QueuePolicy::kRoundRobin;
      c.chaos.race_targeted = false;
    }
    return c;
  }
  void add(int tid) {
    Actor a;
    a.tid = tid, a.process = 3;
    for (int i = 0; i < 12; ++i) {
      a.script.push_back([this, tid](World& w, Actor& self) { return pick(w, self, tid); });
    }
    world.actors.push_back(a);
  }
  std::optional<Request> pick(World& w, Actor& self, int tid) {
    const std::uint64_t choice = random.below(12);
    if (w.core().external_.contains(T(tid)))
      return RequestResources{ResourceRequest::one(
          Resource::external(ResourceKind::kExternalDone, w.core().external_.at(T(tid))))};
    if (!self.holds_turn) return RequestResources{};
    const FutexKey key = w.r().key(0x10 + random.below(2), 3);
    const LogicalTime soon = w.core().clock().value() + ns(random.below(900'000));
    w.r().clock[tid].advance_by(ns(random.below(5'000)));
    switch (choice) {
      case 0:
        return FutexWait{key, kFullFutexMask, soon, 0};
      case 1:
        return FutexWake{key, static_cast<std::uint32_t>(random.below(3)), kFullFutexMask};
      case 2:
        return RequestResources{ResourceRequest::one(Resource::sleep_until(soon))};
      case 3:
        return RequestResources{ResourceRequest::one(Resource::of(ResourceKind::kYield))};
      case 4:
        return RequestResources{ResourceRequest::one(Resource::polled_io()).with_attempt(1)};
      case 5:
        return RequestResources{ResourceRequest::one(
            Resource::external(ResourceKind::kExternalBlock, {T(tid), random.below(1000)}))};
      case 6:
        return RequestResources{
            ResourceRequest::one(Resource::priority_point(priority_from_random(random.next())))};
      case 7:
        if (world.actors.size() < 9) {
          next_child = 10 + static_cast<int>(world.actors.size());
          w.r().as[next_child] = AS(3);
          w.r().clock[next_child] = w.r().clock[tid].child_copy();
          return RegisterChild{T(next_child), P(3), 0, {CloneFlags::kThread | CloneFlags::kVm}, {},
                               std::nullopt};
        }
        return RequestResources{};
      case 8:
        return SetAlarm{ns(random.below(500'000)), {}, kAlarmSignal};
      case 9: {
        const auto live = w.core().live_threads(P(3));
        w.core().deliver_signal(live[random.below(live.size())], kSigUsr1);
        return RequestResources{};
      }
      default:
        return RequestResources{};
    }
  }
  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      const std::vector<int> next = world.enabled();
      if (next.empty()) break;
      world.act(next[random.below(next.size())]);
      trace += fmt::format("{} ", world.core().turn().value);
      if (next_child != 0) {
        const int child = std::exchange(next_child, 0);
        add(child);
        world.actors.back().script.insert(
            world.actors.back().script.begin(),
            [](World&, Actor&) -> std::optional<Request> { return StartThread{}; });
      }
      if (random.below(150) == 0) {  // somebody is killed from outside
        const auto live = world.core().live_threads(P(3));
        if (live.size() > 1) world.core().kill_thread(live[random.below(live.size())], AS(3));
        for (Actor& a : world.actors) {
          if (world.core().is_tombstoned(T(a.tid))) a.holds_turn = false;
        }
        world.idle = false;
        world.r().collect();
        world.deliver();
        world.check();
      }
    }
  }
  RandomStream random;
  World world;
  int next_child = 0;
  std::string trace;
};

TEST(Model, random_walks) {
  const char* wanted = std::getenv("DETREC_CORE_WALKS");
  const int walks = wanted != nullptr ? std::atoi(wanted) : 300;
  std::uint64_t turns = 0, finished = 0;
  for (int seed = 1; seed <= walks && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Walk walk(static_cast<std::uint64_t>(seed));
    walk.run(3'000);
    turns += walk.world.core().turn().value;
    finished += walk.world.last_kind == StepKind::kFinished;
    EXPECT_FALSE(walk.world.core().failed());
    if (walk.world.core().terminal_report()) ADD_FAILURE() << walk.world.core().terminal_report()->text;
    for (const Actor& a : walk.world.actors) EXPECT_TRUE(a.ended) << "thread " << a.tid << " is stuck";
    if (seed <= 5) {  // the same walk is the same run
      Walk again(static_cast<std::uint64_t>(seed));
      again.run(3'000);
      EXPECT_EQ(again.trace, walk.trace);
    }
  }
  EXPECT_GT(turns, static_cast<std::uint64_t>(walks) * 10);
  EXPECT_GT(finished, 0u);
}

}  // namespace
}  // namespace detrec::core::testing
