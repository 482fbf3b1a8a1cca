#include "trace/guest/memory/guest_memory.h"

#include "trace/guest/debug/debugger.h"
#include "trace/guest/memory/address_choice.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::memory {
namespace {

constexpr GuestAddr kNoPage = ~GuestAddr{0};

/// The guest's page that was written last. It holds no translated code, so writing there again needs no look
/// at all.
constinit GuestAddr quiet_page = kNoPage;

bool in_quiet_page(GuestAddr to, u64 n) { return to - quiet_page <= kPageSize - n; }

bool copy(GuestAddr to, const void* from, u64 n) {
  auto* target = reinterpret_cast<void*>(to);
  if (n == sizeof(u64)) return probe_word(target, from) == 0;
  if (n == 2 * sizeof(u64)) return probe_pair(target, from) == 0;
  return probe_copy(target, from, n) == 0;
}

}  // namespace

void forget_quiet_page() { quiet_page = kNoPage; }

bool write_guest(Turn& turn, GuestAddr to, const void* from, u64 n) {
  if (n == 0) return true;
  if (n <= kPageSize && in_quiet_page(to, n) && !debug::attached) return copy(to, from, n);
  if (to + n < to || touches_engine(to, to + n)) return false;
  translate::before_write(turn, to, to + n);
  if (debug::attached && turn.thread().in_call) debug::note_write(turn, to, to + n);
  GuestAddr page = page_down(to);
  if (!touches_table(page, page + kPageSize) && !touches_engine(page, page + kPageSize)) quiet_page = page;
  return copy(to, from, n);
}

}  // namespace detrec::guest::memory
