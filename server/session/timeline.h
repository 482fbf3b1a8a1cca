// Going anywhere in a recorded run, forwards and backwards.
//
// The present is one process; checkpoints are forks of it, standing still. Going back means splitting a new
// present off the nearest earlier checkpoint and running it forward, to a point from which a trail leads
// back: the last instructions with what they have overwritten. On the trail the process itself stands still
// ahead. Functions block; interrupt() may come from another thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "server/session/checkpoints.h"
#include "server/session/guest_process.h"
#include "server/session/trail.h"

namespace detrec::server {

/// Where and why the timeline stands still.
struct Standstill {
  enum class Reason {
    kStep,
    kBreakpoint,
    kWatch,
    kSignal,
    kInterrupted,
    kBegin,
    kEnd,
    kDiverged,
    kArrived,
    kExited  ///< the program of a diversion
  };
  Reason reason = Reason::kArrived;
  wire::DebugHit hit{};  ///< of kBreakpoint, kWatch and kSignal
};

/// What a stop of the process means; `otherwise` for the reasons that are nobody's but the asker's.
Standstill standstill_of(const wire::DebugStop& stop,
                         Standstill::Reason otherwise = Standstill::Reason::kArrived);

/// How to step forward.
struct Step {
  std::uint32_t thread = 0;                      ///< number of the one that steps; 0: whoever has the turn
  std::uint64_t range_begin = 0, range_end = 0;  ///< not empty: until its pc leaves this
};

class Timeline {
 public:
  /// Asked with the timeline standing at a breakpoint, or behind the access to what is watched: does it
  /// count?
  using Filter = std::function<bool(const wire::DebugHit&)>;

  /// Starts a replay, which stands before its first instruction.
  static event::Result<std::unique_ptr<Timeline>> start(const ReplayChannel& channel,
                                                        storage::TraceReader& reader, const Content& content);
  ~Timeline();

  // The present

  Spot spot() const;
  /// The thread that has the turn here, and why it last stopped.
  const wire::DebugStop& last_stop() const { return stop_; }
  std::string message() const { return present_->message(); }
  /// The image that runs here.
  const ImageStart* image() const;
  event::Result<std::size_t> read_memory(std::uint64_t address, std::span<std::uint8_t> out);
  event::Result<wire::DebugRegisters> read_registers(std::uint32_t thread);
  const std::vector<wire::DebugThread>& threads();
  event::Result<std::vector<GuestProcess::Mapping>> mappings() { return present_->mappings(); }

  // Motions. Each begins with begin_motion(), which may come earlier and from another thread.

  void begin_motion() { context_.interrupted = false; }
  void set_points(std::vector<std::uint64_t> breakpoints, std::vector<wire::DebugWatch> watches);
  /// Bit n - 1: signal n does not stop a motion, in either direction.
  void set_quiet_signals(std::uint64_t mask) { quiet_signals_ = mask; }

  event::Result<Standstill> go_forward();
  event::Result<Standstill> step_forward(const Step& step);
  /// With `filter` every hit on the way is looked at; without, only the last one matters, which is faster.
  event::Result<Standstill> go_backward(const Filter& filter);
  event::Result<Standstill> step_backward();
  /// The position, or the first one behind it that exists; kEnd when there is none.
  event::Result<Standstill> seek(const wire::DebugPosition& to);
  event::Result<Standstill> seek_begin();
  /// Leaves a checkpoint here, from which one goes on later.
  event::Status keep_checkpoint();

  /// When this position was recorded, in nanoseconds since 1970; 0: the trace does not say.
  std::uint64_t wall_time() const;
  /// A copy of the process that stands here, which is to become a diversion. There is one at a time.
  event::Result<std::unique_ptr<GuestProcess>> split_diversion();

  /// interrupt() was called since the last motion began.
  bool interrupt_wanted() const { return context_.interrupted; }
  /// What runs stops soon. May be called at any time.
  void interrupt();

 private:
  Timeline(const ReplayChannel& channel, storage::TraceReader& reader, const Content& content)
      : context_{channel, reader, content, {}, {}, {}, {}} {}

  struct Points {
    std::uint64_t version = 0;
    std::vector<std::uint64_t> breakpoints;
    std::vector<wire::DebugWatch> watches;
    bool empty() const { return breakpoints.empty() && watches.empty(); }
  };
  /// Of a search in one piece of the past.
  struct Found {
    std::optional<wire::DebugHit> hit;  ///< the last one
    wire::StopReason end = wire::StopReason::kLimit;
    bool broken_off() const {
      return end == wire::StopReason::kInterrupted || end == wire::StopReason::kDiverged;
    }
  };

  wire::DebugRun run_freely() const;
  wire::DebugRun search_to(const wire::DebugPosition& limit, std::uint32_t flags) const;
  event::Result<wire::DebugStop> run(wire::DebugRun run, bool with_points);
  event::Result<wire::DebugStop> run_with_checkpoints(wire::DebugRun run, bool with_points);
  event::Status send_points(bool with_points);
  event::Status add_checkpoint();
  event::Status lay_checkpoints(const Spot& before);
  event::Status go_to(const Checkpoint& checkpoint);
  event::Status leave_trail();
  event::Result<Found> search(const Spot& end, const Filter& filter);
  event::Result<Found> search_last(const Spot& end);
  event::Result<Found> search_each(const Spot& end, const Filter& filter);
  event::Result<Standstill> arrive(const wire::DebugHit& hit);
  event::Result<Standstill> arrive_at_signal(const wire::DebugHit& hit);
  event::Result<Standstill> back_from(const Spot& origin);
  event::Result<Standstill> give_up(const Spot& origin);
  void stand();

  SessionContext context_;
  Points points_;
  std::uint64_t quiet_signals_ = 0;
  Checkpoints checkpoints_;
  std::unique_ptr<GuestProcess> present_;
  std::uint64_t present_points_ = 0;
  Trail trail_;             ///< leads to where present_ stands
  wire::DebugStop stop_{};  ///< of the process, or made up for a point on the trail
  std::optional<std::vector<wire::DebugThread>> threads_;  ///< of present_, once asked for
};

}  // namespace detrec::server
