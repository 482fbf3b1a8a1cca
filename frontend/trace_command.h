// What the subcommands that read a trace have in common.
#pragma once

#include <string>
#include <string_view>

#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// Declares the positional TRACE.
void add_trace_argument(CLI::App& command, std::string& to);

/// The trace that was named, or the newest in this directory.
Result<std::string> trace_or_newest(const std::string& named);

/// Prints `text` on stdout and flushes it; the exit status: 0, or kExitOwnFailure when stdout cannot be
/// written.
int print(std::string_view text);

}  // namespace detrec::frontend
