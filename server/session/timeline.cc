#include "server/session/timeline.h"

#include <algorithm>
#include <limits>

namespace detrec::server {
namespace {

using wire::DebugPosition;
using wire::StopReason;

/// Going forward leaves a checkpoint behind after so many ticks.
constexpr std::uint64_t kInterval = 20'000'000;
/// Going back leaves one so far before where it goes, and others at growing distances.
constexpr std::uint64_t kNearest = 2'000;
constexpr std::uint64_t kFurtherBy = 50;
constexpr std::size_t kMostCheckpoints = 40;
constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

bool before(const DebugPosition& a, const DebugPosition& b) { return key(a) < key(b); }

Standstill standstill(const wire::DebugStop& stop) {
  Standstill result;
  result.hit = stop.hit;
  switch (stop.reason) {
    case StopReason::kBreakpoint:
      result.reason = Standstill::Reason::kBreakpoint;
      break;
    case StopReason::kWatch:
      result.reason = Standstill::Reason::kWatch;
      break;
    case StopReason::kSignal:
      result.reason = Standstill::Reason::kSignal;
      break;
    case StopReason::kInterrupted:
      result.reason = Standstill::Reason::kInterrupted;
      break;
    case StopReason::kEnd:
      result.reason = Standstill::Reason::kEnd;
      break;
    case StopReason::kDiverged:
      result.reason = Standstill::Reason::kDiverged;
      break;
    case StopReason::kSteps:
      result.reason = Standstill::Reason::kStep;
      break;
    case StopReason::kStart:
    case StopReason::kLimit:
    case StopReason::kBudget:
      break;
  }
  return result;
}

wire::DebugRun run_to(const DebugPosition& limit, std::uint32_t flags) {
  wire::DebugRun run{};
  run.flags = wire::kRunToLimit | wire::kRunPassSignals | flags;
  run.limit = limit;
  return run;
}

}  // namespace

event::Result<std::unique_ptr<Timeline>> Timeline::start(const ReplayChannel& channel,
                                                         storage::TraceReader& reader,
                                                         const Content& content) {
  std::unique_ptr<Timeline> timeline(new Timeline(channel, reader, content));
  if (const auto ready = GuestProcess::prepare_first(channel); !ready) return ready.error();
  const auto pid = channel.start_engine();
  if (!pid) return pid.error();
  Spot before_all;
  before_all.position.event = reader.first_event().value - 1;
  auto process = GuestProcess::attach(timeline->context_, 0, pid.value(), before_all);
  if (!process) return process.error();
  timeline->present_ = std::move(process.value());
  if (const auto begun = timeline->present_->begin(); !begun) return begun.error();
  if (const auto added = timeline->add_checkpoint(); !added) return added.error();
  return timeline;
}

Timeline::~Timeline() = default;

const ImageStart* Timeline::image() const {
  auto at = context_.images.upper_bound(present_->spot().position.event);
  return at == context_.images.begin() ? nullptr : &std::prev(at)->second;
}

void Timeline::interrupt() {
  context_.interrupted = true;
  if (std::uint32_t* word = context_.interruptible) std::atomic_ref(*word).store(1);
}

void Timeline::set_points(std::vector<std::uint64_t> breakpoints, std::vector<wire::DebugWatch> watches) {
  points_.breakpoints = std::move(breakpoints);
  points_.watches = std::move(watches);
  ++points_.version;
}

event::Status Timeline::send_points(bool with_points) {
  const std::uint64_t wanted = with_points ? points_.version : 0;
  if (present_points_ == wanted) return event::Done{};
  const Points none;
  const Points& points = with_points ? points_ : none;
  if (const auto sent = present_->set_breakpoints(points.breakpoints); !sent) return sent.error();
  if (const auto sent = present_->set_watchpoints(points.watches); !sent) return sent.error();
  present_points_ = wanted;
  return event::Done{};
}

event::Result<wire::DebugStop> Timeline::run(wire::DebugRun run, bool with_points) {
  if (const auto sent = send_points(with_points); !sent) return sent.error();
  return present_->run(run);
}

/// The same, leaving checkpoints behind.
event::Result<wire::DebugStop> Timeline::run_with_checkpoints(wire::DebugRun run, bool with_points) {
  for (;;) {
    run.budget = kInterval;
    auto stop = this->run(run, with_points);
    if (!stop || stop.value().reason != StopReason::kBudget) return stop;
    if (const auto added = add_checkpoint(); !added) return added.error();
    if (run.steps != 0) return stop;  // steps are few
  }
}

std::uint32_t Timeline::free_slot() const {
  std::vector<bool> used(wire::kDebugSlots, false);
  if (present_) used[present_->slot()] = true;
  for (const Checkpoint& c : checkpoints_) used[c.process->slot()] = true;
  for (std::uint32_t slot = 1; slot < wire::kDebugSlots; ++slot) {
    if (!used[slot]) return slot;
  }
  return 0;
}

int Timeline::last_before(const DebugPosition& position, bool or_at) const {
  for (auto i = static_cast<int>(checkpoints_.size()); i-- > 0;) {
    const DebugPosition& at = checkpoints_[static_cast<std::size_t>(i)].process->spot().position;
    if (before(at, position) || (or_at && key(at) == key(position))) return i;
  }
  return -1;
}

event::Status Timeline::add_checkpoint() {
  const Spot here = present_->spot();
  const auto same = [&](const Checkpoint& c) {
    return key(c.process->spot().position) == key(here.position);
  };
  if (std::any_of(checkpoints_.begin(), checkpoints_.end(), same)) return event::Done{};
  auto copy = present_->split(free_slot());
  if (!copy) return copy.error();
  const auto at = std::find_if(checkpoints_.begin(), checkpoints_.end(), [&](const Checkpoint& c) {
    return before(here.position, c.process->spot().position);
  });
  checkpoints_.insert(at, {std::move(copy.value()), present_points_});
  thin_checkpoints();
  return event::Done{};
}

/// Drops the checkpoint that is missed least: little room between its neighbours, far from the present.
void Timeline::thin_checkpoints() {
  if (checkpoints_.size() <= kMostCheckpoints) return;
  const auto total = [&](std::size_t i) {
    return static_cast<double>(checkpoints_[i].process->spot().total_ticks);
  };
  const auto here = static_cast<double>(present_->spot().total_ticks);
  std::size_t least = 0;
  double least_value = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i + 1 < checkpoints_.size(); ++i) {
    const double distance = std::abs(here - total(i)) + 1;
    const double value = (total(i + 1) - total(i - 1)) / distance;
    if (value < least_value) least_value = value, least = i;
  }
  if (least != 0) checkpoints_.erase(checkpoints_.begin() + static_cast<std::ptrdiff_t>(least));
}

event::Status Timeline::go_to(const Checkpoint& checkpoint) {
  auto copy = checkpoint.process->split(free_slot());
  if (!copy) return copy.error();
  present_ = std::move(copy.value());
  present_points_ = checkpoint.points_version;
  return event::Done{};
}

event::Result<Standstill> Timeline::go_forward() {
  context_.interrupted = false;
  const auto stop = run_with_checkpoints({}, true);
  if (!stop) return stop.error();
  return standstill(stop.value());
}

event::Result<Standstill> Timeline::step_forward(std::uint64_t instructions) {
  context_.interrupted = false;
  wire::DebugRun run{};
  run.steps = instructions;
  const auto stop = this->run(run, true);
  if (!stop) return stop.error();
  return standstill(stop.value());
}

event::Result<Standstill> Timeline::seek(const DebugPosition& to) {
  context_.interrupted = false;
  const int near = last_before(to, true);
  const bool back = before(to, present_->spot().position);
  const bool skip =
      near >= 0 && before(present_->spot().position,
                          checkpoints_[static_cast<std::size_t>(near)].process->spot().position);
  if ((back || skip) && near >= 0) {
    if (const auto gone = go_to(checkpoints_[static_cast<std::size_t>(near)]); !gone) return gone.error();
  }
  if (!before(present_->spot().position, to)) return Standstill{};
  const auto stop = run_with_checkpoints(run_to(to, 0), false);
  if (!stop) return stop.error();
  return standstill(stop.value());
}

event::Result<Standstill> Timeline::seek_begin() {
  return seek(checkpoints_.front().process->spot().position);
}

event::Result<Standstill> Timeline::go_backward() {
  context_.interrupted = false;
  const Spot origin = present_->spot();
  DebugPosition end = origin.position;
  for (;;) {
    const int index = last_before(end, false);
    if (index < 0) {
      const auto arrived = seek_begin();
      if (!arrived) return arrived.error();
      return Standstill{Standstill::Reason::kBegin, {}};
    }
    const DebugPosition begin = checkpoints_[static_cast<std::size_t>(index)].process->spot().position;
    if (const auto gone = go_to(checkpoints_[static_cast<std::size_t>(index)]); !gone) return gone.error();
    const auto stop = run(run_to(end, wire::kRunNoteHits), true);
    if (!stop) return stop.error();
    if (stop.value().reason == StopReason::kInterrupted) {
      const auto back = seek(origin.position);
      if (!back) return back.error();
      return Standstill{Standstill::Reason::kInterrupted, {}};
    }
    if (stop.value().reason == StopReason::kDiverged) return standstill(stop.value());
    const wire::DebugHit hit = stop.value().hit;
    if (hit.position.event != kNoEvent) {
      const auto arrived = seek(hit.position);
      if (!arrived) return arrived.error();
      return Standstill{
          hit.reason == StopReason::kWatch ? Standstill::Reason::kWatch : Standstill::Reason::kBreakpoint,
          hit};
    }
    end = begin;
  }
}

event::Result<Standstill> Timeline::step_backward() {
  context_.interrupted = false;
  const Spot origin = present_->spot();
  bool thorough = false;  // every instruction from the checkpoint on is looked at
  for (DebugPosition from = origin.position;;) {
    const int index = last_before(from, false);
    if (index < 0) {
      const auto arrived = seek_begin();
      if (!arrived) return arrived.error();
      return Standstill{Standstill::Reason::kBegin, {}};
    }
    const DebugPosition begin = checkpoints_[static_cast<std::size_t>(index)].process->spot().position;
    if (const auto gone = go_to(checkpoints_[static_cast<std::size_t>(index)]); !gone) return gone.error();
    // Checkpoints at growing distances: whoever goes one step back goes another.
    for (std::uint64_t gap = origin.total_ticks - present_->spot().total_ticks; gap > kNearest * 2;
         gap = origin.total_ticks - present_->spot().total_ticks) {
      wire::DebugRun run = run_to(origin.position, 0);
      run.budget = std::max(gap - std::max(gap / kFurtherBy, kNearest), std::uint64_t{1});
      const auto stop = this->run(run, false);
      if (!stop) return stop.error();
      if (stop.value().reason != StopReason::kBudget) break;
      if (const auto added = add_checkpoint(); !added) return added.error();
    }
    if (before(present_->spot().position, origin.position)) {
      const auto stop =
          run(run_to(origin.position, wire::kRunNotePrevious | (thorough ? wire::kRunStepAll : 0)), false);
      if (!stop) return stop.error();
      if (stop.value().reason == StopReason::kDiverged) return standstill(stop.value());
      if (stop.value().previous.event != kNoEvent) {
        const auto arrived = seek(stop.value().previous);
        if (!arrived) return arrived.error();
        return Standstill{Standstill::Reason::kStep, {}};
      }
    }
    if (thorough) from = begin;
    thorough = true;
  }
}

}  // namespace detrec::server
