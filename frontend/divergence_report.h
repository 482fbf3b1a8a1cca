// What is said when a replay differs from its trace.
#pragma once

#include <string>

#include "storage/trace_reader.h"
#include "trace/wire/launch.h"

namespace detrec::frontend {

/// Lines for stderr: what differs and where, the recorded events around, registers, code.
std::string format_divergence(const wire::Launch& launch, storage::TraceReader& reader);

}  // namespace detrec::frontend
