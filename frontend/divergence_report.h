// What is said when a replay differs from its trace.
#pragma once

#include <string>
#include <string_view>

#include "storage/trace_reader.h"
#include "trace/wire/launch.h"

namespace detrec::frontend {

/// Lines: what differs (the engine's `message`) and where, the recorded events around, registers, code.
std::string format_divergence(const wire::Divergence& divergence, std::string_view message,
                              storage::TraceReader& reader);

}  // namespace detrec::frontend
