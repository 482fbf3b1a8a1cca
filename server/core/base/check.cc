#include "server/core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace detrec::core {

void fatal_text(std::string_view what) {
  std::fprintf(stderr, "detrec core: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace detrec::core
