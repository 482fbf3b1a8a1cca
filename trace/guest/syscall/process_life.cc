// How threads and processes begin and end: clone in its three forms, exit.

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/sched.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/child_stores.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/events/ring.h"
#include "trace/guest/events/shared_context.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/run/granted_turns.h"
#include "trace/guest/run/replayed_turns.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/kept_futexes.h"
#include "trace/guest/syscall/robust.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/syscall/warnings.h"
#include "trace/wire/turns.h"

namespace detrec::guest::syscall {
namespace {

constexpr u64 kSetMask = 2;  // SIG_SETMASK

/// The arguments of clone(2), in the order of x86-64.
struct CloneArgs {
  u64 flags;
  GuestAddr stack;
  GuestAddr parent_tid;
  GuestAddr child_tid;
  u64 tls;
};

/// What the kernel is asked for: the stores of thread ids are the engine's, and nobody else may trace.
u64 kernel_flags(u64 flags) {
  return flags & ~u64{CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PTRACE |
                      CLONE_DETACHED};
}

void store_for_parent(Turn& turn, const CloneArgs& args, i32 tid, i32 pidfd) {
  // As in the kernel, an address that cannot be written is not an error.
  if (args.flags & (CLONE_PARENT_SETTID | CLONE_PIDFD))
    events::note_memory_change(args.parent_tid, args.parent_tid + sizeof tid);
  if (args.flags & CLONE_PARENT_SETTID) memory::write_guest(turn, args.parent_tid, tid);
  if (args.flags & CLONE_PIDFD) memory::write_guest(turn, args.parent_tid, pidfd);
}

/// The first steps of a forked child, on its copy of the parent's memory.
void become_child(Turn& turn, const CloneArgs& args) {
  Thread& self = turn.thread();
  run::KernelThread& kernel = run::kernel_thread(self);
  TurnSchedule::reset_after_fork();
  run::keep_only_running_thread(turn);
  self.tid = static_cast<i32>(raw_syscall(__NR_set_tid_address, arg(&kernel.alive)));
  self.pid = static_cast<i32>(raw_syscall(__NR_getpid));
  self.vfork_child = false;
  self.robust_list = 0;
  self.clear_child_tid = (args.flags & CLONE_CHILD_CLEARTID) ? args.child_tid : 0;
  process().pid = self.pid;
  process().first = false;
  events::leave_ring();
  events::begin_child_stores();
  signal::after_fork(turn);
  memory::after_fork(turn);
  run::stops_after_fork();
  if (args.stack != 0) turn.gpr(kRsp) = args.stack;
  if (args.flags & CLONE_CHILD_SETTID) memory::write_guest(turn, args.child_tid, self.tid);
}

SysResult fork_process(Turn& turn, const CloneArgs& args) {
  i32 pidfd = -1;
  events::await_captures();  // the child may change files
  // A signal that reaches the child early must wait until the child's books are its own.
  u64 all = ~u64{0}, mask = 0;
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&all), arg(&mask), 8);
  events::unshare_context();
  bool waits = (args.flags & CLONE_VFORK) != 0 && events::recording();
  if (waits) events::expect_child_stores();
  SysResult r = raw_syscall(__NR_clone, kernel_flags(args.flags), 0,
                            (args.flags & CLONE_PIDFD) ? arg(&pidfd) : 0, 0, args.tls);
  if (r != 0) events::share_context_again();
  if (r != 0 && waits) events::take_child_stores(turn);
  if (r == 0) {
    become_child(turn, args);
  } else if (!failed(r)) {
    store_for_parent(turn, args, static_cast<i32>(r), pidfd);
  }
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&mask), 0, 8);
  return r;
}

/// A further thread of this address space: of this process, or (vfork, clone(CLONE_VM)) a process of its own.
SysResult start_thread(Turn& turn, const CloneArgs& args) {
  Thread& self = turn.thread();
  if (!run::has_room_on_board()) {
    if (first_time(Notice::kTooManyThreads))
      warn("more than %u threads at a time cannot be recorded", wire::kTurnSlots);
    return error(EAGAIN);
  }
  Thread& child = run::create_thread();
  run::enter_board(turn, child);
  bool own_process = (args.flags & CLONE_THREAD) == 0;
  child.pid = own_process ? 0 : self.pid;  // 0: finds out itself
  child.vfork_child = (args.flags & CLONE_VFORK) != 0;
  child.saved_regs = turn.regs();
  child.saved_regs.gpr[kRax] = 0;
  if (args.stack != 0) child.saved_regs.gpr[kRsp] = args.stack;
  run::start_thread_stops(child);
  if (args.flags & CLONE_CHILD_CLEARTID) child.clear_child_tid = args.child_tid;
  if (args.flags & CLONE_CHILD_SETTID) run::kernel_thread(child).set_child_tid = args.child_tid;
  signal::init_child_thread(self, child, (args.flags & CLONE_SIGHAND) != 0);
  run::add_thread(turn, child);

  i32 pidfd = -1;
  Process before = process();
  SysResult r = run::start_kernel_thread(turn, child, {kernel_flags(args.flags), args.tls, &pidfd});
  if (child.vfork_child && (args.flags & CLONE_FILES) == 0) {
    // The child may have moved the engine's descriptors, in a table of its own.
    for (int i = 0; i < kOwnFds; ++i) process().own_fds[i] = before.own_fds[i];
  }
  if (failed(r) || child.vfork_child) run::remove_thread(turn, child);
  if (failed(r)) {
    run::leave_board(child);
    events::take_back_thread_number(child.number);
    return r;
  }
  run::announce_thread(turn, child);
  store_for_parent(turn, args, static_cast<i32>(r), pidfd);
  if (!own_process) ++statistics().threads;
  return r;
}

/// True when threads of other processes use the address space (vfork, clone(CLONE_VM)).
bool is_shared_address_space(Turn& turn) {
  for (Thread* t = process().threads; t != nullptr; t = t->next) {
    if (t->pid != turn.thread().pid) return true;
  }
  return false;
}

/// Takes the threads of the running thread's process out of the lists when the address space outlives them.
void leave_address_space(Turn& turn) {
  Thread& self = turn.thread();
  if (self.vfork_child) return;  // the parent, which takes the turn over, does it
  for (Thread* t = process().threads; t != nullptr;) {
    Thread* next = t->next;
    if (t != &self && t->pid == self.pid) {
      run::inherit_turn(self, *t);
      run::remove_thread(turn, *t);
    }
    t = next;
  }
  run::remove_thread(turn, self);
  TurnSchedule::release(turn, TurnWhy::kEnds);
}

}  // namespace

SysResult clone(Turn& turn, u64 flags, GuestAddr stack, GuestAddr parent_tid, GuestAddr child_tid, u64 tls) {
  CloneArgs args{flags & 0xffff'ffff, stack, parent_tid, child_tid, tls};
  bool pidfd_and_tid = (flags & CLONE_PIDFD) && (flags & (CLONE_PARENT_SETTID | CLONE_DETACHED));
  if (pidfd_and_tid) return error(EINVAL);
  bool own_process = (flags & CLONE_THREAD) == 0;
  if (own_process && events::recording()) {
    // The child runs on without being recorded; in memory of its own, or its stores would be missing in the
    // recording. Those of a vfork child are taken over when it is done with its parent's memory.
    if (first_time(Notice::kChildNotRecorded)) warn("child processes are not recorded");
    bool lends_memory = (args.flags & (CLONE_VM | CLONE_VFORK)) == (CLONE_VM | CLONE_VFORK);
    args.flags &= ~u64{CLONE_VM};
    if (!lends_memory) args.flags &= ~u64{CLONE_VFORK};
  }
  return (args.flags & CLONE_VM) ? start_thread(turn, args) : fork_process(turn, args);
}

void exit_thread(Turn& turn, int status) {
  run::account_thread(turn);
  events::exchange_exit(turn, wire::ExitCause::kThread, status);
  turn.thread().ended = true;
  GuestAddr joined = leave_futexes(turn);
  signal::end_thread(turn.thread());
  run::end_thread_stops(turn.thread());
  if (!turn.thread().vfork_child) {
    run::remove_thread(turn, turn.thread());
    if (events::replaying()) run::leave_replayed_thread(turn);
    if (is_kept_futex(joined, false)) {
      wake_futex(turn, joined, false, 1);
      joined = 0;
    }
    TurnSchedule::release(turn, TurnWhy::kEnds);
  }
  run::end_kernel_thread(status, false, joined);
}

void exit_process(Turn& turn, int status) {
  run::account_process(turn);
  events::exchange_exit(turn, wire::ExitCause::kProcess, status);
  GuestAddr joined = leave_futexes(turn);
  if (is_shared_address_space(turn)) leave_address_space(turn);
  run::end_kernel_thread(status, true, joined);
}

}  // namespace detrec::guest::syscall
