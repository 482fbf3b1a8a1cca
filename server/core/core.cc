#include "server/core/core.h"

#include <algorithm>

namespace detrec::core {
namespace {

CoreConfig checked(CoreConfig config) {
  // SHUT-3: only the sequential mode has a loop that somebody else drives.
  check(config.sequentialize_threads, "a core without sequential mode cannot be driven from outside");
  check(!config.replay_preemptions || !config.replay_schedule,
        "replaying preemptions and replaying a schedule exclude each other");  // PREEMPT-11
  if (config.replay_preemptions) {                                             // PREEMPT-5
    if (const auto reason = config.replay_preemptions->invalid())
      fatal("invalid preemption record: {}", *reason);
  }
  if (config.pct.depth != 0) {
    // Its guarantee rests on priorities that nobody else sets, and on selection by them alone.
    check(config.pct.depth <= PctConfig::kMaxDepth, "the depth of a PCT run is too large");
    check(config.queue_policy == QueuePolicy::kRoundRobin, "PCT selects by priority");
    check(!config.chaos.enabled && !config.chaos.race_targeted && !config.replay_preemptions &&
              !config.replay_schedule,
          "PCT, chaos and guided runs exclude each other");
  }
  std::sort(config.stack_points.begin(), config.stack_points.end());
  return config;
}

}  // namespace

Core::Core(CoreConfig config)
    : config_(checked(std::move(config))),
      queue_(arena_, {config_.queue_policy, config_.sticky, config_.effective_scheduler_seed()}, config_.log),
      futexes_(arena_),
      clock_(config_.epoch, config_.multiplier),
      fuzz_(RandomStream::derive(config_.effective_fuzz_seed(), 7)),
      committed_(config_.epoch),
      ports_(config_.port_range),
      inodes_(config_.epoch),
      mounts_(config_.mount_orders),
      unsupported_(config_.report_unsupported),
      host_start_(config_.host_time()) {
  if (config_.pct.depth != 0) pct_.emplace(config_.pct, config_.effective_scheduler_seed());
  if (config_.replay_schedule)
    replayer_.emplace(*config_.replay_schedule, config_.replay_stop, config_.stop_when_exhausted);
  if (config_.record_preemptions || config_.record_schedule || config_.record_destination != nullptr)
    writer_ = std::make_unique<PreemptionWriter>(config_.record_destination);
}

Core::~Core() {  // SHUT-6, UNSUP-4
  if (config_.log == nullptr) return;
  if (const std::string warning = unsupported_.warning(); !warning.empty())
    config_.log->line(LogLevel::kWarning, warning);
  config_.log->line(LogLevel::kInfo, "core ends");
}

}  // namespace detrec::core
