// The last instructions that a process executed, and where on them a debugger stands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/session/guest_process.h"

namespace detrec::server {

class Trail {
 public:
  void clear() { entries_.clear(), at_ = 0; }
  /// The debugger stands at its end, which is where the process is.
  void set(std::vector<wire::DebugTrailEntry> entries) {
    entries_ = std::move(entries);
    at_ = entries_.size();
  }

  bool at_end() const { return at_ == entries_.size(); }
  bool at_begin() const { return at_ == 0; }
  void step_back() { --at_; }
  void step_on() { ++at_; }
  /// Before whose execution the debugger stands; not at the end.
  const wire::DebugTrailEntry& here() const { return entries_[at_]; }
  /// Goes to the last entry before here whose pc is one of `pcs`, if there is one.
  bool go_back_to(std::span<const std::uint64_t> pcs);
  /// Goes there if it is on the trail.
  bool go_to(const wire::DebugPosition& position);

  /// Undoes in `bytes`, which are of the process's memory at `address`, what was written since.
  void undo(std::uint64_t address, std::span<std::uint8_t> bytes) const;
  Spot spot() const { return {here().position, here().total_ticks}; }

 private:
  std::vector<wire::DebugTrailEntry> entries_;
  std::size_t at_ = 0;
};

}  // namespace detrec::server
