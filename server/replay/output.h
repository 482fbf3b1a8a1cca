// A recorded program's output, shown again once the replay has come to where it was written.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "trace/event/event_view.h"

namespace detrec::server {

class Output {
 public:
  /// Keeps the output in `record`, which ends at `position` of the ring.
  void keep(const event::EventView& record, std::uint64_t position);
  /// Writes what the reader of the ring has passed. False: it could not be written (errno).
  bool show_up_to(std::uint64_t position);

 private:
  struct Piece {
    std::uint64_t position;
    int descriptor;  ///< 1 or 2
    std::vector<std::byte> data;
  };
  void keep(const event::RangeView& range, std::uint64_t position);

  std::deque<Piece> pieces_;
};

}  // namespace detrec::server
