#include "trace/guest/memory/guest_memory.h"

#include "trace/guest/debug/debugger.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::memory {

bool write_guest(Turn& turn, GuestAddr to, const void* from, u64 n) {
  if (n == 0) return true;
  if (to + n < to || touches_engine(to, to + n)) return false;
  translate::before_write(turn, to, to + n);
  if (debug::attached && turn.thread().in_call) debug::note_write(turn, to, to + n);
  auto* target = reinterpret_cast<void*>(to);
  if (n == sizeof(u64)) return probe_word(target, from) == 0;
  return probe_copy(target, from, n) == 0;
}

}  // namespace detrec::guest::memory
