#include "server/core/base/ids.h"

#include <fmt/core.h>

namespace detrec::core {

std::string to_string(AddressSpaceId as) { return fmt::format("({},{})", as.owner.value, as.exec_count); }

std::string to_string(const FutexKey& key) {
  const auto as = fmt::format("({},{})", key.object_a >> 32, key.object_a & 0xffffffffu);
  switch (key.kind) {
    case FutexKind::kPrivate:
      return fmt::format("private {} {:#x}", as, key.offset);
    case FutexKind::kAnonymous:
      return fmt::format("anonymous {}#{} {:#x}", as, key.object_b, key.offset);
    case FutexKind::kFile:
      return fmt::format("file {}:{} {:#x}", key.object_a, key.object_b, key.offset);
    case FutexKind::kOpenFile:
      return fmt::format("open file {}/{} {:#x}", key.object_a, key.object_b, key.offset);
  }
  return {};
}

}  // namespace detrec::core
