#include "frontend/dump_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "frontend/complain.h"
#include "frontend/numbers.h"
#include "frontend/trace_command.h"
#include "storage/trace_reader.h"
#include "trace/event/render/render.h"

namespace detrec::frontend {
DumpCommand::DumpCommand(CLI::App& parent) {
  CLI::App* dump = parent.add_subcommand("dump", "Print the events of a trace, one a line");
  add_trace_argument(*dump, options_.trace);
  dump->add_option("--from", from_, "Begin with this event")->type_name("EVENT[:TICKS[:PC]]");
  dump->add_option("--limit", limit_, "End after N events")->type_name("N");
  dump->add_flag("--json", options_.json, "Print a JSON object for each, data in full");
  dump->footer(
      "A line is: event:ticks:pc thread kind details. Data that did not fit its event follows in lines of\n"
      "kind data.\n"
      "\n"
      "Examples:\n"
      "  detrec dump --limit 20\n"
      "  detrec dump crash.detrec --from 1200:88123:0x401136\n"
      "  detrec dump --json | jq -c 'select(.error == \"ENOENT\") | .name'");
}

Result<DumpOptions> DumpCommand::finish() {
  if (!from_.empty()) {
    const auto from = event::parse_position(from_);
    if (!from) return Error{kExitOwnFailure, to_string(from.error()), "--from"};
    options_.from = from.value();
  }
  if (!limit_.empty()) {
    const auto limit = parse_number(limit_);
    if (!limit) return Error{limit.error().code, limit.error().message, "--limit"};
    options_.limit = limit.value();
  }
  return options_;
}

int execute(const DumpOptions& options) {
  const auto trace = trace_or_newest(options.trace);
  if (!trace) return complain(trace.error());
  const auto reader = storage::TraceReader::open(trace.value());
  if (!reader) return complain(reader.error());
  // Position 0 is before the first event, and a trace may have lost its beginning.
  const auto first = std::max(options.from.event, reader.value()->first_event());
  auto cursor = reader.value()->events(std::max(first, event::EventNumber{1}));
  if (!cursor) return complain(cursor.error());
  std::uint64_t shown = 0;
  while (true) {
    const auto record = cursor.value().next();
    if (!record) {
      std::fflush(stdout);
      return complain(record.error());
    }
    if (!record.value()) break;
    const bool is_data = record.value()->view.kind() == wire::EventKind::kData;
    if (!is_data && options.limit && shown++ >= *options.limit) break;
    const std::string line =
        options.json ? event::render_json(*record.value()) : event::render_line(*record.value());
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fputc('\n', stdout) == EOF)
      break;
  }
  return print("");
}

}  // namespace detrec::frontend
