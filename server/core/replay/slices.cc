#include "server/core/replay/slices.h"

#include <cmath>

namespace detrec::core {

double slowdown_factor(double r, std::uint64_t scheduler_seed, ThreadId tid, std::uint64_t epoch) {
  if (!(r > 1.0)) return 1.0;
  RandomStream stream = RandomStream::derive(
      RandomStream::mix(scheduler_seed ^ RandomStream::mix(static_cast<std::uint64_t>(tid.value))),
      epoch + 0x510);
  // r^(2u-1), with the exponent's bits applied by square roots (exact in IEEE arithmetic, unlike pow).
  const std::uint64_t bits = stream.next();
  double power = 1.0, root = r;
  for (int i = 63; i >= 12; --i) {
    if ((bits >> i & 1) != 0) power *= root;
    root = std::sqrt(root);
  }
  // power = r^(2u) with u in [0,1): the first bit weighs r^1.
  return power / r;
}

double exponential_draw(RandomStream& stream) {
  for (double whole = 0.0;; whole += 1.0) {
    const double first = stream.unit();
    double last = first;
    bool accept = true;  // the length of the falling run decides
    for (;;) {
      const double draw = stream.unit();
      if (draw >= last) break;
      last = draw;
      accept = !accept;
    }
    if (accept) return whole + first;
  }
}

SlicePlan SlicePlan::plain(LogicalTime maximum) {
  SlicePlan plan;
  plan.maximum_ = maximum;
  return plan;
}

SlicePlan SlicePlan::chaos(const ChaosConfig& config, std::uint64_t scheduler_seed, ThreadId tid,
                           Priority initial) {
  SlicePlan plan;
  plan.mode_ = Mode::kChaos;
  plan.chaos_ = config;
  plan.seed_ = scheduler_seed;
  plan.tid_ = tid;
  plan.stream_ = RandomStream::derive(scheduler_seed, static_cast<std::uint64_t>(tid.value) + 0xc4a05);
  plan.priority_ = initial;
  plan.factor_ = Factor::rounded(slowdown_factor(config.slowdown, scheduler_seed, tid, 0));
  return plan;
}

SlicePlan SlicePlan::replay(PreemptionHistory history) {
  SlicePlan plan;
  plan.mode_ = Mode::kReplay;
  plan.history_ = std::move(history);
  return plan;
}

void SlicePlan::evaluate_epoch(LogicalTime now) {
  if (chaos_.epoch_length.ns == 0) return;
  const std::uint64_t epoch = now.ns / chaos_.epoch_length.ns;
  if (epoch == epoch_) return;
  epoch_ = epoch;
  factor_ = Factor::rounded(slowdown_factor(chaos_.slowdown, seed_, tid_, epoch));
  epochs_.push_back({now, epoch, factor_});
}

Slice SlicePlan::next(LogicalTime now, TickPoint at) {
  Slice slice;
  switch (mode_) {
    case Mode::kPlain:
      slice.end = now + maximum_;
      slice.priority = priority_;
      break;
    case Mode::kChaos: {
      evaluate_epoch(now);
      if (!first_) {
        priority_ = chaos_.race_targeted ? (stream_.next() % 2 == 0 ? kFirstPriority : kLastPriority)
                                         : priority_from_random(stream_.next());
      }
      first_ = false;
      const double mean_ticks = static_cast<double>(chaos_.mean.ns) / static_cast<double>(kNanosPerTick);
      slice.ticks = 1 + static_cast<std::uint64_t>(exponential_draw(stream_) * mean_ticks);
      if (chaos_.max_instructions != 0)
        slice.instructions = static_cast<std::uint32_t>(stream_.below(chaos_.max_instructions));
      slice.end = now + LogicalTime{slice.ticks * kNanosPerTick};
      slice.priority = priority_;
      break;
    }
    case Mode::kReplay: {
      while (next_epoch_ < history_.epochs.size() && history_.epochs[next_epoch_].time <= now)
        factor_ = history_.epochs[next_epoch_++].factor;
      if (next_change_ >= history_.changes.size()) {
        slice.end = kIndefinite;
        slice.priority = history_.final;
        break;
      }
      const PriorityChange& change = history_.changes[next_change_];
      slice.end = change.time;
      slice.priority = change.until;
      if (!history_.points.empty()) {
        slice.point = history_.points[next_change_];
        if (*slice.point < at)
          fatal("a recorded slice end at {} ticks lies before {}", slice.point->ticks, at.ticks);
      } else if (change.time < now) {
        fatal("a recorded slice end at {} lies before {}", to_string(change.time), to_string(now));
      }
      ++next_change_;
      break;
    }
  }
  return slice;
}

std::vector<ChaosEpoch> SlicePlan::take_epochs() { return std::exchange(epochs_, {}); }

std::optional<ChaosEpoch> EpochCursor::advance(LogicalTime now) {
  std::optional<ChaosEpoch> out;
  while (next_ < epochs_.size() && epochs_[next_].time <= now) out = epochs_[next_++];
  return out;
}

}  // namespace detrec::core
