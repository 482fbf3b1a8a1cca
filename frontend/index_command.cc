#include "frontend/index_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "frontend/complain.h"
#include "frontend/trace_command.h"
#include "storage/index_trace.h"

namespace detrec::frontend {

IndexCommand::IndexCommand(CLI::App& parent) {
  CLI::App* index =
      parent.add_subcommand("index", "Fill the tables syscall, descriptor and output of a trace");
  add_trace_argument(*index, options_.trace);
  index->footer(
      "A recording fills them itself when it has few system calls. This does it for the others and for\n"
      "recordings that were cut off; doing it again is harmless.\n"
      "\n"
      "Examples:\n"
      "  detrec index big.detrec\n"
      "  sqlite3 big.detrec 'SELECT name, count(*) FROM call GROUP BY name ORDER BY 2 DESC'");
}

Result<IndexOptions> IndexCommand::finish() { return options_; }

int execute(const IndexOptions& options) {
  const auto trace = trace_or_newest(options.trace);
  if (!trace) return complain(trace.error());
  std::signal(SIGXFSZ, SIG_IGN);  // too large a file is an error of the write, with a message
  const auto counts = storage::index_trace(trace.value());
  if (!counts) return complain(counts.error());
  return print(fmt::format("{}: {} system calls, {} descriptors\n", trace.value(), counts.value().syscalls,
                           counts.value().descriptors));
}

}  // namespace detrec::frontend
