// How a run is set up. Everything that is chosen from outside, seeds included.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "server/core/pools/mount_ids.h"
#include "server/core/pools/pools.h"
#include "server/core/replay/pct.h"
#include "server/core/replay/replayer.h"
#include "server/core/replay/slices.h"

namespace detrec::core {

/// DESIGN section 6. In kRun the clock is logical; in kRecord sleeps and timeouts wait on the host's clock,
/// each expiry comes as Core::host_expired; in kReplay the selections are those of a log, and every mismatch
/// stops.
enum class RunPolicy : std::uint8_t { kRun, kRecord, kReplay };

/// One committed selection of the scheduler, or the end of a wait on the host's clock: the log of a recording
/// (policy kRecord or kRun), input of kReplay.
struct Decision {
  enum class Outcome : std::uint8_t { kGrant, kBackground, kRequeue, kPark, kPriority, kDefer, kExpire };
  ThreadId tid;
  ResourceKind kind = ResourceKind::kYield;
  bool plain = false;  ///< a request without resource
  Outcome outcome = Outcome::kGrant;
  friend bool operator==(const Decision&, const Decision&) = default;
};

struct CoreConfig {
  RunPolicy policy = RunPolicy::kRun;
  bool sequentialize_threads = true;  ///< false is refused: only sequential backends exist here (SHUT-3)
  bool cancel_killed_requests = true;
  bool controlled = true;  ///< a signal control object may be installed
  bool reports_physical_exits = true;
  bool ticks_counted = true;
  bool virtual_time = true;
  bool virtual_metadata = true;
  LogicalTime epoch = kDefaultEpoch;
  Factor multiplier;

  QueuePolicy queue_policy = QueuePolicy::kRoundRobin;
  double sticky = 0.0;
  PostForkPolicy post_fork = PostForkPolicy::kChildFirst;  // FORK-10
  std::uint64_t master_seed = 0;
  std::optional<std::uint64_t> scheduler_seed;
  std::optional<std::uint64_t> fuzz_seed;
  ChaosConfig chaos;
  bool shuffle_futexes = false;
  PctConfig pct;
  LogicalTime max_timeslice = kDefaultMaxTimeslice;

  bool record_schedule = false;
  bool record_preemptions = false;
  RecordDestination* record_destination = nullptr;  ///< outlives the core
  std::optional<PreemptionRecord> replay_preemptions;
  std::optional<std::vector<ScheduleEvent>> replay_schedule;
  ReplayStop replay_stop = ReplayStop::kNever;
  bool stop_when_exhausted = false;
  std::vector<std::uint64_t> stack_points;
  std::optional<Signal> stack_signal;
  bool log_decisions = false;
  std::vector<Decision> decisions;  ///< dictated, in kReplay

  std::optional<std::uint64_t> stop_after_turn;
  std::optional<std::uint64_t> stop_after_iteration;
  std::function<PortRange()> port_range = [] { return PortRange{}; };
  std::optional<MountOrders> mount_orders;
  std::function<void(const std::string&)> report_unsupported;
  std::function<LogicalTime()> host_time = [] { return LogicalTime{}; };  ///< for metadata times and SUM-11
  LogSink* log = nullptr;                                                 ///< outlives the core

  std::uint64_t effective_scheduler_seed() const { return scheduler_seed.value_or(master_seed); }
  std::uint64_t effective_fuzz_seed() const { return fuzz_seed.value_or(master_seed); }
  bool chaotic() const { return chaos.enabled || pct.depth != 0; }
};

}  // namespace detrec::core
