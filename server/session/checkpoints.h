// Processes of the past that stand still, ordered by position.
#pragma once

#include <memory>
#include <vector>

#include "server/session/guest_process.h"

namespace detrec::server {

/// Of the one diversion that there can be.
inline constexpr std::uint32_t kDiversionSlot = wire::kDebugSlots - 1;

struct Checkpoint {
  std::unique_ptr<GuestProcess> process;
  std::uint64_t points_version = 0;  ///< what points it has set

  const Spot& spot() const { return process->spot(); }
};

class Checkpoints {
 public:
  bool any_at(const wire::DebugPosition& position) const;
  /// Another one; `here` is the present, near which they are wanted most.
  void add(Checkpoint checkpoint, const Spot& here);
  /// The last one before `position` (or at it, with `or_at`); nullptr: none.
  const Checkpoint* last_before(const wire::DebugPosition& position, bool or_at) const;
  /// At the beginning.
  const Checkpoint& first() const { return all_.front(); }
  /// A slot that neither they nor `present` have.
  std::uint32_t free_slot(const GuestProcess* present) const;

 private:
  void thin(const Spot& here);

  std::vector<Checkpoint> all_;  ///< the first stands at the beginning, and stays
};

}  // namespace detrec::server
