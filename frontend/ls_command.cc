#include "frontend/ls_command.h"

#include <CLI/CLI.hpp>

#include "frontend/report_trace.h"
#include "frontend/trace_command.h"
#include "frontend/trace_files.h"

namespace detrec::frontend {

LsCommand::LsCommand(CLI::App& parent) {
  CLI::App* ls = parent.add_subcommand("ls", "List the traces in this directory, the newest first");
  ls->add_flag("--json", options_.json, "Print a JSON array");
  ls->footer(
      "Examples:\n"
      "  detrec ls\n"
      "  detrec ls --json | jq -r '.[] | select(.complete) | .path'");
}

Result<LsOptions> LsCommand::finish() { return options_; }

int execute(const LsOptions& options) {
  std::string text = options.json ? "[" : "";
  bool first = true;
  for (const auto& path : trace_files()) {
    const TraceSummary summary = summarize_trace(path.string(), false);
    if (options.json) {
      text += (first ? "\n" : ",\n") + format_json(summary);
    } else {
      text += (first ? list_heading() : "") + format_list_line(summary);
    }
    first = false;
  }
  if (options.json) text += first ? "]\n" : "\n]\n";
  return print(text);
}

}  // namespace detrec::frontend
