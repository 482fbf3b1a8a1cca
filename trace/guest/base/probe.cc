#include "trace/guest/base/probe.h"

#include "trace/guest/base/layout.h"

namespace detrec::guest {

i64 read_guest_string(char* to, GuestAddr from, u64 size) {
  constexpr i64 kEFault = -14, kENameTooLong = -36;
  u64 done = 0;
  while (done < size) {
    // Up to the end of the page at a time: the next page need not exist.
    u64 room = page_down(from + done) + kPageSize - (from + done);
    u64 want = room < size - done ? room : size - done;
    if (want > 64) want = 64;
    if (!read_guest(to + done, from + done, want)) return kEFault;
    for (u64 i = 0; i < want; ++i) {
      if (to[done + i] == 0) return static_cast<i64>(done + i);
    }
    done += want;
  }
  return kENameTooLong;
}

}  // namespace detrec::guest
