#include "server/replay/output.h"

#include <unistd.h>

#include <cerrno>

namespace detrec::server {

void Output::keep(const event::RangeView& range, std::uint64_t position) {
  if (range.direction != wire::Direction::kOut && range.direction != wire::Direction::kError) return;
  pieces_.push_back({position,
                     range.direction == wire::Direction::kOut ? STDOUT_FILENO : STDERR_FILENO,
                     {range.data.begin(), range.data.end()}});
}

void Output::keep(const event::EventView& record, std::uint64_t position) {
  if (const auto* call = record.as<event::SyscallView>()) {
    for (const event::RangeView& range : call->ranges) keep(range, position);
  } else if (const auto* data = record.as<event::DataView>()) {
    keep(data->range, position);
  }
}

bool Output::show_up_to(std::uint64_t position) {
  while (!pieces_.empty() && pieces_.front().position <= position) {
    const Piece& piece = pieces_.front();
    for (std::size_t done = 0; done < piece.data.size();) {
      const ssize_t n = write(piece.descriptor, piece.data.data() + done, piece.data.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      done += static_cast<std::size_t>(n);
    }
    pieces_.pop_front();
  }
  return true;
}

}  // namespace detrec::server
