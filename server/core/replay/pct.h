// Probabilistic concurrency testing: a bug of depth d among n threads and k steps shows with a probability of
// at least 1/(n k^(d-1)) in each run (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A Randomized Scheduler
// with Probabilistic Guarantees of Finding Bugs", 2010).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "server/core/base/random.h"
#include "server/core/sched/run_queue.h"

namespace detrec::core {

struct PctConfig {
  std::uint32_t depth = 0;                           ///< d; 0: off
  std::uint64_t steps = 1;                           ///< k, the expected number of turns
  static constexpr std::uint32_t kMaxDepth = 1'000;  ///< d - 1 priorities lie below all initial ones
};

class PctPlan {
 public:
  PctPlan(const PctConfig& config, std::uint64_t seed);
  /// A new thread's priority: distinct and uniform, so that their order is a uniform permutation.
  Priority initial();
  /// At step `n` (1-based) the thread about to run gets the returned priority, below all initial ones.
  std::optional<Priority> lowered(std::uint64_t step) const;

 private:
  static constexpr std::uint32_t kInitialRange = 8999;  // 1 .. 8999; lowered ones are above
  RandomStream stream_;
  std::uint32_t depth_;
  std::vector<std::uint64_t> points_;
  std::set<std::uint32_t> used_;
};

}  // namespace detrec::core
