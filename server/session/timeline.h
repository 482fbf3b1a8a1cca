// Going anywhere in a recorded run, forwards and backwards.
//
// The present is one process; checkpoints are forks of it, standing still. Going back means splitting a new
// present off the nearest earlier checkpoint and running it forward. Functions block; interrupt() may come
// from another thread.
#pragma once

#include <memory>
#include <vector>

#include "server/session/guest_process.h"

namespace detrec::server {

/// Where and why the timeline stands still.
struct Standstill {
  enum class Reason { kStep, kBreakpoint, kWatch, kSignal, kInterrupted, kBegin, kEnd, kDiverged, kArrived };
  Reason reason = Reason::kArrived;
  wire::DebugHit hit{};  ///< of kBreakpoint and kWatch
};

class Timeline {
 public:
  /// Starts a replay, which stands before its first instruction.
  static event::Result<std::unique_ptr<Timeline>> start(const ReplayChannel& channel,
                                                        storage::TraceReader& reader, const Content& content);
  ~Timeline();

  GuestProcess& present() { return *present_; }
  Spot spot() const { return present_->spot(); }
  /// The image that runs at the present position.
  const ImageStart* image() const;

  void set_points(std::vector<std::uint64_t> breakpoints, std::vector<wire::DebugWatch> watches);

  event::Result<Standstill> go_forward();
  event::Result<Standstill> step_forward(std::uint64_t instructions = 1);
  event::Result<Standstill> go_backward();
  event::Result<Standstill> step_backward();
  /// The position, or the first one behind it that exists; kEnd when there is none.
  event::Result<Standstill> seek(const wire::DebugPosition& to);
  event::Result<Standstill> seek_begin();

  /// interrupt() was called since the last motion began.
  bool interrupt_wanted() const { return context_.interrupted; }
  /// What runs stops soon. May be called at any time.
  void interrupt();

 private:
  Timeline(const ReplayChannel& channel, storage::TraceReader& reader, const Content& content)
      : context_{channel, reader, content, {}, {}, {}} {}

  struct Points {
    std::uint64_t version = 0;
    std::vector<std::uint64_t> breakpoints;
    std::vector<wire::DebugWatch> watches;
  };
  struct Checkpoint {
    std::unique_ptr<GuestProcess> process;
    std::uint64_t points_version = 0;
  };

  event::Result<wire::DebugStop> run(wire::DebugRun run, bool with_points);
  event::Result<wire::DebugStop> run_with_checkpoints(wire::DebugRun run, bool with_points);
  event::Status send_points(bool with_points);
  event::Status add_checkpoint();
  void thin_checkpoints();
  event::Status go_to(const Checkpoint& checkpoint);
  /// The last checkpoint before `position` (or at it, with `or_at`); index, -1: none.
  int last_before(const wire::DebugPosition& position, bool or_at) const;
  std::uint32_t free_slot() const;

  SessionContext context_;
  Points points_;
  std::vector<Checkpoint> checkpoints_;  ///< by position; the first stands at the beginning
  std::unique_ptr<GuestProcess> present_;
  std::uint64_t present_points_ = 0;
};

}  // namespace detrec::server
