#include "frontend/replay_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>

#include "frontend/cpu_level.h"
#include "frontend/divergence_report.h"
#include "frontend/launch/engine_image.h"
#include "frontend/launch/launch_page.h"
#include "frontend/launch/supervisor.h"
#include "frontend/replay_server.h"
#include "frontend/report.h"
#include "frontend/trace_files.h"
#include "server/replay/feeder.h"

namespace detrec::frontend {
namespace {

int fail(const Error& error) {
  std::fputs(fmt::format("detrec: {}\n", to_string(error)).c_str(), stderr);
  return error.code;
}

int fail(const event::Error& error) { return fail({kExitOwnFailure, to_string(error), {}}); }

int status_of_end(const wire::ReplayedEnd& end) {
  return end.by_signal != 0 ? 128 + end.status : end.status & 0xff;
}

int replay_at_full_speed(const std::string& trace, storage::TraceReader& reader) {
  const auto engine = EngineImage::open();
  if (!engine) return fail(engine.error());
  const auto content = server::Content::load(reader);
  if (!content) return fail(content.error());
  auto page = LaunchPage::create({}, engine.value(), wire::ChannelMode::kReplay);
  if (!page) return fail(page.error());
  wire::Launch& launch = page.value().get();
  launch.content_fd = content.value().descriptor();
  launch.content_bytes = content.value().bytes();
  launch.cpu_level = cpu_level_of(reader.recording().text("cpu_model"));
  auto ring = server::Ring::map(page.value().descriptor(), launch);
  if (!ring) return fail(ring.error());

  server::Feeder feeder(std::move(ring.value()), reader, content.value(), true);
  Attachments attachments;
  attachments.content = content.value().descriptor();
  attachments.on_started = [&](pid_t child) { feeder.start(child); };
  const auto wait_status = run_engine(engine.value(), page.value(), trace, {trace}, attachments);
  if (!wait_status) return fail(wait_status.error());
  if (const auto error = feeder.finish()) return fail({kExitOwnFailure, to_string(*error), trace});

  switch (launch.phase) {
    case wire::LaunchPhase::kReplayed:
      if (launch.message[0] != 0) return fail({kExitOwnFailure, launch.message, trace});
      return status_of_end(launch.replayed_end);
    case wire::LaunchPhase::kDiverged:
      std::fputs(format_divergence(launch, reader).c_str(), stderr);
      return kExitOwnFailure;
    default:
      break;
  }
  const Outcome outcome = judge(launch, wait_status.value(), {});
  std::fputs(outcome.text.c_str(), stderr);
  return fail({kExitOwnFailure,
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
  replay->add_option("--port", options_.port, "Where to serve gdb; 0: any free port")->capture_default_str();
  replay->add_option("--listen", options_.listen, "The address to serve gdb on")->capture_default_str();
  replay->add_option("TRACE", options_.trace, "The trace; default: the newest in this directory")
      ->type_name("");
  replay->footer(
      "Examples:\n"
      "  detrec replay                 # then: gdb -ex 'target extended-remote :1234'\n"
      "  detrec replay -g crash.detrec\n"
      "  detrec replay -a crash.detrec");
}

Result<ReplayOptions> ReplayCommand::finish() { return options_; }

int execute(const ReplayOptions& options) {
  std::string trace = options.trace;
  if (trace.empty()) {
    const auto newest = newest_trace();
    if (!newest) return fail(newest.error());
    trace = newest.value().string();
  }
  const auto reader = storage::TraceReader::open(trace);
  if (!reader) return fail(reader.error());
  return options.autopilot ? replay_at_full_speed(trace, *reader.value())
                           : serve_debugger(trace, *reader.value(), options);
}

}  // namespace detrec::frontend
