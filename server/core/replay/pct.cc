#include "server/core/replay/pct.h"

namespace detrec::core {

PctPlan::PctPlan(const PctConfig& config, std::uint64_t seed)
    : stream_(RandomStream::derive(seed, 0x9c7)), depth_(config.depth) {
  for (std::uint32_t i = 1; i < depth_; ++i)
    points_.push_back(1 + stream_.below(config.steps == 0 ? 1 : config.steps));
}

Priority PctPlan::initial() {
  // After thousands of threads values are reused; the guarantee is stated for n far below the range.
  for (int tries = 0;; ++tries) {
    const auto p = static_cast<std::uint32_t>(1 + stream_.below(kInitialRange));
    if (used_.insert(p).second || tries > 64) return {p};
  }
}

std::optional<Priority> PctPlan::lowered(std::uint64_t step) const {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    // The i-th point (1-based) lowers to i of d-1 values; a smaller i is less urgent, that is a larger number
    // here.
    if (points_[i] == step) return Priority{kInitialRange + static_cast<std::uint32_t>(points_.size() - i)};
  }
  return std::nullopt;
}

}  // namespace detrec::core
