// Where a thread's time slices end: plain, chaos, or replayed (PREEMPT-12 .. PREEMPT-18). Guest side: one
// object beside each guest thread, no knowledge of the scheduler.
#pragma once

#include "server/core/replay/preemption_record.h"

namespace detrec::core {

inline constexpr LogicalTime kDefaultMaxTimeslice{200'000'000};

struct ChaosConfig {
  bool enabled = false;
  bool race_targeted = false;
  LogicalTime mean{1'000'000};          ///< target (or maximum) timeslice
  double slowdown = 1.0;                ///< R of PREEMPT-16
  LogicalTime epoch_length;             ///< 0: always epoch 0
  std::uint32_t max_instructions = 16;  ///< chaos stops up to so many instructions after the tick (exclusive)
};

struct Slice {
  LogicalTime end;                 ///< local time; kIndefinite after the last recorded change
  std::optional<TickPoint> point;  ///< exact end, when known
  std::uint64_t ticks = 0;         ///< chaos: length in ticks
  std::uint32_t instructions = 0;  ///< chaos: instructions to step after the tick
  Priority priority;               ///< during the slice
};

/// PREEMPT-16: in [1/R, R], log-uniform, a pure function of its arguments; the same bits on every machine.
double slowdown_factor(double r, std::uint64_t scheduler_seed, ThreadId tid, std::uint64_t epoch);

/// Exponentially distributed with mean 1, by comparisons of uniform draws only (J. von Neumann 1951), so that
/// it does not depend on the machine's mathematical library.
double exponential_draw(RandomStream& stream);

class SlicePlan {
 public:
  static SlicePlan plain(LogicalTime maximum);
  static SlicePlan chaos(const ChaosConfig& config, std::uint64_t scheduler_seed, ThreadId tid,
                         Priority initial);
  static SlicePlan replay(PreemptionHistory history);

  /// The slice that starts at (`now`, `at`). A recorded end in the past is fatal (PREEMPT-13).
  Slice next(LogicalTime now, TickPoint at);
  /// Epoch changes since the last take, for the next priority point or the deregistration (PREEMPT-18).
  std::vector<ChaosEpoch> take_epochs();
  Factor factor() const { return factor_; }
  RandomStream& stream() { return stream_; }

 private:
  enum class Mode { kPlain, kChaos, kReplay };
  void evaluate_epoch(LogicalTime now);
  Mode mode_ = Mode::kPlain;
  LogicalTime maximum_ = kDefaultMaxTimeslice;
  ChaosConfig chaos_;
  std::uint64_t seed_ = 0;
  ThreadId tid_;
  RandomStream stream_;
  Priority priority_ = kDefaultPriority;
  bool first_ = true;
  std::uint64_t epoch_ = 0;
  Factor factor_;
  std::vector<ChaosEpoch> epochs_;
  PreemptionHistory history_;
  std::size_t next_change_ = 0;
  std::size_t next_epoch_ = 0;
};

/// Recorded epochs in order: the one that starts exactly by `now`, once (PREEMPT-17).
class EpochCursor {
 public:
  explicit EpochCursor(std::vector<ChaosEpoch> epochs) : epochs_(std::move(epochs)) {}
  std::optional<ChaosEpoch> advance(LogicalTime now);

 private:
  std::vector<ChaosEpoch> epochs_;
  std::size_t next_ = 0;
};

}  // namespace detrec::core
