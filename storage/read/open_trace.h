// Opens a trace for reading: what is no trace is told apart from what is damaged, and a place that cannot be
// written to is no obstacle. Internal to storage.
#pragma once

#include <filesystem>

#include "storage/sqlite.h"

namespace detrec::storage {

Result<sqlite::Database> open_trace(const std::filesystem::path& path);

}  // namespace detrec::storage
