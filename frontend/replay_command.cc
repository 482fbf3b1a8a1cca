#include "frontend/replay_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "frontend/complain.h"
#include "frontend/divergence_report.h"
#include "frontend/launch/launch_page.h"
#include "frontend/launch/supervisor.h"
#include "frontend/replay_input.h"
#include "frontend/replay_server.h"
#include "frontend/report.h"
#include "frontend/trace_command.h"
#include "server/replay/feeder.h"

namespace detrec::frontend {
namespace {

int status_of_end(const wire::ReplayedEnd& end) {
  return end.by_signal != 0 ? 128 + end.status : end.status & 0xff;
}

/// Whether the user has ended it, and not an error.
bool was_interrupted(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return false;
  const int signal = WTERMSIG(wait_status);
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
}

int replay_at_full_speed(const std::string& trace, storage::TraceReader& reader,
                         const ReplayOptions& options) {
  const auto input = ReplayInput::open(reader);
  if (!input) return complain(input.error());
  RunOptions run;
  run.no_translation_cache = options.no_translation_cache;
  auto page = LaunchPage::create(run, input.value().engine, wire::ChannelMode::kReplay);
  if (!page) return complain(page.error());
  wire::Launch& launch = page.value().get();
  input.value().describe(launch, reader);
  auto ring = server::Ring::map(page.value().descriptor(), launch);
  if (!ring) return complain(ring.error());

  server::Feeder feeder(std::move(ring.value()), reader, input.value().content, true);
  Attachments attachments;
  attachments.content = input.value().content.descriptor();
  attachments.on_started = [&](pid_t child) { feeder.start(child); };
  const auto wait_status = run_engine(input.value().engine, page.value(), trace, {trace}, attachments);
  if (!wait_status) return complain(wait_status.error());
  if (const auto error = feeder.finish()) return complain({kExitOwnFailure, to_string(*error), trace});

  switch (launch.phase) {
    case wire::LaunchPhase::kReplayed:
      if (launch.message[0] != 0) return complain({kExitOwnFailure, launch.message, trace});
      return status_of_end(launch.replayed_end);
    case wire::LaunchPhase::kDiverged:
      std::fputs(format_divergence(launch.divergence, message_of(launch), reader).c_str(), stderr);
      return kExitOwnFailure;
    default:
      break;
  }
  if (was_interrupted(wait_status.value()))
    return complain({status_of(wait_status.value()), "the replay was interrupted", trace});
  const Outcome outcome = judge(launch, wait_status.value(), {});
  std::fputs(outcome.text.c_str(), stderr);
  return complain({kExitOwnFailure,
                   fmt::format("the replay ended before the recorded end (status {})", outcome.exit_status),
                   trace});
}

}  // namespace

ReplayCommand::ReplayCommand(CLI::App& parent) {
  CLI::App* replay = parent.add_subcommand("replay", "Repeat a recorded run");
  replay->add_flag("-a,--autopilot", options_.autopilot,
                   "Repeat it at full speed, with its output, and exit with its status");
  replay->add_flag("-g,--gdb", options_.gdb, "Start gdb on it");
  replay->add_flag("--stdio", options_.stdio,
                   "Serve gdb on stdin and stdout: target remote | detrec replay --stdio TRACE");
  replay->add_flag("--no-translation-cache", options_.no_translation_cache,
                   "Use no translated code of earlier runs");
  replay->add_option("--port", options_.port, "Where to serve gdb; 0: any free port")->capture_default_str();
  replay->add_option("--listen", options_.listen, "The address to serve gdb on")->capture_default_str();
  add_trace_argument(*replay, options_.trace);
  replay->footer(
      "Examples:\n"
      "  detrec replay                 # then: gdb -ex 'target extended-remote :1234'\n"
      "  detrec replay -g crash.detrec\n"
      "  detrec replay -a crash.detrec");
}

Result<ReplayOptions> ReplayCommand::finish() {
  if (options_.autopilot + options_.gdb + options_.stdio > 1)
    return Error{kExitOwnFailure, "of -a, -g and --stdio one is possible", "replay"};
  return options_;
}

int execute(const ReplayOptions& options) {
  const auto trace = trace_or_newest(options.trace);
  if (!trace) return complain(trace.error());
  const auto reader = storage::TraceReader::open(trace.value());
  if (!reader) return complain(reader.error());
  return options.autopilot ? replay_at_full_speed(trace.value(), *reader.value(), options)
                           : serve_debugger(trace.value(), *reader.value(), options);
}

}  // namespace detrec::frontend
