// Priority-inheriting futexes while recording: made of plain ones. The kernel would change the word of a
// waiter's futex at a time of its own, while another thread runs; here every change has the turn. Priorities
// mean nothing among threads that take turns.

#include <asm/errno.h>
#include <linux/futex.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/kept_futexes.h"

namespace detrec::guest::syscall {
namespace {

bool is_own_thread(u32 tid) {
  for (const Thread* t = process().threads; t != nullptr; t = t->next) {
    if (static_cast<u32>(t->tid) == tid) return true;
  }
  return false;
}

/// Waits until the word is no longer `value`. As FUTEX_WAIT_BITSET, whose timeout is absolute too.
SysResult wait_for_change(Turn& turn, const Args& a, u32 value) {
  u64 op = FUTEX_WAIT_BITSET | (a[1] & FUTEX_PRIVATE_FLAG);
  bool realtime = (a[1] & FUTEX_CMD_MASK) == FUTEX_LOCK_PI || (a[1] & FUTEX_CLOCK_REALTIME) != 0;
  if (realtime) op |= FUTEX_CLOCK_REALTIME;
  const Args wait{{a[0], op, value, a[3], 0, FUTEX_BITSET_MATCH_ANY}};
  return is_kept_call(wait) ? kept_futex(turn, wait) : kernel_wait(turn, __NR_futex, wait);
}

SysResult lock(Turn& turn, const Args& a, bool may_wait) {
  auto self = static_cast<u32>(turn.thread().tid);
  u32 waiters = 0;
  for (;;) {
    u32 value;
    if (!read_guest(value, a[0])) return error(EFAULT);
    u32 owner = value & FUTEX_TID_MASK;
    if (owner == self) return error(EDEADLK);
    if (owner == 0) {
      // Who has waited does not know whether others still do.
      u32 taken = self | (value & (FUTEX_OWNER_DIED | FUTEX_WAITERS)) | waiters;
      return memory::write_guest(turn, a[0], taken) ? 0 : error(EFAULT);
    }
    if (!may_wait) return error(EAGAIN);
    if (!is_own_thread(owner)) return error(ESRCH);
    mark_contended(turn, a);
    waiters = FUTEX_WAITERS;
    SysResult r = wait_for_change(turn, a, value | FUTEX_WAITERS);
    if (failed(r) && r != error(EAGAIN)) return r;
  }
}

SysResult unlock(Turn& turn, const Args& a) {
  u32 value;
  if (!read_guest(value, a[0])) return error(EFAULT);
  if ((value & FUTEX_TID_MASK) != static_cast<u32>(turn.thread().tid)) return error(EPERM);
  if (!memory::write_guest(turn, a[0], u32{0})) return error(EFAULT);
  wake_futex(turn, a[0], (a[1] & FUTEX_PRIVATE_FLAG) != 0, 1);
  return 0;
}

}  // namespace

bool is_inheriting(const Args& args) {
  switch (args[1] & static_cast<u64>(FUTEX_CMD_MASK)) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_TRYLOCK_PI:
    case FUTEX_UNLOCK_PI:
      return true;
    default:
      return false;
  }
}

SysResult inheriting_futex(Turn& turn, const Args& args) {
  if (args[0] % sizeof(u32) != 0) return error(EINVAL);
  u64 command = args[1] & static_cast<u64>(FUTEX_CMD_MASK);
  SysResult r =
      command == FUTEX_UNLOCK_PI ? unlock(turn, args) : lock(turn, args, command != FUTEX_TRYLOCK_PI);
  events::note_memory_change(args[0], args[0] + sizeof(u32));
  return r;
}

void mark_contended(Turn& turn, const Args& args) {
  u64 command = args[1] & static_cast<u64>(FUTEX_CMD_MASK);
  if (command != FUTEX_LOCK_PI && command != FUTEX_LOCK_PI2) return;
  u32 value;
  if (read_guest(value, args[0]) && (value & FUTEX_WAITERS) == 0)
    memory::write_guest(turn, args[0], value | FUTEX_WAITERS);
}

}  // namespace detrec::guest::syscall
