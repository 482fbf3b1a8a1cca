// Calls that may wait.

#include <asm/errno.h>
#include <asm/unistd_64.h>

#include "trace/guest/process.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/handlers.h"

namespace detrec::guest::syscall {

SysResult interrupted(const SyscallRow& row, bool has_timeout) {
  using syscalls::Restart;
  switch (row.restart) {
    case Restart::kUninterruptible:
      return error(EINTR);
    case Restart::kWithSaRestart:
      return signal::kERestartSys;
    case Restart::kWithSaRestartNoTimeout:
      return has_timeout ? signal::kERestartNoHand : signal::kERestartSys;
    case Restart::kAlways:
      return signal::kERestartNoIntr;
    case Restart::kRestartBlock:
      return signal::kERestartBlock;
    // kNever is EINTR even after a stop without a handler. Here it is not: a signal that only the engine saw
    // must not show.
    case Restart::kNever:
    case Restart::kNoHandler:
      return signal::kERestartNoHand;
  }
  return error(EINTR);
}

SysResult wait_in_kernel(Turn& turn, const SyscallRow& row, const Args& args) {
  Thread& thread = turn.thread();
  SysResult r;
  if (process().thread_count == 1) {
    r = signal::raw_syscall_interruptible(thread, row.number, args[0], args[1], args[2], args[3], args[4],
                                          args[5]);
  } else {
    TurnLent lent(turn);
    r = signal::raw_syscall_interruptible(thread, row.number, args[0], args[1], args[2], args[3], args[4],
                                          args[5]);
  }
  return r == error(EINTR) ? interrupted(row, false) : r;
}

SysResult may_block(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  return wait_in_kernel(turn, row, args);
}

}  // namespace detrec::guest::syscall
