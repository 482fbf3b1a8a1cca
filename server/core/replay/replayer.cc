#include "server/core/replay/replayer.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/core/time/costs.h"

namespace detrec::core {
namespace {

constexpr std::size_t kSearch = 10;  // TRACE-15

std::string line(const MismatchCounts& c) {
  return fmt::format("soft {}, hard {}, at switch {}, resyncs by deletion {}, by insertion {}", c.soft,
                     c.hard, c.at_switch, c.deletion_resyncs, c.insertion_resyncs);
}

}  // namespace

Replayer::Advice Replayer::observe(const ScheduleEvent& seen) {
  Advice advice;
  if (cursor_ >= expected_.size()) {
    advice.guided = false;
    advice.stop = stop_when_exhausted_;
    return advice;
  }
  MismatchCounts& mine = per_thread_[seen.tid];
  bool consumed = true;
  if (expected_[cursor_].matches(seen)) {
    if (last_mismatched_) ++total_.insertion_resyncs, ++mine.insertion_resyncs;
    last_mismatched_ = false;
    ++cursor_;
  } else if (expected_[cursor_].consistent(seen)) {
    advice.match = Match::kSoft;
    ++total_.soft, ++mine.soft;
    advice.stop = stop_ == ReplayStop::kOnAny;
    last_mismatched_ = true;
    ++cursor_;
  } else {
    advice.match = Match::kHard;
    ++total_.hard, ++mine.hard;
    advice.stop = stop_ != ReplayStop::kNever;
    last_mismatched_ = true;
    consumed = false;
    const std::size_t limit = std::min(expected_.size(), cursor_ + 1 + kSearch);
    for (std::size_t at = cursor_ + 1; !advice.stop && at < limit; ++at) {
      if (!expected_[at].matches(seen)) continue;
      ++total_.deletion_resyncs, ++mine.deletion_resyncs;
      ++total_.fast_forwards, ++mine.fast_forwards;
      cursor_ = at + 1;
      consumed = true;
      last_mismatched_ = false;
      break;
    }
  }
  if (consumed) {
    ++consumed_;
    advice.recorded = cursor_ - 1;
  }
  if (const ScheduleEvent* following = next(); following != nullptr && following->tid != seen.tid) {
    if (!consumed) ++total_.at_switch, ++mine.at_switch;
    const bool pre = seen.op.kind == OperationKind::kSyscall && seen.op.phase == SyscallPhase::kPre;
    advice.change = pre ? Switch::kAfterBlock : Switch::kImmediate;
    advice.next = following->tid;
  } else {
    advice.slice = next_slice();
  }
  return advice;
}

std::optional<LogicalTime> Replayer::next_slice() const {
  const ScheduleEvent* batch = next();
  if (batch == nullptr || batch->op.kind != OperationKind::kTicks) return std::nullopt;
  std::size_t after = cursor_ + 1;
  if (after < expected_.size() && expected_[after].tid == batch->tid &&
      expected_[after].op.kind == OperationKind::kOther)
    ++after;
  if (after >= expected_.size()) return std::nullopt;
  if (expected_[after].tid == batch->tid && expected_[after].op.kind != OperationKind::kTicks)
    return std::nullopt;
  return LogicalTime{batch->count * kNanosPerTick};
}

std::string Replayer::describe() const {
  std::string out = line(total_);
  for (const auto& [tid, counts] : per_thread_) {
    if (counts.soft + counts.hard != 0) out += fmt::format("\n  thread {}: {}", tid.value, line(counts));
  }
  return out;
}

}  // namespace detrec::core
