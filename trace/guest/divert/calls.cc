// System calls of a diversion. Memory is the process's own and is served; the rest is answered from what is
// known of the recorded process, or refused: nothing reaches the host.
#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/auxvec.h>
#include <linux/futex.h>
#include <linux/mman.h>

#include "trace/guest/base/print.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/divert/clocks.h"
#include "trace/guest/divert/diversion.h"
#include "trace/guest/divert/output.h"
#include "trace/guest/memory/address_space.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/signal/numbers.h"
#include "trace/guest/signal/queue.h"
#include "trace/syscalls/table.h"

namespace detrec::guest::divert {
namespace {

using syscall::Args;
using syscall::error;
using syscall::Timespec;
using Serve = SysResult (*)(Turn&, i32);

SysResult refuse(Turn& turn, i32 nr) {
  const syscalls::SyscallRow* row = syscalls::find(nr);
  char text[128];
  if (row != nullptr) {
    format(text, sizeof text, "%s has no effect in a diversion; the program was told ENOSYS", row->name);
  } else {
    format(text, sizeof text, "system call %d is not known; the program was told ENOSYS", nr);
  }
  debug::pass_notice(turn, text);
  return error(ENOSYS);
}

bool write(Turn& turn, GuestAddr to, const void* from, u64 size) {
  return memory::write_guest(turn, to, from, size);
}

// Memory

/// Of files there is nothing left but what has been mapped already.
bool is_own_memory(const Args& args) { return (args[3] & MAP_ANONYMOUS) != 0; }

// Time

SysResult clock_gettime(Turn& turn, const Args& args) {
  Timespec now;
  if (!read_clock(turn, args[0], now)) return error(EINVAL);
  return write(turn, args[1], &now, sizeof now) ? 0 : error(EFAULT);
}

SysResult gettimeofday(Turn& turn, const Args& args) {
  Timespec now;
  read_clock(turn, 0, now);
  syscall::Timeval value{now.seconds, now.nanoseconds / 1000};
  u64 zone = 0;
  if (args[0] != 0 && !write(turn, args[0], &value, sizeof value)) return error(EFAULT);
  return args[1] == 0 || write(turn, args[1], &zone, sizeof zone) ? 0 : error(EFAULT);
}

SysResult time(Turn& turn, const Args& args) {
  Timespec now;
  read_clock(turn, 0, now);
  if (args[0] != 0 && !write(turn, args[0], &now.seconds, sizeof now.seconds)) return error(EFAULT);
  return now.seconds;
}

SysResult clock_getres(Turn& turn, const Args& args) {
  Timespec resolution{0, 1};
  if (!read_clock(turn, args[0], resolution)) return error(EINVAL);
  resolution = {0, 1};
  return args[1] == 0 || write(turn, args[1], &resolution, sizeof resolution) ? 0 : error(EFAULT);
}

/// Sleeps from now until `end` of a clock.
void sleep_until(Turn& turn, u64 clock, const Timespec& end) {
  Timespec now;
  if (!read_clock(turn, clock, now)) return;
  i64 ns = (end.seconds - now.seconds) * 1'000'000'000 + (end.nanoseconds - now.nanoseconds);
  if (ns > 0) sleep({ns / 1'000'000'000, ns % 1'000'000'000});
}

SysResult nanosleep(GuestAddr wanted) {
  Timespec time;
  if (!read_guest(time, wanted)) return error(EFAULT);
  if (!is_valid(time)) return error(EINVAL);
  sleep(time);
  return 0;
}

SysResult clock_nanosleep(Turn& turn, const Args& args) {
  constexpr u64 kAbsolute = 1;  // TIMER_ABSTIME
  if ((args[1] & kAbsolute) == 0) return nanosleep(args[2]);
  Timespec end;
  if (!read_guest(end, args[2])) return error(EFAULT);
  if (!is_valid(end)) return error(EINVAL);
  sleep_until(turn, args[0], end);
  return 0;
}

// Waiting for others, who stand still

/// It looks like a signal that came. Who waits for a lock asks again and again: somebody has to look.
SysResult wait_for_ever(Turn& turn) {
  static u32 waits = 0;
  if (++waits == 1)
    debug::pass_notice(turn, "the diverted thread waits for another one, which stands still in a diversion");
  constexpr u32 kPatience = 1000;
  if (waits % kPatience == 0) debug::interrupt_soon();
  return error(EINTR);
}

SysResult wait_at_futex(Turn& turn, const Args& args) {
  u32 now;
  if (!read_guest(now, args[0])) return error(EFAULT);
  if (now != static_cast<u32>(args[2])) return error(EAGAIN);
  if (args[3] == 0) return wait_for_ever(turn);
  Timespec timeout;
  if (!read_guest(timeout, args[3])) return error(EFAULT);
  if (!is_valid(timeout)) return error(EINVAL);
  bool absolute = (args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
  u64 clock = (args[1] & FUTEX_CLOCK_REALTIME) != 0 ? 0 : 1;
  if (absolute) {
    sleep_until(turn, clock, timeout);
  } else {
    sleep(timeout);
  }
  return error(ETIMEDOUT);
}

SysResult futex(Turn& turn, const Args& args) {
  switch (args[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      return wait_at_futex(turn, args);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      return 0;  // nobody wakes
    default:
      return refuse(turn, __NR_futex);
  }
}

// Who one is

/// Of the auxiliary vector, which lies behind the environment on the initial stack.
bool find_auxv(u64 type, u64& value) {
  GuestAddr at = memory::address_space().stack_start;
  u64 word = 0;
  if (!read_guest(word, at)) return false;
  at += 8 * (word + 2);  // argc, argv, NULL
  do {
    if (!read_guest(word, at)) return false;
    at += 8;
  } while (word != 0);
  for (u64 entry[2]; read_guest(entry, at) && entry[0] != AT_NULL; at += sizeof entry) {
    if (entry[0] != type) continue;
    value = entry[1];
    return true;
  }
  return false;
}

SysResult recorded_id(Turn& turn, i32 nr, u64 type) {
  u64 value;
  return find_auxv(type, value) ? static_cast<SysResult>(value) : refuse(turn, nr);
}

SysResult getrandom(Turn& turn, const Args& args) {
  u64 size = args[1] < 256 ? args[1] : 256;
  u8 bytes[256];
  for (u64 i = 0; i < size; ++i) bytes[i] = static_cast<u8>(next_random() >> 56);
  return write(turn, args[0], bytes, size) ? static_cast<SysResult>(size) : error(EFAULT);
}

SysResult getcpu(Turn& turn, const Args& args) {
  u32 zero = 0;
  for (int i = 0; i < 2; ++i) {
    if (args[i] != 0 && !write(turn, args[i], &zero, sizeof zero)) return error(EFAULT);
  }
  return 0;
}

// Signals

/// To itself: others are out of reach.
SysResult send(Turn& turn, i32 nr, i32 target, i32 own, u64 signo, i32 code) {
  if (target != own && !(nr == __NR_kill && target == 0)) return refuse(turn, nr);
  if (signo > signal::kSignals) return error(EINVAL);
  if (signo == 0) return 0;
  SignalInfo info{};
  info.signo = static_cast<i32>(signo);
  info.code = code;
  i32 sender = turn.thread().pid;
  __builtin_memcpy(info.rest, &sender, sizeof sender);
  return signal::enqueue(turn.thread().signals, info) ? 0 : error(EAGAIN);
}

SysResult send_by(Turn& turn, i32 nr, const Args& args) {
  auto first = static_cast<i32>(args[0]), second = static_cast<i32>(args[1]);
  const Thread& self = turn.thread();
  if (nr == __NR_kill) return send(turn, nr, first, self.pid, args[1], signal::kSiUser);
  if (nr == __NR_tkill) return send(turn, nr, first, self.tid, args[1], signal::kSiTkill);
  if (first != self.pid) return refuse(turn, nr);
  return send(turn, nr, second, self.tid, args[2], signal::kSiTkill);
}

SysResult sigpending(Turn& turn, const Args& args) {
  const SignalState& state = turn.thread().signals;
  u64 waiting = state.pending & state.blocked;
  if (args[1] > sizeof waiting) return error(EINVAL);
  return write(turn, args[0], &waiting, args[1]) ? 0 : error(EFAULT);
}

}  // namespace

SysResult serve_call(Turn& turn, i32 nr, Serve serve) {
  const Args args = syscall::arguments(turn);
  switch (nr) {
    case __NR_mmap:
      return is_own_memory(args) ? serve(turn, nr) : refuse(turn, nr);
    case __NR_brk:
    case __NR_munmap:
    case __NR_mprotect:
    case __NR_pkey_mprotect:
    case __NR_mremap:
    case __NR_madvise:
    case __NR_rt_sigaction:
    case __NR_rt_sigprocmask:
    case __NR_sigaltstack:
    case __NR_arch_prctl:
    case __NR_set_tid_address:
      return serve(turn, nr);
    case __NR_set_robust_list:
      turn.thread().robust_list = args[0];
      return 0;
    case __NR_rt_sigpending:
      return sigpending(turn, args);
    case __NR_kill:
    case __NR_tkill:
    case __NR_tgkill:
      return send_by(turn, nr, args);
    case __NR_write:
    case __NR_writev:
    case __NR_fstat:
    case __NR_newfstatat:
    case __NR_ioctl:
      if (is_output(nr, args)) return on_output(turn, nr, args);
      return refuse(turn, nr);
    case __NR_clock_gettime:
      return clock_gettime(turn, args);
    case __NR_gettimeofday:
      return gettimeofday(turn, args);
    case __NR_time:
      return time(turn, args);
    case __NR_clock_getres:
      return clock_getres(turn, args);
    case __NR_nanosleep:
      return nanosleep(args[0]);
    case __NR_clock_nanosleep:
      return clock_nanosleep(turn, args);
    case __NR_futex:
      return futex(turn, args);
    case __NR_sched_yield:
      return 0;
    case __NR_getcpu:
      return getcpu(turn, args);
    case __NR_getrandom:
      return getrandom(turn, args);
    case __NR_getpid:
      return turn.thread().pid;
    case __NR_gettid:
      return turn.thread().tid;
    case __NR_getppid:
      return process().parent_pid;
    case __NR_getuid:
      return recorded_id(turn, nr, AT_UID);
    case __NR_geteuid:
      return recorded_id(turn, nr, AT_EUID);
    case __NR_getgid:
      return recorded_id(turn, nr, AT_GID);
    case __NR_getegid:
      return recorded_id(turn, nr, AT_EGID);
    case __NR_exit:
    case __NR_exit_group:
      end(turn, 0, static_cast<i32>(args[0] & 0xff));
    default:
      return refuse(turn, nr);
  }
}

}  // namespace detrec::guest::divert
