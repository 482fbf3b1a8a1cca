// The kernel threads behind the guest's threads: their engine stacks, their start and their end, and who has
// the turn.
//
// Every guest thread is one kernel thread on an engine stack of its own; the Thread lies at the top of that
// stack. A vfork child is a further Thread of the same address space with a pid of its own. All functions
// need the turn unless they say otherwise.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::run {

/// A guest thread that waits for its turn in a replay.
struct ReplayedState {
  u64 engine_sp = 0;  ///< where it goes on (run/replayed_turns.S)
  u8* vectors = nullptr;
  u64 fs_base = 0;
  u64 gs_base = 0;
};

inline constexpr u32 kNoTurnSlot = ~u32{0};

/// A Thread with what belongs to its kernel thread. Every Thread is one (create_thread makes them all).
struct KernelThread : Thread {
  /// Nonzero while the kernel thread may run on the stack. The kernel zeroes it when the thread has left the
  /// address space (its clear_child_tid), also by execve.
  u32 alive = 0;
  KernelThread* next_dead = nullptr;  ///< stacks that wait for `alive` to become 0
  void* exec_buffer = nullptr;  ///< argument array of an execve in progress; outlives a vfork child that left
  u64 exec_bytes = 0;
  u64 start_mask = 0;           ///< host signal mask to restore once the thread can take signals
  GuestAddr set_child_tid = 0;  ///< where the thread stores its id first (CLONE_CHILD_SETTID)
  ReplayedState replayed;
  u32 turn_slot = kNoTurnSlot;  ///< on the board (granted_turns.h)
  bool is_outside = false;      ///< has given its turn up for something outside
  bool has_created = false;     ///< owes the server the end of the turn in which it has created a thread
  u8* bounce = nullptr;         ///< stands in for guest memory while the thread waits (syscall/blocking.h)
};

inline KernelThread& kernel_thread(Thread& thread) { return static_cast<KernelThread&>(thread); }

/// Where the engine's code starts to use the stack of `thread`: context().engine_rsp while it has the turn.
inline u64 engine_stack_top(const Thread& thread) { return (reinterpret_cast<u64>(&thread) - 64) & ~u64{63}; }

/// Reserves an engine stack and puts a fresh Thread at its top; in no list yet. Does not need the turn.
Thread& create_thread();

/// The Thread of the kernel thread that main() runs on: created, entered in process().threads, with tid and
/// pid set. The caller then takes the turn with TurnSchedule::acquire.
Thread& create_first_thread();

/// The living thread with that number of the run; nullptr: none.
Thread* find_thread(u32 number);

/// Enters a thread that is about to be started in process().threads and in the count.
void add_thread(Turn& turn, Thread& thread);

/// Takes a thread out of process().threads; its stack is reused once its kernel thread is gone.
void remove_thread(Turn& turn, Thread& thread);

/// In a forked child: forgets every thread but the running one and gives their stacks back.
void keep_only_running_thread(Turn& turn);

/// What clone(2) creates a kernel thread with.
struct KernelClone {
  u64 flags;   ///< CLONE_* and the exit signal, without the tid stores (the engine does those)
  u64 tls;     ///< with CLONE_SETTLS
  i32* pidfd;  ///< with CLONE_PIDFD, engine memory
};

/// Starts a kernel thread for `child` (saved_regs and signals filled in), which waits for the turn and enters
/// the guest. With CLONE_VFORK the turn goes to the child with the call, and is taken back when the child has
/// left the address space. Returns the thread id or -errno.
SysResult start_kernel_thread(Turn& turn, Thread& child, const KernelClone& clone);

/// Ends the calling kernel thread, or with `group` its process, without touching guest state; the turn has
/// been released or goes with it. Last of all wakes who waits at the futex word `joined` (0: none), so that
/// they find the thread gone.
[[noreturn]] void end_kernel_thread(int status, bool group, GuestAddr joined);

/// Gives the turn to `to`, which takes it with TurnSchedule::acquire. Afterwards the caller has none.
void hand_turn_to(Turn& turn, Thread& to);

/// Notes that the running thread has made a system call. Calls cost time that ticks do not see: after some of
/// them a thread that others wait for gives them a turn, as after one that has created a thread.
void note_syscall(Turn& turn);

/// Takes the turn for `self` when `gone` (whose kernel thread has left the address space) held it; removes
/// `gone` from the waiting line. Follow with TurnSchedule::acquire(self). Called without the turn.
void inherit_turn(Thread& self, Thread& gone);

}  // namespace detrec::guest::run
