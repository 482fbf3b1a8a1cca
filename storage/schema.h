// The tables and views of a trace (docs/trace-format.md). Internal to storage.
#pragma once

#include "storage/sqlite.h"

namespace detrec::storage {

/// Makes a new file's tables, and fills those that only give names to numbers.
Status create_schema(sqlite::Database& database);

/// Checks that an open file is a trace of a version that can be read: kInvalid or kUnsupported otherwise.
Result<std::int32_t> check_schema(sqlite::Database& database);

}  // namespace detrec::storage
