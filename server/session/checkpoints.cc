#include "server/session/checkpoints.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace detrec::server {
namespace {

constexpr std::size_t kMost = 40;

}  // namespace

bool Checkpoints::any_at(const wire::DebugPosition& position) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Checkpoint& c) { return c.spot().position == position; });
}

void Checkpoints::add(Checkpoint checkpoint, const Spot& here) {
  const auto after = std::find_if(all_.begin(), all_.end(), [&](const Checkpoint& c) {
    return checkpoint.spot().position < c.spot().position;
  });
  all_.insert(after, std::move(checkpoint));
  if (all_.size() > kMost) thin(here);
}

const Checkpoint* Checkpoints::last_before(const wire::DebugPosition& position, bool or_at) const {
  for (auto c = all_.rbegin(); c != all_.rend(); ++c) {
    const wire::DebugPosition at = c->spot().position;
    if (at < position || (or_at && at == position)) return &*c;
  }
  return nullptr;
}

std::uint32_t Checkpoints::free_slot(const GuestProcess* present) const {
  std::vector<bool> used(wire::kDebugSlots, false);
  if (present != nullptr) used[present->slot()] = true;
  for (const Checkpoint& c : all_) used[c.process->slot()] = true;
  for (std::uint32_t slot = 1; slot < kDiversionSlot; ++slot) {
    if (!used[slot]) return slot;
  }
  return 0;
}

/// Drops the checkpoint that is missed least: little room between its neighbours, far from the present.
void Checkpoints::thin(const Spot& here) {
  const auto total = [&](std::size_t i) { return static_cast<double>(all_[i].spot().total_ticks); };
  const auto present = static_cast<double>(here.total_ticks);
  std::size_t least = 0;
  double least_value = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i + 1 < all_.size(); ++i) {
    const double value = (total(i + 1) - total(i - 1)) / (std::abs(present - total(i)) + 1);
    if (value < least_value) least_value = value, least = i;
  }
  if (least != 0) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(least));
}

}  // namespace detrec::server
