// Thread ids in packets: pP.T with the multiprocess extension, T without; 0 is any, -1 is all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gdbstub/ids.h"
#include "gdbstub/packet/cursor.h"

namespace detrec::gdbstub::packet {

/// What a packet selects: one thread, any one or all of one process, of any process or of all.
struct ThreadSelector {
  static constexpr std::int64_t kAll = -1;
  static constexpr std::int64_t kAny = 0;

  std::int64_t process = kAny;
  std::int64_t thread = kAny;

  bool matches(ThreadRef ref) const {
    return (process <= 0 || process == ref.process.value) && (thread <= 0 || thread == ref.thread.value);
  }
  /// Is it one certain thread? Without the multiprocess extension the process is not named.
  bool is_one() const { return thread > 0; }
  friend constexpr bool operator==(const ThreadSelector&, const ThreadSelector&) = default;
};

/// Nothing if it is malformed.
std::optional<ThreadSelector> read_thread(Cursor& cursor);
std::string thread_text(ThreadRef thread, bool multiprocess);

}  // namespace detrec::gdbstub::packet
