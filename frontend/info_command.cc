#include "frontend/info_command.h"

#include <CLI/CLI.hpp>

#include "frontend/complain.h"
#include "frontend/report_trace.h"
#include "frontend/trace_command.h"

namespace detrec::frontend {

InfoCommand::InfoCommand(CLI::App& parent) {
  CLI::App* info = parent.add_subcommand("info", "Say what a trace is a recording of");
  add_trace_argument(*info, options_.trace);
  info->add_flag("--json", options_.json, "Print one JSON object");
  info->footer(
      "Examples:\n"
      "  detrec info                      the newest trace in this directory\n"
      "  detrec info --json crash.detrec | jq .recording.command");
}

Result<InfoOptions> InfoCommand::finish() { return options_; }

int execute(const InfoOptions& options) {
  const auto trace = trace_or_newest(options.trace);
  if (!trace) return complain(trace.error());
  const TraceSummary summary = summarize_trace(trace.value(), true);
  if (!summary.error.empty()) return complain({kExitOwnFailure, summary.error, {}});
  return print(options.json ? format_json(summary) + "\n" : format_info(summary));
}

}  // namespace detrec::frontend
