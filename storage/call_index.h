// The tables `syscall`, `descriptor` and `output`, made from the events when a recording has ended.
#pragma once

#include <filesystem>

#include "storage/sqlite.h"

namespace detrec::storage {

/// Fills the tables anew, in one transaction. Internal to storage.
Status fill_call_index(sqlite::Database& database);

/// Number of rows that index_trace() made.
struct IndexCounts {
  std::uint64_t syscalls = 0;
  std::uint64_t descriptors = 0;
};

/// `detrec index`: the same for a trace that nobody is recording. A trace that is not complete is indexed as
/// far as it goes. Folds a journal that a killed recorder left behind into the file.
Result<IndexCounts> index_trace(const std::filesystem::path& path);

}  // namespace detrec::storage
