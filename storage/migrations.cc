#include "storage/migrations.h"

#include <algorithm>
#include <string>

namespace detrec::storage {
namespace {

Status apply(sqlite::Database& database, const Migration& step) {
  if (const auto done = database.execute(step.sql); !done) return done;
  if (step.convert != nullptr) {
    if (const auto done = step.convert(database); !done) return done;
  }
  const std::string version = "PRAGMA user_version = " + std::to_string(step.from + 1);
  return database.execute(version.c_str());
}

}  // namespace

Status migrate(sqlite::Database& database, std::int32_t from, const SchemaVersions& versions) {
  auto transaction = sqlite::Transaction::begin(database);
  if (!transaction) return transaction.error();
  for (std::int32_t version = from; version < versions.current; ++version) {
    const auto step = std::find_if(versions.steps.begin(), versions.steps.end(),
                                   [&](const Migration& candidate) { return candidate.from == version; });
    if (step == versions.steps.end())
      return Error{
          ErrorCode::kUnsupported, "there is no way from trace version " + std::to_string(version), {}};
    if (const auto done = apply(database, *step); !done) return done;
  }
  return transaction.value().commit();
}

}  // namespace detrec::storage
