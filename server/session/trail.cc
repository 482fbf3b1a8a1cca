#include "server/session/trail.h"

#include <algorithm>

namespace detrec::server {

bool Trail::go_back_to(std::span<const std::uint64_t> pcs) {
  for (std::size_t i = at_; i-- > 0;) {
    if (std::find(pcs.begin(), pcs.end(), entries_[i].position.pc) == pcs.end()) continue;
    at_ = i;
    return true;
  }
  return false;
}

bool Trail::go_to(const wire::DebugPosition& position) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const wire::DebugTrailEntry& e) { return e.position == position; });
  if (found == entries_.end()) return false;
  at_ = static_cast<std::size_t>(found - entries_.begin());
  return true;
}

void Trail::undo(std::uint64_t address, std::span<std::uint8_t> bytes) const {
  for (std::size_t i = entries_.size(); i-- > at_;) {
    const wire::DebugTrailEntry& e = entries_[i];
    for (std::uint32_t k = 0; k < e.written; ++k) {
      const std::uint64_t offset = e.written_address + k - address;
      if (offset < bytes.size()) bytes[offset] = e.old[k];
    }
  }
}

}  // namespace detrec::server
