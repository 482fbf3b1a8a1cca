// futex: the scheduler's table where there is one (kept_futexes.h). Else the kernel's own, with the turn lent
// while a thread waits: the kernel compares and queues in one step, so a wake-up by the next holder of the
// turn cannot be missed.

#include <asm/errno.h>
#include <linux/futex.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/kept_futexes.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::syscall {
namespace {

bool waits(u64 command) {
  switch (command) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      return true;
    default:
      return false;
  }
}

bool changes_second_word(u64 command) {
  return command == FUTEX_WAKE_OP || command == FUTEX_CMP_REQUEUE_PI || command == FUTEX_WAIT_REQUEUE_PI;
}

void note_changed_word(const Args& args, u64 command) {
  if (changes_second_word(command)) events::note_memory_change(args[4], args[4] + sizeof(u32));
}

}  // namespace

SysResult futex(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  u64 command = args[1] & static_cast<u64>(FUTEX_CMD_MASK);
  if (events::recording() && is_inheriting(args)) return inheriting_futex(turn, args);
  GuestAddr word = args[0];
  // Some commands write the word or a second one.
  translate::before_write(turn, word, word + sizeof(u32));
  if (command == FUTEX_WAKE_OP) translate::before_write(turn, args[4], args[4] + sizeof(u32));
  if (is_kept_call(args)) return kept_futex(turn, args);
  if (!waits(command)) {
    SysResult r = raw_syscall(row.number, args[0], args[1], args[2], args[3], args[4], args[5]);
    note_changed_word(args, command);
    return r;
  }
  if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
    // No guest thread here changes the word while this one has the turn: spares a hand-over that would wait
    // for nothing.
    u32 value;
    if (word % sizeof(u32) == 0 && read_guest(value, word) && value != static_cast<u32>(args[2]))
      return error(EAGAIN);
  }
  SysResult r = kernel_wait(turn, row.number, args);
  note_changed_word(args, command);
  return r;
}

}  // namespace detrec::guest::syscall
