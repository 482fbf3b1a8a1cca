// Calls whose result the engine knows or computes: clocks, and what a thread tells the kernel about itself.

#include <asm/errno.h>
#include <linux/time.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/events/calls.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::syscall {
namespace {

constexpr u64 kRobustListSize = 24;  // sizeof(struct robust_list_head)

Thread* thread_by_id(i32 tid) {
  for (Thread* t = process().threads; t != nullptr; t = t->next) {
    if (t->tid == tid) return t;
  }
  return nullptr;
}

}  // namespace

SysResult clock_gettime(Turn& turn) {
  Timespec now;
  SysResult r = host_clock_gettime(static_cast<i32>(turn.arg(0)), now);
  if (failed(r)) return r;
  return memory::write_guest(turn, turn.arg(1), now) ? 0 : error(EFAULT);
}

/// What the short way of run/exits.S comes back with, in rax and rdx.
struct QuickAnswer {
  SysResult result;
  u64 is_answered;  ///< 0: nothing has been done, the call is to take the common way
};

/// The short way of run/exits.S: clock_gettime without the dispatch loop. The thread holds the turn.
extern "C" QuickAnswer quick_clock_gettime(u64 clock, GuestAddr to, u32 site_index) {
  const translate::Site& site = translate::block_index().site(site_index);
  Context& c = context();
  c.regs.pc = site.pc;
  c.resume = site.cache;
  Turn turn = TurnSchedule::held();
  u64 epoch = translate::epoch();
  SysResult r = 0;
  if (events::replaying()) {
    if (events::diverted || !events::replay_clock(turn, clock, to)) return {0, 0};
  } else {
    Timespec now;
    r = host_clock_gettime(static_cast<i32>(clock), now);
    if (!failed(r) && !memory::write_guest(turn, to, now)) r = error(EFAULT);
    if (events::recording()) events::record_clock(turn, clock, to, r, now);
  }
  ++statistics().exits_syscall;
  if (epoch != translate::epoch()) {  // written over translated code, perhaps the caller's
    translate::FetchFault fault;
    CacheAddr anew = translate::body_of(turn, c.regs.pc, fault);
    if (anew != CacheAddr::kNone) c.resume = raw(anew);
  }
  return {r, 1};
}

SysResult gettimeofday(Turn& turn) {
  if (turn.arg(0) != 0) {
    Timespec now;
    host_clock_gettime(CLOCK_REALTIME, now);
    Timeval value{now.seconds, now.nanoseconds / 1000};
    if (!memory::write_guest(turn, turn.arg(0), value)) return error(EFAULT);
  }
  if (turn.arg(1) != 0) {
    u64 zone = 0;  // struct timezone, which the kernel keeps for settimeofday's sake
    raw_syscall(__NR_gettimeofday, 0, arg(&zone));
    if (!memory::write_guest(turn, turn.arg(1), zone)) return error(EFAULT);
  }
  return 0;
}

SysResult time(Turn& turn) {
  // Whole seconds of the coarse clock, as the kernel answers it.
  Timespec now;
  host_clock_gettime(CLOCK_REALTIME_COARSE, now);
  if (turn.arg(0) != 0 && !memory::write_guest(turn, turn.arg(0), now.seconds)) return error(EFAULT);
  return now.seconds;
}

SysResult getcpu(Turn& turn) {
  u32 cpu = 0, node = 0;
  SysResult r = host_getcpu(cpu, node);
  if (failed(r)) return r;
  if (turn.arg(0) != 0 && !memory::write_guest(turn, turn.arg(0), cpu)) return error(EFAULT);
  if (turn.arg(1) != 0 && !memory::write_guest(turn, turn.arg(1), node)) return error(EFAULT);
  return 0;
}

SysResult clock_getres(Turn& turn) {
  Timespec resolution;
  SysResult r = host_clock_getres(static_cast<i32>(turn.arg(0)), resolution);
  if (failed(r) || turn.arg(1) == 0) return r;
  return memory::write_guest(turn, turn.arg(1), resolution) ? 0 : error(EFAULT);
}

SysResult sched_yield(Turn& turn) {
  if (TurnSchedule::contended()) {
    TurnSchedule::pass(turn, TurnWhy::kYield);
  } else {
    raw_syscall(__NR_sched_yield);  // for the sake of other processes
  }
  return 0;
}

SysResult set_tid_address(Turn& turn) {
  turn.thread().clear_child_tid = turn.arg(0);
  return turn.thread().tid;
}

SysResult set_robust_list(Turn& turn) {
  if (turn.arg(1) != kRobustListSize) return error(EINVAL);
  turn.thread().robust_list = turn.arg(0);
  turn.thread().robust_list_len = turn.arg(1);
  // The kernel knows it too: it does the marking when the process is killed. An orderly end is the engine's.
  return raw_syscall(__NR_set_robust_list, turn.arg(0), turn.arg(1));
}

SysResult get_robust_list(Turn& turn) {
  auto tid = static_cast<i32>(turn.arg(0));
  Thread* thread = tid == 0 ? &turn.thread() : thread_by_id(tid);
  GuestAddr head = 0;
  u64 length = kRobustListSize;
  if (thread != nullptr) {
    head = thread->robust_list;
  } else {
    SysResult r = raw_syscall(__NR_get_robust_list, static_cast<u64>(tid), arg(&head), arg(&length));
    if (failed(r)) return r;
  }
  if (!memory::write_guest(turn, turn.arg(2), length)) return error(EFAULT);
  return memory::write_guest(turn, turn.arg(1), head) ? 0 : error(EFAULT);
}

}  // namespace detrec::guest::syscall
