// Where traces are when the user does not say.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/result.h"

namespace detrec::frontend {

/// "<program>-<n>.detrec" in the current directory, n one above the highest that is there.
std::filesystem::path new_trace_path(const std::string& program);

/// The traces ("*.detrec") of the current directory, the newest (by modification time, then by name) first.
std::vector<std::filesystem::path> trace_files();

/// The newest trace; an error when there is none.
Result<std::filesystem::path> newest_trace();

}  // namespace detrec::frontend
