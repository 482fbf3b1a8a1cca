// From older versions of the schema to this one. A trace is converted in place, in one transaction, the first
// time that it is opened by a newer detrec; a trace is never refused for being old.
#pragma once

#include <cstdint>
#include <span>

#include "storage/sqlite.h"

namespace detrec::storage {

/// One step: from version `from` to the next.
struct Migration {
  std::int32_t from;
  const char* sql;  ///< statements; "": none
  Status (*convert)(sqlite::Database&) =
      nullptr;  ///< after them: what SQL cannot do (events of another set ...)
};

/// The version to reach, and the steps that lead there.
struct SchemaVersions {
  std::int32_t current;
  std::span<const Migration> steps;
};

/// Version 1 is the first: there are no steps yet.
inline constexpr SchemaVersions kSchemaVersions{kSchemaVersion, {}};

/// Converts from version `from`. Any failure leaves the trace as it was.
Status migrate(sqlite::Database& database, std::int32_t from, const SchemaVersions& versions);

}  // namespace detrec::storage
