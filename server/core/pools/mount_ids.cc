#include "server/core/pools/mount_ids.h"

#include <algorithm>
#include <set>

namespace detrec::core {

MountIdPool::MountIdPool(std::optional<MountOrders> orders, std::uint32_t last_number) : limit_(last_number) {
  if (!orders) return;
  if (!orders->captured || !make_ready(*orders)) {  // MNT-1
    state_ = State::kInvalid;
    return;
  }
  subsets_ = true;
}

bool MountIdPool::make_ready(const MountOrders& orders) {
  std::set<std::uint64_t> seen;
  for (const auto id : orders.table) {
    if (!seen.insert(id).second) return false;  // MNT-2
  }
  for (const auto id : orders.unlisted) {
    if (id == 0 || !seen.insert(id).second) return false;
  }
  table_ = orders.table;
  unlisted_ = orders.unlisted;
  for (const auto id : table_) numbers_[id] = next_++;
  for (const auto id : unlisted_) numbers_[id] = next_++;
  state_ = State::kReady;
  return true;
}

bool MountIdPool::check_order(const std::vector<std::uint64_t>& order) {
  if (state_ == State::kInvalid) return false;  // MNT-3
  if (state_ == State::kUninitialised) {
    if (make_ready({order, {}, false})) return true;
    state_ = State::kInvalid;
    return false;
  }
  if (order == table_) return true;  // MNT-9
  if (!subsets_) return false;
  auto at = table_.begin();
  for (const auto id : order) {
    at = std::find(at, table_.end(), id);
    if (at == table_.end()) return false;
    ++at;
  }
  return true;
}

std::optional<std::uint32_t> MountIdPool::map(std::uint64_t raw) {
  if (raw == 0) return 0;  // MNT-4
  if (state_ != State::kReady) return std::nullopt;
  if (const auto it = numbers_.find(raw); it != numbers_.end()) return it->second;  // MNT-8
  if (next_ > limit_) return std::nullopt;                                          // MNT-11
  unlisted_.push_back(raw);
  return numbers_[raw] = next_++;
}

std::optional<std::uint32_t> MountIdPool::map(std::uint64_t raw, const std::vector<std::uint64_t>& order) {
  const bool good = check_order(order);
  if (raw == 0) return 0;
  if (!good) return std::nullopt;
  return map(raw);
}

MountIdPool::Provenance MountIdPool::provenance(MountOrders& out) const {
  if (state_ == State::kUninitialised) return Provenance::kNone;
  if (state_ == State::kInvalid) return Provenance::kInvalid;
  out = {table_, unlisted_, true};
  return Provenance::kReady;
}

}  // namespace detrec::core
