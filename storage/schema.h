// The tables and views of a trace (docs/trace-format.md). Internal to storage.
#pragma once

#include "storage/sqlite.h"

namespace detrec::storage {

/// Makes a new file's tables, and fills those that only give names to numbers.
Status create_schema(sqlite::Database& database);

/// The version of an open file: kInvalid when it is no trace, kUnsupported when it is newer than `current`.
Result<std::int32_t> check_schema(sqlite::Database& database, std::int32_t current = kSchemaVersion);

}  // namespace detrec::storage
