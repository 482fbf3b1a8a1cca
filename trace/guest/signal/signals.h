// Signals: the host's handlers are the engine's; the guest's are entered by frames built here.
// docs/signals.md.
//
// What others have to do:
//  * syscall::handle stores the call's number in thread().signals.syscall_nr before it serves it;
//    deliver_pending uses and clears it.
//  * The dispatch loop asks deliverable() after every system call, and sets context().in_guest before it asks
//    for the last time: a signal that comes later then ends up in request_exit.
//  * Calls that may block go through raw_syscall_interruptible; its kERestart* results are passed on as they
//    are, and its -EINTR is the kernel's decision not to restart (kERestartNoHand).
//  * execve(2) is such a call too: a signal that waits in the queue would be lost with the image.
//  * Every signal is blocked in the kernel from before clone(2) until start_thread() in the new kernel
//  thread.
//  * end_thread() precedes the kernel's exit of a thread.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::signal {

/// Installs the engine's host handlers and the calling kernel thread's alternate stack; reads inherited
/// dispositions (SIG_IGN stays ignored) and the inherited mask (becomes the guest's). Once per process image.
void start(Turn& turn);
/// On a further kernel thread (after init_child_thread), before it runs guest code. The kernel's mask becomes
/// the guest's with the first deliver_pending.
void start_thread(Thread& thread);
/// On a kernel thread that is about to end: hands signals that were meant for the process back to it. Every
/// signal is blocked afterwards.
void end_thread(Thread& thread);

/// A synchronous fault of the guest at context().regs (pc = the faulting instruction, or after it for int3):
/// delivers at once; when blocked or ignored the process is killed by it as the kernel does. `code`,
/// `address`: si_code, si_addr; trapno and error: what uc_mcontext shows.
struct Fault {
  int signo;
  int code;
  u64 address;
  u64 trapno;
  u64 error;
};
void raise_fault(Turn& turn, const Fault& fault);

/// True when deliver_pending has something to do for the running thread: a signal, a fault that the host
/// handler left, an interrupted system call to finish, a kernel mask to be set. Notes that a call which was
/// not interrupted is over.
bool deliverable(Turn& turn);

/// Delivers what is pending and not blocked: builds frames and changes context().regs, stops or kills the
/// process for default actions. Finishes the system call before it: an internal result (kERestart*) becomes
/// -EINTR, or the call is made ready to run again (signal(7)). Ends temporary masks. Called by the dispatch
/// loop before it re-enters generated code.
void deliver_pending(Turn& turn);

/// Internal results of interrupted system calls (kernel's include/linux/errno.h values, never shown to the
/// guest).
inline constexpr SysResult kERestartSys = -512;     ///< restart when the handler has SA_RESTART
inline constexpr SysResult kERestartNoIntr = -513;  ///< always restart
inline constexpr SysResult kERestartNoHand = -514;  ///< restart only if no handler ran
inline constexpr SysResult kERestartBlock =
    -516;  ///< nanosleep, poll: remaining time; EINTR when a handler ran

/// True for one of these.
constexpr bool is_restart_code(SysResult r) {
  return r == kERestartSys || r == kERestartNoIntr || r == kERestartNoHand || r == kERestartBlock;
}

/// Executes a system call that may block, turn lent out by the caller or not. Results besides the kernel's:
/// kERestartNoIntr (kERestartNoHand for calls with a mask): a deliverable signal is there and the call has
/// not been started; kERestartSys: the kernel would restart it for SA_RESTART. -EINTR is the kernel's word
/// that it does not restart. Calls with a mask for the time they wait (ppoll, pselect6, epoll_pwait,
/// epoll_pwait2, rt_sigsuspend) take it from their own arguments, which may point to guest or engine memory;
/// it ends with the call, or in deliver_pending.
SysResult raw_syscall_interruptible(Thread& thread, long nr, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5);

/// What a new image has from the one before.
struct InheritedSignals {
  u64 blocked;  ///< bit signo-1
  u64 ignored;
};
InheritedSignals inherited(Turn& turn);
/// Replay: what the recorded image had.
void set_inherited(Turn& turn, const InheritedSignals& signals);

/// A diversion: the debugger wants `info` delivered, here.
void deliver_chosen(Turn& turn, const SignalInfo& info);

/// Replay: a call with a mask for the time it waits (see raw_syscall_interruptible) was interrupted: its mask
/// stays until the next delivery.
void keep_mask_of_call(Turn& turn, long nr);

// System calls (man 2 pages). Results as the kernel's.
SysResult rt_sigaction(Turn&, int signo, GuestAddr act, GuestAddr old, u64 setsize);
SysResult rt_sigprocmask(Turn&, int how, GuestAddr set, GuestAddr old, u64 setsize);
SysResult rt_sigpending(Turn&, GuestAddr set, u64 setsize);
SysResult rt_sigsuspend(Turn&, GuestAddr set, u64 setsize);
SysResult rt_sigtimedwait(Turn&, GuestAddr set, GuestAddr info, GuestAddr timeout, u64 setsize);
SysResult sigaltstack(Turn&, GuestAddr ss, GuestAddr old);
void rt_sigreturn(Turn&);  ///< replaces context().regs (rax too) and the vector state

/// After fork in the child (pending signals cleared). The kernel's mask is the parent's at the time of the
/// call.
void after_fork(Turn&);
/// Before execve: what the new image inherits is put into the kernel (ignored faults, the exact mask, blocked
/// signals). Then execute it through raw_syscall_interruptible, so that no signal is lost with this image.
void prepare_exec(Turn&);
/// Undoes prepare_exec when execve failed or was not started.
void cancel_exec(Turn&);

/// For a new thread or vfork child: inherits the mask; nothing pending; dispositions shared (CLONE_SIGHAND)
/// or copied. The alternate stack is kept by vfork children only.
void init_child_thread(const Thread& parent, Thread& child, bool shares_actions);
inline void init_child_thread(const Thread& parent, Thread& child) {
  init_child_thread(parent, child, !child.vfork_child);
}

}  // namespace detrec::guest::signal
