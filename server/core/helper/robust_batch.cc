#include "server/core/helper/robust_batch.h"

#include <algorithm>

namespace detrec::core {

RobustBatch::RobustBatch(Reason reason, std::map<ThreadId, std::vector<FutexKey>> wakes)
    : reason_(reason), wakes_(std::move(wakes)) {
  for (auto& [owner, keys] : wakes_) std::sort(keys.begin(), keys.end());
}

bool RobustBatch::sends_empty(ThreadId tid, WaitStatus status) const {
  return member(tid) && !completed_.contains(tid) && reason_.matches(status);
}

std::optional<RobustWakes> RobustBatch::answered(ThreadId tid, bool accepted, LogicalTime clock) {
  if (!accepted || released_ || !member(tid)) return std::nullopt;
  completed_.insert(tid);
  latest_ = std::max(latest_, clock);
  if (completed_.size() != wakes_.size()) return std::nullopt;
  released_ = true;
  RobustWakes message;
  for (const auto& [owner, keys] : wakes_) {
    for (const FutexKey& key : keys) message.wakes.emplace_back(owner, key);
  }
  message.latest = latest_;
  return message;
}

}  // namespace detrec::core
