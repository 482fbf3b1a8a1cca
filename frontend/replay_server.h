// A replay under gdb.
#pragma once

#include "frontend/replay_command.h"
#include "storage/trace_reader.h"

namespace detrec::frontend {

/// Serves gdb until it has gone for good; returns detrec's exit status.
int serve_debugger(const std::string& trace, storage::TraceReader& reader, const ReplayOptions& options);

}  // namespace detrec::frontend
