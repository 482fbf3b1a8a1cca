#include "server/session/timeline.h"

#include <algorithm>

namespace detrec::server {
namespace {

using wire::DebugPosition;
using wire::StopReason;

/// Going forward leaves a checkpoint behind after so many ticks.
constexpr std::uint64_t kInterval = 20'000'000;
/// Going back leaves one so far before where it goes, and others at growing distances.
constexpr std::uint64_t kNearest = 2'000;
constexpr std::uint64_t kFurtherBy = 50;
/// After so many hits a search goes to the end of its piece first.
constexpr std::uint64_t kManyHits = 500;
/// A step back in a thread that waits for others goes through at most so many instructions of theirs.
constexpr int kMostOfOthers = 10'000;
constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

wire::DebugRun run_to(const DebugPosition& limit, std::uint32_t flags) {
  wire::DebugRun run{};
  run.flags = wire::kRunToLimit | wire::kRunPassSignals | flags;
  run.limit = limit;
  return run;
}

}  // namespace

Standstill standstill_of(const wire::DebugStop& stop, Standstill::Reason otherwise) {
  Standstill result{otherwise, stop.hit};
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
    case StopReason::kExited:
      result.reason = Standstill::Reason::kExited;
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
    default:
      break;
  }
  return result;
}

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
  timeline->stand();
  return timeline;
}

Timeline::~Timeline() = default;

// The present

Spot Timeline::spot() const { return trail_.at_end() ? present_->spot() : trail_.spot(); }

const ImageStart* Timeline::image() const {
  auto at = context_.images.upper_bound(spot().position.event);
  return at == context_.images.begin() ? nullptr : &std::prev(at)->second;
}

event::Result<std::size_t> Timeline::read_memory(std::uint64_t address, std::span<std::uint8_t> out) {
  const auto read = present_->read_memory(address, out);
  if (read) trail_.undo(address, out.first(read.value()));
  return read;
}

event::Result<wire::DebugRegisters> Timeline::read_registers(std::uint32_t thread) {
  auto registers = present_->read_registers(thread);
  if (!registers || trail_.at_end() || trail_.here().thread != thread) return registers;
  const wire::DebugTrailEntry& entry = trail_.here();
  std::copy(std::begin(entry.gpr), std::end(entry.gpr), registers.value().gpr);
  registers.value().rflags = entry.rflags;
  registers.value().pc = entry.position.pc;
  if (const auto read = present_->read_vectors(entry.vectors, registers.value()); !read) return read.error();
  return registers;
}

const std::vector<wire::DebugThread>& Timeline::threads() {
  if (!threads_) {
    auto threads = present_->threads();
    threads_ = threads ? std::move(threads.value()) : std::vector<wire::DebugThread>{};
  }
  return *threads_;
}

/// Makes stop_ what it is where we stand now.
void Timeline::stand() {
  stop_ = present_->last_stop();
  if (trail_.at_end()) return;
  stop_.reason = StopReason::kSteps;
  stop_.position = trail_.spot().position;
  stop_.total_ticks = trail_.spot().total_ticks;
}

void Timeline::interrupt() {
  context_.interrupted = true;
  if (std::uint32_t* word = context_.interruptible) std::atomic_ref(*word).store(1);
}

// Running the present

void Timeline::set_points(std::vector<std::uint64_t> breakpoints, std::vector<wire::DebugWatch> watches) {
  points_.breakpoints = std::move(breakpoints);
  points_.watches = std::move(watches);
  ++points_.version;
}

event::Status Timeline::send_points(bool with_points) {
  const std::uint64_t wanted = with_points && !points_.empty() ? points_.version : 0;
  if (present_points_ == wanted) return event::Done{};
  const Points none;
  const Points& points = wanted != 0 ? points_ : none;
  if (const auto sent = present_->set_breakpoints(points.breakpoints); !sent) return sent.error();
  if (const auto sent = present_->set_watchpoints(points.watches); !sent) return sent.error();
  present_points_ = wanted;
  return event::Done{};
}

/// Until something is met.
wire::DebugRun Timeline::run_freely() const {
  wire::DebugRun run{};
  run.quiet_signals = quiet_signals_;
  return run;
}

wire::DebugRun Timeline::search_to(const DebugPosition& limit, std::uint32_t flags) const {
  wire::DebugRun run = run_freely();
  run.flags = wire::kRunToLimit | flags;
  run.limit = limit;
  return run;
}

event::Result<wire::DebugStop> Timeline::run(wire::DebugRun run, bool with_points) {
  trail_.clear();
  threads_.reset();
  if ((run.flags & wire::kRunIgnorePoints) == 0) {
    if (const auto sent = send_points(with_points); !sent) return sent.error();
  }
  for (;;) {
    const std::uint64_t begin = present_->spot().total_ticks;
    auto stop = present_->run(run);
    if (!stop) return stop;
    if (stop.value().reason != StopReason::kImage) {
      stand();
      return stop;
    }
    // What the image before has used of the budget; 0 would be no budget at all.
    const std::uint64_t used = stop.value().total_ticks - begin;
    if (run.budget != 0) run.budget = run.budget > used ? run.budget - used : 1;
    present_points_ = 0;
    if (const auto sent = send_points(with_points); !sent) return sent.error();
    if (run.steps != 0) {  // the execve was one
      stop.value().reason = StopReason::kSteps;
      stand();
      return stop;
    }
    run.flags |= wire::kRunContinue;
  }
}

/// The same, leaving checkpoints behind.
event::Result<wire::DebugStop> Timeline::run_with_checkpoints(wire::DebugRun run, bool with_points) {
  run.budget = kInterval;
  for (;;) {
    auto stop = this->run(run, with_points);
    if (!stop || stop.value().reason != StopReason::kBudget) return stop;
    if (const auto added = add_checkpoint(); !added) return added.error();
  }
}

event::Status Timeline::add_checkpoint() {
  const Spot here = present_->spot();
  if (checkpoints_.any_at(here.position)) return event::Done{};
  auto copy = present_->split(checkpoints_.free_slot(present_.get()));
  if (!copy) return copy.error();
  checkpoints_.add({std::move(copy.value()), present_points_}, here);
  return event::Done{};
}

/// Runs on towards `before`, leaving checkpoints at shrinking distances from it: whoever goes back from there
/// once does it again.
event::Status Timeline::lay_checkpoints(const Spot& before) {
  for (;;) {
    const std::uint64_t here = present_->spot().total_ticks;
    if (before.total_ticks <= here + kNearest * 2) return event::Done{};
    const std::uint64_t gap = before.total_ticks - here;
    wire::DebugRun run = run_to(before.position, 0);
    run.budget = gap - std::max(gap / kFurtherBy, kNearest);
    const auto stop = this->run(run, false);
    if (!stop) return stop.error();
    if (stop.value().reason != StopReason::kBudget) return event::Done{};
    if (const auto added = add_checkpoint(); !added) return added.error();
  }
}

event::Status Timeline::go_to(const Checkpoint& checkpoint) {
  auto copy = checkpoint.process->split(checkpoints_.free_slot(present_.get()));
  if (!copy) return copy.error();
  trail_.clear();
  threads_.reset();
  present_points_ = checkpoint.points_version;
  present_ = std::move(copy.value());
  stand();
  return event::Done{};
}

/// Makes the process stand where we do.
event::Status Timeline::leave_trail() {
  if (trail_.at_end()) return event::Done{};
  const DebugPosition here = trail_.spot().position;
  trail_.clear();
  const auto arrived = seek(here);
  if (!arrived) return arrived.error();
  return event::Done{};
}

// Motions

event::Result<Standstill> Timeline::go_forward() {
  if (const auto left = leave_trail(); !left) return left.error();
  const auto stop = run_with_checkpoints(run_freely(), true);
  if (!stop) return stop.error();
  return standstill_of(stop.value());
}

event::Result<Standstill> Timeline::step_forward(const Step& step) {
  const bool one = step.range_begin >= step.range_end;
  if (!trail_.at_end() && one && points_.watches.empty()) {
    trail_.step_on();
    stand();
    return Standstill{Standstill::Reason::kStep, {}};
  }
  if (const auto left = leave_trail(); !left) return left.error();
  wire::DebugRun run = run_freely();
  run.steps = 1;
  run.thread = step.thread;
  if (!one) run.range_begin = step.range_begin, run.range_end = step.range_end;
  const auto stop = this->run(run, true);
  if (!stop) return stop.error();
  return standstill_of(stop.value());
}

event::Result<Standstill> Timeline::seek(const DebugPosition& to) {
  if (trail_.go_to(to)) {
    stand();
    return Standstill{};
  }
  const DebugPosition here = present_->spot().position;
  const Checkpoint* near = checkpoints_.last_before(to, true);
  if (near == nullptr) near = &checkpoints_.first();
  if (to < here || here < near->spot().position) {
    if (const auto gone = go_to(*near); !gone) return gone.error();
  }
  if (present_->spot().position >= to) {
    trail_.clear();
    stand();
    return Standstill{};
  }
  const auto stop = run_with_checkpoints(run_to(to, 0), false);
  if (!stop) return stop.error();
  return standstill_of(stop.value());
}

event::Status Timeline::keep_checkpoint() {
  if (const auto left = leave_trail(); !left) return left;
  return add_checkpoint();
}

std::uint64_t Timeline::wall_time() const {
  const auto after = context_.times.upper_bound(spot().position.event);
  return after == context_.times.begin() ? 0 : std::prev(after)->second;
}

event::Result<std::unique_ptr<GuestProcess>> Timeline::split_diversion() {
  if (const auto left = leave_trail(); !left) return left.error();
  auto copy = present_->split(kDiversionSlot);
  if (copy) copy.value()->leave_recording();
  return copy;
}

event::Result<Standstill> Timeline::seek_begin() { return seek(checkpoints_.first().spot().position); }

/// After an interrupt: back to where the search began.
event::Result<Standstill> Timeline::give_up(const Spot& origin) {
  context_.interrupted = false;
  const auto back = seek(origin.position);
  if (!back) return back.error();
  return Standstill{Standstill::Reason::kInterrupted, {}};
}

event::Result<Standstill> Timeline::go_backward(const Filter& filter) {
  if (!filter && points_.watches.empty() && trail_.go_back_to(points_.breakpoints)) {
    stand();
    wire::DebugHit hit{};
    hit.position = spot().position;
    return Standstill{Standstill::Reason::kBreakpoint, hit};
  }
  const Spot origin = spot();
  for (Spot end = origin;;) {
    const Checkpoint* from = checkpoints_.last_before(end.position, false);
    if (from == nullptr) {
      const auto arrived = seek_begin();
      if (!arrived) return arrived.error();
      return Standstill{Standstill::Reason::kBegin, {}};
    }
    const Spot begin = from->spot();
    if (const auto gone = go_to(*from); !gone) return gone.error();
    const auto found = search(end, filter);
    if (!found) return found.error();
    if (found.value().end == StopReason::kInterrupted) return give_up(origin);
    if (found.value().end == StopReason::kDiverged) return standstill_of(stop_);
    if (found.value().hit) return arrive(*found.value().hit);
    end = begin;
  }
}

/// The last hit from the present to before `end`. The present is somewhere there afterwards.
event::Result<Timeline::Found> Timeline::search(const Spot& end, const Filter& filter) {
  return filter ? search_each(end, filter) : search_last(end);
}

event::Result<Timeline::Found> Timeline::search_last(const Spot& end) {
  wire::DebugRun run = search_to(end.position, wire::kRunNoteHits);
  const std::uint64_t begin = present_->spot().total_ticks;
  if (end.total_ticks > begin + 2 * kNearest) run.most_hits = kManyHits;
  const auto stop = this->run(run, true);
  if (!stop) return stop.error();
  Found found;
  found.end = stop.value().reason;
  if (stop.value().hit.position.event != kNoEvent) found.hit = stop.value().hit;
  if (found.end != StopReason::kHits) return found;

  // They abound: most of this piece need not be looked at.
  const Spot middle = present_->spot();
  if (const auto added = add_checkpoint(); !added) return added.error();
  if (const auto laid = lay_checkpoints(end); !laid) return laid.error();
  for (Spot piece_end = end;;) {
    const Checkpoint* from = checkpoints_.last_before(piece_end.position, false);
    if (from == nullptr || from->spot().position < middle.position) return found;
    const Spot piece_begin = from->spot();
    if (const auto gone = go_to(*from); !gone) return gone.error();
    auto in_piece = search_last(piece_end);
    if (!in_piece || in_piece.value().hit || in_piece.value().broken_off()) return in_piece;
    piece_end = piece_begin;
  }
}

event::Result<Timeline::Found> Timeline::search_each(const Spot& end, const Filter& filter) {
  Found found;
  wire::DebugRun run = search_to(end.position, wire::kRunContinue);  // what is right here counts
  for (;;) {
    const auto stop = this->run(run, true);
    if (!stop) return stop.error();
    found.end = stop.value().reason;
    const bool signal = found.end == StopReason::kSignal;
    if (!signal && found.end != StopReason::kBreakpoint && found.end != StopReason::kWatch) return found;
    if (signal || filter(stop.value().hit)) found.hit = stop.value().hit;
    run.flags &= ~wire::kRunContinue;
  }
}

/// To where the signal has arrived and is not delivered yet, which no position tells from what comes before.
event::Result<Standstill> Timeline::arrive_at_signal(const wire::DebugHit& hit) {
  const auto arrived = seek(hit.position);
  if (!arrived || arrived.value().reason != Standstill::Reason::kArrived) return arrived;
  if (const auto left = leave_trail(); !left) return left.error();
  const auto stop = run(wire::DebugRun{}, false);
  if (!stop) return stop.error();
  return standstill_of(stop.value());
}

event::Result<Standstill> Timeline::arrive(const wire::DebugHit& hit) {
  if (hit.reason == StopReason::kSignal) return arrive_at_signal(hit);
  // A call is left backwards to whatever came before its end, which may be another thread.
  const Spot after{hit.position, hit.total_ticks};
  const auto arrived = hit.after_call != 0 ? back_from(after) : seek(hit.position);
  if (!arrived) return arrived.error();
  if (arrived.value().reason == Standstill::Reason::kInterrupted ||
      arrived.value().reason == Standstill::Reason::kDiverged)
    return arrived;
  return Standstill{
      hit.reason == StopReason::kWatch ? Standstill::Reason::kWatch : Standstill::Reason::kBreakpoint, hit};
}

event::Result<Standstill> Timeline::step_backward() {
  const std::uint32_t thread = stop_.thread;
  for (int i = 0; i < kMostOfOthers; ++i) {
    if (!trail_.at_begin()) {
      trail_.step_back();
      stand();
    } else {
      const Spot origin = spot();
      const auto gone = back_from(origin);
      if (!gone || gone.value().reason != Standstill::Reason::kStep) return gone;
    }
    if (stop_.thread == thread || interrupt_wanted()) break;
    const auto& alive = threads();
    if (std::none_of(alive.begin(), alive.end(), [&](const auto& t) { return t.number == thread; })) break;
  }
  return Standstill{Standstill::Reason::kStep, {}};
}

/// To the position before `origin`, whatever thread's that is.
event::Result<Standstill> Timeline::back_from(const Spot& origin) {
  bool thorough = false;  // every instruction from the checkpoint on is looked at
  for (DebugPosition from = origin.position;;) {
    const Checkpoint* checkpoint = checkpoints_.last_before(from, false);
    if (checkpoint == nullptr) {
      const auto arrived = seek_begin();
      if (!arrived) return arrived.error();
      return Standstill{Standstill::Reason::kBegin, {}};
    }
    const DebugPosition begin = checkpoint->spot().position;
    if (const auto gone = go_to(*checkpoint); !gone) return gone.error();
    if (const auto laid = lay_checkpoints(origin); !laid) return laid.error();
    if (present_->spot().position < origin.position) {
      const std::uint32_t flags = wire::kRunNotePrevious | (thorough ? wire::kRunStepAll : 0);
      const auto stop = run(run_to(origin.position, flags), false);
      if (!stop) return stop.error();
      if (stop.value().reason == StopReason::kInterrupted) return give_up(origin);
      if (stop.value().reason == StopReason::kDiverged) return standstill_of(stop.value());
      if (stop.value().trail != 0 && stop.value().position == origin.position) {
        auto entries = present_->trail();
        if (!entries) return entries.error();
        trail_.set(std::move(entries.value()));
      }
      if (!trail_.at_begin()) {
        trail_.step_back();
        stand();
        return Standstill{Standstill::Reason::kStep, {}};
      }
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
