// `detrec index`: fills the tables that are made from the events of a trace.
#pragma once

#include <cstdint>
#include <filesystem>

#include "storage/trace_info.h"

namespace detrec::storage {

/// Number of rows that index_trace() made.
struct IndexCounts {
  std::uint64_t syscalls = 0;
  std::uint64_t descriptors = 0;
};

/// Fills `syscall`, `descriptor` and `output` anew. For a trace that nobody is recording; one that is not
/// complete is indexed as far as it goes. Folds a journal that a killed recorder left behind into the file.
Result<IndexCounts> index_trace(const std::filesystem::path& path);

}  // namespace detrec::storage
