// Cost of a turn, by number of threads: message in, turn, reply out. Prints JSON; times are never asserted.
//   core_bench [turns]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "server/core/core.h"

namespace detrec::core {
namespace {

struct Measured {
  double ns_per_turn = 0;
  double seconds = 0;
};

/// `waiters` further threads sleep on futexes and in timers, so that the pools are not empty.
Measured measure(int threads, std::uint64_t turns, QueuePolicy policy, int waiters) {
  CoreConfig config;
  config.controlled = false;
  config.reports_physical_exits = false;
  config.queue_policy = policy;
  config.post_fork = PostForkPolicy::kParentFirst;
  Core core(config);
  const AddressSpaceId as = AddressSpaceId::initial({3});
  std::vector<ThreadClock> clocks(static_cast<std::size_t>(threads + waiters) + 4);
  core.send({{3}, clocks[3], as, RegisterChild{{3}, {3}, 0, {}, {}, Priority{1}}});
  core.send({{3}, clocks[3], as, StartThread{std::nullopt}});
  const auto settle = [&] {
    for (;;) {
      const StepResult r = core.step();
      core.take_replies();
      if (r.kind != StepKind::kGranted) continue;
      if (r.thread == ThreadId{3}) return;
      core.send({r.thread, clocks[static_cast<std::size_t>(r.thread.value)], as,
                 RequestResources{}});  // random pick
    }
  };
  settle();
  for (int t = 4; t < threads + waiters + 3; ++t) {
    core.send({{3},
               clocks[3],
               as,
               RegisterChild{{t}, {3}, 0, {CloneFlags::kThread | CloneFlags::kVm}, {}, std::nullopt}});
    core.send({{t}, clocks[3].child_copy(), as, StartThread{std::nullopt}});
    clocks[static_cast<std::size_t>(t)] = clocks[3].child_copy();
    settle();  // thread 3 is ahead of everybody, unless the policy is random
  }
  core.send({{3},
             clocks[3],
             as,
             RequestResources{ResourceRequest::one(Resource::priority_point(kDefaultPriority)), {}}});
  // Everybody's first turn; then the waiters wait.
  for (int started = 0; started < threads + waiters - 1;) {
    const StepResult first = core.step();
    core.take_replies();
    if (first.kind != StepKind::kGranted) continue;
    const ThreadId tid = first.thread;
    if (tid != ThreadId{3}) ++started;
    ThreadClock& clock = clocks[static_cast<std::size_t>(tid.value)];
    if (tid.value >= threads + 3) {
      core.send(
          {tid, clock, as,
           FutexWait{FutexKey::private_key(as, static_cast<std::uint64_t>(tid.value)), 1, kIndefinite, 0}});
    } else {
      core.send({tid, clock, as, RequestResources{}});
    }
  }
  const std::clock_t begin = std::clock();  // CPU time: the machine may be busy with other work
  for (std::uint64_t i = 0; i < turns;) {
    const StepResult step = core.step();
    core.take_replies();
    if (step.kind != StepKind::kGranted) continue;
    ++i;
    ThreadClock& clock = clocks[static_cast<std::size_t>(step.thread.value)];
    clock.add_ticks(100);
    core.send({step.thread, clock, as, RequestResources{}});
  }
  Measured m;
  m.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  m.ns_per_turn = m.seconds * 1e9 / static_cast<double>(turns);
  return m;
}

}  // namespace
}  // namespace detrec::core

int main(int argc, char** argv) {
  using namespace detrec::core;
  const std::uint64_t turns = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const Measured hundred = measure(100, turns, QueuePolicy::kRoundRobin, 0);
  std::printf("{\n \"turns\": %llu,\n \"cpu_seconds_100_threads\": %.3f,\n \"ns_per_turn\": {",
              static_cast<unsigned long long>(turns), hundred.seconds);
  bool first = true;
  for (const int threads : {10, 100, 1'000, 10'000}) {
    const Measured m = measure(threads, turns / 4, QueuePolicy::kRoundRobin, 0);
    std::printf("%s\n  \"%d\": %.0f", first ? "" : ",", threads, m.ns_per_turn);
    first = false;
  }
  const Measured random = measure(1'000, turns / 4, QueuePolicy::kRandom, 0);
  const Measured waiting = measure(100, turns / 4, QueuePolicy::kRoundRobin, 5'000);
  std::printf("\n },\n \"ns_per_turn_random_1000\": %.0f,\n \"ns_per_turn_100_and_5000_waiters\": %.0f\n}\n",
              random.ns_per_turn, waiting.ns_per_turn);
  return 0;
}
