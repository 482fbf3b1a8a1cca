#include "frontend/report.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

namespace detrec::frontend {
namespace {

/// How a process ended, for people: "status 3" or "signal 11".
std::string describe(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("signal {}", WTERMSIG(wait_status));
  return fmt::format("status {}", WEXITSTATUS(wait_status));
}

int failure_status_of(const wire::Launch& launch) {
  const int status = launch.failure_status;
  return status >= kExitOwnFailure && status <= kExitNotFound ? status : kExitOwnFailure;
}

std::string format_ticks(const wire::Launch& launch, int wait_status) {
  // A process that is killed from outside has no moment to write its ticks.
  if (launch.ticks == 0 && WIFSIGNALED(wait_status)) return "ticks: unknown\n";
  return fmt::format("ticks: {}\n", launch.ticks);
}

}  // namespace

int status_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

std::string_view message_of(const wire::Launch& launch) {
  // It was written from inside a dying process, so its termination is not taken for granted.
  const std::string_view text(launch.message, strnlen(launch.message, sizeof launch.message));
  return text.empty() ? "the engine failed and left no message" : text;
}

std::string_view kept_warnings_of(const wire::Launch& launch) {
  return {launch.kept_warnings, std::min<std::size_t>(launch.kept_bytes, sizeof launch.kept_warnings)};
}

std::string format_stats(const wire::EngineStats& stats) {
  struct Row {
    std::string_view name;
    std::uint64_t value;
  };
  const Row rows[] = {
      {"blocks translated", stats.blocks_translated},
      {"instructions translated", stats.guest_instructions},
      {"guest code bytes", stats.guest_bytes},
      {"code cache bytes", stats.cache_bytes},
      {"translation time, ns", stats.translate_ns},
      {"blocks loaded", stats.blocks_loaded},
      {"instructions loaded", stats.instructions_loaded},
      {"loading time, ns", stats.load_ns},
      {"blocks stored", stats.blocks_stored},
      {"pages invalidated", stats.invalidations},
      {"exits: branch linked", stats.exits_link},
      {"exits: indirect miss", stats.exits_indirect},
      {"exits: tick budget", stats.exits_tick},
      {"exits: system call", stats.exits_syscall},
      {"exits: emulated", stats.exits_emulated},
      {"faults", stats.faults},
      {"signals delivered", stats.signals_delivered},
      {"threads", stats.threads},
  };
  static_assert(sizeof rows / sizeof rows[0] * sizeof(std::uint64_t) == sizeof stats,
                "a counter is not printed");
  std::string text;
  for (const Row& row : rows) text += fmt::format("{:<24} {:>20}\n", row.name, row.value);
  return text;
}

Outcome judge(const wire::Launch& launch, int wait_status, const RunOptions& options) {
  Outcome outcome;
  switch (launch.phase) {
    case wire::LaunchPhase::kFailed:
      outcome.exit_status = failure_status_of(launch);
      outcome.text = fmt::format("detrec: {}\n", message_of(launch));
      break;
    case wire::LaunchPhase::kStarting:
      // A signal from outside may end the process this early; so may a bug of the engine. Either way no guest
      // ran.
      outcome.exit_status = kExitOwnFailure;
      outcome.text =
          fmt::format("detrec: the engine ended before the program started ({})\n", describe(wait_status));
      return outcome;
    case wire::LaunchPhase::kStopped:
      outcome.text = fmt::format("stopped at ticks={} pc={:#x} registers={:016x}\n", launch.stop.ticks,
                                 launch.stop.pc, launch.stop.register_hash);
      break;
    case wire::LaunchPhase::kDiverged:
    case wire::LaunchPhase::kReplayed:
      break;  // of replays, which are judged elsewhere
    case wire::LaunchPhase::kRunning:
      outcome.exit_status = status_of(wait_status);
      if (options.stop_at) {
        outcome.text =
            fmt::format("detrec: the program ended before the stop position ({})\n", describe(wait_status));
      }
      break;
  }
  outcome.text.insert(0, kept_warnings_of(launch));
  if (options.print_ticks) outcome.text += format_ticks(launch, wait_status);
  if (options.print_stats) outcome.text += format_stats(launch.stats);
  return outcome;
}

}  // namespace detrec::frontend
