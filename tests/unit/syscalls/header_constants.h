// Constants of this machine's kernel headers, by the names that the command tables use.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/syscalls/table.h"

namespace detrec::syscalls::test {

struct HeaderConstant {
  const char* name;
  Commands table;
  std::uint64_t key;  ///< as CommandRow::key
};

const std::vector<HeaderConstant>& header_constants();

/// A structure that a command reads or writes as a whole.
struct HeaderSize {
  const char* name;
  Commands table;
  std::uint64_t key;
  std::size_t size;
};

const std::vector<HeaderSize>& header_sizes();

}  // namespace detrec::syscalls::test
