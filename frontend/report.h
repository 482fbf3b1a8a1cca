// What is said, and which status is returned, after a program ran under the engine.
#pragma once

#include <string>
#include <string_view>

#include "frontend/run_command.h"
#include "trace/wire/launch.h"

namespace detrec::frontend {

/// The result of a run: detrec's own exit status, and lines for stderr (empty, or ending in a newline).
struct Outcome {
  int exit_status = 0;
  std::string text;
};

/// The status a shell would report for `wait_status` (as from man 2 wait): the exit status, or 128+n for
/// signal n.
int status_of(int wait_status);

/// The engine's message, or that there is none.
std::string_view message_of(const wire::Launch& launch);

/// The engine's warnings that could not be printed while the program ran, each a line; perhaps none.
std::string_view kept_warnings_of(const wire::Launch& launch);

/// Judges what the engine left in `launch` and the process's wait status.
Outcome judge(const wire::Launch& launch, int wait_status, const RunOptions& options);

/// `--stats`: one counter a line, names left, values right.
std::string format_stats(const wire::EngineStats& stats);

}  // namespace detrec::frontend
