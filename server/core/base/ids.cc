#include "server/core/base/ids.h"

#include <fmt/core.h>

#include "server/core/base/check.h"

namespace detrec::core {

FutexKey FutexKey::open_file(OpenFileId file, std::uint64_t offset) {
  constexpr std::uint64_t kSocket = std::uint64_t{1} << 63;
  check(file.sequence < kSocket, "the sequence of an open file does not fit in 63 bits");
  return {FutexKind::kOpenFile, static_cast<std::uint64_t>(file.creator.value),
          file.sequence | (file.socket ? kSocket : 0), offset};
}

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
