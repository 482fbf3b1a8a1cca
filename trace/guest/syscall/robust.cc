#include "trace/guest/syscall/robust.h"

#include <linux/futex.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/kept_futexes.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::syscall {
namespace {

constexpr int kProtWrite = 2;

/// struct robust_list_head.
struct RobustHead {
  GuestAddr next;
  i64 futex_offset;
  GuestAddr pending;
};

void wake_one(Turn& turn, GuestAddr word) { wake_futex(turn, word, false, 1); }

/// Bit 0 of an entry's address says that its futex has priority inheritance; the kernel sees to the waiters
/// of those.
bool is_pi(GuestAddr entry) { return (entry & 1) != 0; }
GuestAddr address_of(GuestAddr entry) { return entry & ~u64{1}; }

/// Replaces `expected` by `value`; other processes may share the word, so it is one atomic step. False when
/// it was not `expected`.
bool exchange(Turn& turn, GuestAddr word, u32 expected, u32 value) {
  translate::before_write(turn, word, word + sizeof(u32));
  return __atomic_compare_exchange_n(reinterpret_cast<u32*>(word), &expected, value, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

/// False when the list cannot be trusted any further.
bool mark(Turn& turn, GuestAddr word, bool pi, bool pending) {
  if (word % sizeof(u32) != 0) return false;
  int prot = memory::protection(word);
  if (prot < 0 || (prot & kProtWrite) == 0) return false;
  u32 value;
  do {
    if (!read_guest(value, word)) return false;
    if (pending && !pi && value == 0) {
      wake_one(turn, word);  // between unlocking and waking: the wake-up would be lost
      return true;
    }
    if ((value & FUTEX_TID_MASK) != static_cast<u32>(turn.thread().tid)) return true;
  } while (!exchange(turn, word, value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED));
  if (!pi && (value & FUTEX_WAITERS) != 0) wake_one(turn, word);
  return true;
}

void walk_robust_list(Turn& turn) {
  GuestAddr list = turn.thread().robust_list;
  RobustHead head;
  if (list == 0 || !read_guest(head, list)) return;
  auto futex_of = [&head](GuestAddr entry) {
    return address_of(entry) + static_cast<u64>(head.futex_offset);
  };
  GuestAddr entry = head.next;
  for (int i = 0; i < ROBUST_LIST_LIMIT && address_of(entry) != list; ++i) {
    GuestAddr next;
    bool more = read_guest(next, address_of(entry));
    if (address_of(entry) != address_of(head.pending) && !mark(turn, futex_of(entry), is_pi(entry), false))
      return;
    if (!more) return;
    entry = next;
  }
  if (address_of(head.pending) != 0) mark(turn, futex_of(head.pending), is_pi(head.pending), true);
}

}  // namespace

GuestAddr leave_futexes(Turn& turn) {
  Thread& thread = turn.thread();
  walk_robust_list(turn);
  thread.robust_list = 0;
  raw_syscall(__NR_set_robust_list, 0, 24);  // the memory may be gone by the time the kernel would walk it
  GuestAddr word = thread.clear_child_tid;
  thread.clear_child_tid = 0;
  u32 zero = 0;
  return word != 0 && memory::write_guest(turn, word, zero) ? word : 0;
}

}  // namespace detrec::guest::syscall
