// The place of a trace that is going to be written.
#pragma once

#include <filesystem>

#include "trace/event/result.h"

namespace detrec::storage {

using event::Status;

/// Makes an empty file; an existing one is an error or, if `replace` and if it is a trace or empty, removed.
Status claim_file(const std::filesystem::path& path, bool replace);
/// Removes a file and its journal; none is no error.
Status remove_file(const std::filesystem::path& path);

}  // namespace detrec::storage
