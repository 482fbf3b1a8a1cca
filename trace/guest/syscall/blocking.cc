#include "trace/guest/syscall/blocking.h"

#include <asm/errno.h>
#include <asm/unistd_64.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::syscall {
namespace {

/// wait4 and waitid: a child that has ended already is collected without giving the turn away.
SysResult wait_for_child(Turn& turn, const SyscallRow& row, const Args& args) {
  constexpr u64 kNoHang = 1;
  if (!alone() && row.number == __NR_wait4 && (args[2] & kNoHang) == 0) {
    SysResult r = raw_syscall(row.number, args[0], args[1], args[2] | kNoHang, args[3]);
    if (r != 0) return r;
  }
  return bounced_wait(turn, row, args);
}

}  // namespace

SysResult kernel_wait(Turn& turn, long nr, const Args& a) {
  Thread& thread = turn.thread();
  if (alone()) {
    run::AccountedMeanwhile accounted(turn);
    return signal::raw_syscall_interruptible(thread, nr, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  TurnLent lent(turn);
  return signal::raw_syscall_interruptible(thread, nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

SysResult may_block(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  switch (row.number) {
    case __NR_read:
    case __NR_pread64:
    case __NR_readv:
    case __NR_preadv:
    case __NR_preadv2:
      return read_family(turn, row, args);
    case __NR_write:
    case __NR_pwrite64:
    case __NR_writev:
    case __NR_pwritev:
    case __NR_pwritev2:
      return write_family(turn, row, args);
    case __NR_recvfrom:
    case __NR_recvmsg:
    case __NR_recvmmsg:
      return receive_family(turn, row, args);
    case __NR_sendto:
    case __NR_sendmsg:
    case __NR_sendmmsg:
      return send_family(turn, row, args);
    case __NR_poll:
    case __NR_ppoll:
      return poll_family(turn, row, args);
    case __NR_select:
    case __NR_pselect6:
      return select_family(turn, row, args);
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
      return epoll_family(turn, row, args);
    case __NR_wait4:
    case __NR_waitid:
      return wait_for_child(turn, row, args);
    default:
      return bounced_wait(turn, row, args);
  }
}

}  // namespace detrec::guest::syscall
