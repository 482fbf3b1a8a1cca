// Opens a trace for reading: what is no trace is told apart from what is damaged, and a place that cannot be
// written to is no obstacle. Internal to storage.
#pragma once

#include <filesystem>

#include "storage/migrations.h"
#include "storage/sqlite.h"

namespace detrec::storage {

/// A trace of an older version is converted first, which needs a file that can be written.
Result<sqlite::Database> open_trace(const std::filesystem::path& path,
                                    const SchemaVersions& versions = kSchemaVersions);

}  // namespace detrec::storage
