#include "server/core/time/global_clock.h"

#include <cmath>

namespace detrec::core {

Factor Factor::rounded(double value) {
  const double units = std::nearbyint(value * 4294967296.0);
  return {units < 1.0 ? 1 : static_cast<std::uint64_t>(units)};
}

void ThreadClock::advance_to(LogicalTime t) {
  const LogicalTime now = value();
  if (t < now) fatal("a thread clock at {} cannot go back to {}", to_string(now), to_string(t));
  advances_ += t - now;
}

LogicalTime GlobalClock::time_of(ThreadId tid) const {
  const auto it = entries_.find(tid);
  if (it == entries_.end()) fatal("thread {} never reported its time", tid.value);
  return origin_ + it->second.elapsed;
}

std::optional<GlobalClock::Entry> GlobalClock::entry(ThreadId tid) const {
  const auto it = entries_.find(tid);
  if (it == entries_.end()) return std::nullopt;
  return it->second;
}

void GlobalClock::report(ThreadId tid, LogicalTime value, LogicalTime inherited) {
  if (value < origin_) fatal("thread {} reports {}, before the origin", tid.value, to_string(value));
  const LogicalTime elapsed = value - origin_;
  const auto [it, fresh] = entries_.try_emplace(tid);
  Entry& entry = it->second;
  if (fresh) {
    if (inherited > elapsed) fatal("thread {} inherited more time than it has", tid.value);
    entry = {elapsed, inherited};
    work_ += elapsed - inherited;
    return;
  }
  if (elapsed < entry.elapsed) {
    fatal("thread {} went back in time from {} to {}", tid.value, to_string(entry.elapsed),
          to_string(elapsed));
  }
  work_ += elapsed - entry.elapsed;
  entry.elapsed = elapsed;
}

void GlobalClock::move_component(ThreadId worker, ThreadId leader) {
  if (worker == leader) return;
  const auto survivor = entries_.find(worker);
  if (survivor == entries_.end()) fatal("thread {} has no time to move to {}", worker.value, leader.value);
  const Entry moved = survivor->second;
  entries_.erase(survivor);
  const auto displaced = entries_.find(leader);
  if (displaced != entries_.end()) {
    const LogicalTime own = displaced->second.elapsed - displaced->second.inherited;
    work_ = work_ - own;
    extra_ += own;
  }
  entries_[leader] = moved;
}

}  // namespace detrec::core
