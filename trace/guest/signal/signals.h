// Signals: the host's handlers are the engine's; the guest's are entered by frames built here.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::signal {

/// Installs the engine's host handlers and the calling kernel thread's alternate stack; reads inherited dispositions
/// (SIG_IGN stays ignored) and the inherited mask (becomes the guest's). Once per process image.
void start(Turn& turn);
/// For a further kernel thread, before it runs guest code.
void start_thread(Thread& thread);

/// A synchronous fault of the guest at context().regs (pc = the faulting instruction, or after it for int3): delivers at once; when blocked or ignored the process
/// is killed by it as the kernel does. `code`, `address`: si_code, si_addr; trapno and error: what uc_mcontext shows.
struct Fault {
  int signo;
  int code;
  u64 address;
  u64 trapno;
  u64 error;
};
void raise_fault(Turn& turn, const Fault& fault);

/// True when a signal could be delivered to the running thread now.
bool deliverable(Turn& turn);

/// Delivers what is pending and not blocked: builds frames and changes context().regs, stops or kills the process for default actions. Called by the dispatch loop
/// before it re-enters generated code. `interrupted_syscall`: when the last thing the guest did was a system call that returned an ERESTART* code,
/// rax and pc are adjusted per signal(7) (`syscall_nr` to restart it).
void deliver_pending(Turn& turn);

/// Internal results of interrupted system calls (kernel's include/linux/errno.h values, never shown to the guest).
inline constexpr SysResult kERestartSys = -512;         ///< restart when the handler has SA_RESTART
inline constexpr SysResult kERestartNoIntr = -513;      ///< always restart
inline constexpr SysResult kERestartNoHand = -514;      ///< restart only if no handler ran
inline constexpr SysResult kERestartBlock = -516;       ///< nanosleep, poll: remaining time; EINTR when a handler ran

/// Executes a system call that may block, turn lent out by the caller or not: returns -EINTR at once when a deliverable signal arrived before the
/// `syscall` instruction (the handler rewinds the window), so no signal is slept over.
SysResult raw_syscall_interruptible(Thread& thread, long nr, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4, u64 a5);

// System calls (man 2 pages). Results as the kernel's.
SysResult rt_sigaction(Turn&, int signo, GuestAddr act, GuestAddr old, u64 setsize);
SysResult rt_sigprocmask(Turn&, int how, GuestAddr set, GuestAddr old, u64 setsize);
SysResult rt_sigpending(Turn&, GuestAddr set, u64 setsize);
SysResult rt_sigsuspend(Turn&, GuestAddr set, u64 setsize);
SysResult rt_sigtimedwait(Turn&, GuestAddr set, GuestAddr info, GuestAddr timeout, u64 setsize);
SysResult sigaltstack(Turn&, GuestAddr ss, GuestAddr old);
void rt_sigreturn(Turn&);  ///< replaces context().regs and the vector state

/// Temporarily replaces the mask (ppoll, pselect6, epoll_pwait), restored by deliver_pending or by the call's normal end.
void push_mask(Turn&, u64 mask);
void pop_mask(Turn&);

/// After fork in the child (pending signals cleared); before execve (dispositions that the new image inherits put into the kernel: handlers to default, SIG_IGN kept; mask
/// set in the kernel to the guest's).
void after_fork(Turn&);
void prepare_exec(Turn&);
/// Undo prepare_exec when execve failed.
void cancel_exec(Turn&);

/// Copies dispositions for CLONE_SIGHAND-less children; for a new thread: inherits the mask, no pending, no altstack.
void init_child_thread(const Thread& parent, Thread& child);

}  // namespace detrec::guest::signal
