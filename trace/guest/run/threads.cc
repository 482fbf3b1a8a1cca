#include "trace/guest/run/threads.h"

#include <new>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/run/dispatch.h"
#include "trace/guest/run/replayed_turns.h"
#include "trace/guest/signal/signals.h"

extern "C" detrec::guest::i64 detrec_clone_on_stack(detrec::guest::u64 flags, detrec::guest::u64 stack,
                                                    void* parent_tid, void* child_tid, detrec::guest::u64 tls,
                                                    void* argument);

namespace detrec::guest::run {
namespace {

constexpr u64 kCloneVfork = 0x4000, kClonePidfd = 0x1000, kCloneChildClearTid = 0x200000;
constexpr u64 kSetMask = 2;  // SIG_SETMASK

/// Threads out of the list whose kernel threads may still be on their stacks.
KernelThread* dead_threads = nullptr;

/// Takes a thread whose kernel thread is gone out of the dead list; its stacks can be used again.
KernelThread* reusable_thread() {
  for (KernelThread** link = &dead_threads; *link != nullptr; link = &(*link)->next_dead) {
    KernelThread* dead = *link;
    if (__atomic_load_n(&dead->alive, __ATOMIC_ACQUIRE) != 0) continue;
    *link = dead->next_dead;
    if (dead->exec_buffer != nullptr) engine_release(dead->exec_buffer, dead->exec_bytes);
    return dead;
  }
  return nullptr;
}

KernelThread& place_thread(u8* stack, u8* host_signal_stack, u8* bounce) {
  u64 top = (arg(stack) + kEngineStackSize - sizeof(KernelThread)) & ~u64{63};
  auto* thread = new (reinterpret_cast<void*>(top)) KernelThread;
  thread->engine_stack = stack;
  thread->engine_stack_size = kEngineStackSize;
  thread->host_signal_stack = host_signal_stack;
  thread->bounce = bounce;
  return *thread;
}

u64 set_host_mask(u64 mask) {
  u64 old = 0;
  raw_syscall(__NR_rt_sigprocmask, kSetMask, arg(&mask), arg(&old), 8);
  return old;
}

}  // namespace

Thread& create_thread() {
  KernelThread* dead = reusable_thread();
  Thread& thread = dead != nullptr ? place_thread(dead->engine_stack, dead->host_signal_stack, dead->bounce)
                                   : place_thread(static_cast<u8*>(engine_reserve_stack(kEngineStackSize)),
                                                  nullptr, nullptr);
  thread.number = events::new_thread_number();
  return thread;
}

Thread& create_first_thread() {
  KernelThread& thread = kernel_thread(create_thread());
  thread.alive = 1;
  thread.tid = static_cast<i32>(raw_syscall(__NR_set_tid_address, arg(&thread.alive)));
  thread.pid = static_cast<i32>(raw_syscall(__NR_getpid));
  process().threads = &thread;
  process().thread_count = 1;
  wire::Launch* launch = process().launch;
  bool begins = process().first && launch != nullptr && launch->phase == wire::LaunchPhase::kStarting;
  if (begins) ++launch->stats.threads;  // an execve goes on with the thread it has
  return thread;
}

Thread* find_thread(u32 number) {
  Thread* thread = process().threads;
  while (thread != nullptr && thread->number != number) thread = thread->next;
  return thread;
}

void add_thread(Turn& turn, Thread& thread) {
  // Processes of their own in this address space (clone(CLONE_VM)) leave it without a word when they execute
  // a program. A vfork child's parent knows, and still needs the thread.
  for (Thread* t = process().threads; t != nullptr;) {
    Thread* next = t->next;
    bool gone = __atomic_load_n(&kernel_thread(*t).alive, __ATOMIC_ACQUIRE) == 0;
    if (gone && !t->vfork_child) remove_thread(turn, *t);
    t = next;
  }
  kernel_thread(thread).alive = 1;
  thread.next = process().threads;
  process().threads = &thread;
  ++process().thread_count;
}

void remove_thread(Turn&, Thread& thread) {
  for (Thread** link = &process().threads; *link != nullptr; link = &(*link)->next) {
    if (*link != &thread) continue;
    *link = thread.next;
    --process().thread_count;
    break;
  }
  KernelThread& dead = kernel_thread(thread);
  dead.next_dead = dead_threads;
  dead_threads = &dead;
}

void keep_only_running_thread(Turn& turn) {
  Thread& self = turn.thread();
  for (KernelThread* dead = dead_threads; dead != nullptr;) {
    KernelThread* next = dead->next_dead;
    engine_release(dead->engine_stack, dead->engine_stack_size);
    dead = next;
  }
  dead_threads = nullptr;
  for (Thread* thread = process().threads; thread != nullptr;) {
    Thread* next = thread->next;
    if (thread != &self) engine_release(thread->engine_stack, thread->engine_stack_size);
    thread = next;
  }
  process().threads = &self;
  process().thread_count = 1;
  self.next = nullptr;
}

/// First code of a new kernel thread, on its engine stack, with every host signal blocked.
extern "C" [[noreturn]] void detrec_thread_main(KernelThread* self) {
  Turn turn = TurnSchedule::acquire(*self);
  if (events::replaying()) {
    begin_replayed_thread(*self);
  } else {
    self->tid = static_cast<i32>(raw_syscall(__NR_gettid));
  }
  if (self->pid == 0) self->pid = static_cast<i32>(raw_syscall(__NR_getpid));
  if (self->set_child_tid != 0) memory::write_guest(turn, self->set_child_tid, self->tid);
  signal::start_thread(*self);
  enter_guest(turn);
}

SysResult start_kernel_thread(Turn& turn, Thread& child, const KernelClone& clone) {
  KernelThread& kernel = kernel_thread(child);
  if (events::replaying()) return start_replayed_thread(turn, kernel, clone);
  Thread& self = turn.thread();
  kernel.start_mask = set_host_mask(~u64{0});  // until the child has a stack for signals
  u64 flags = clone.flags | kCloneChildClearTid;
  bool vfork = (flags & kCloneVfork) != 0;
  if (vfork) hand_turn_to(turn, child);
  SysResult tid =
      detrec_clone_on_stack(flags, engine_stack_top(child), (flags & kClonePidfd) ? clone.pidfd : nullptr,
                            &kernel.alive, clone.tls, &child);
  if (failed(tid)) kernel.alive = 0;
  if (!failed(tid)) child.tid = static_cast<i32>(tid);  // other threads may ask before it has run
  set_host_mask(kernel.start_mask);
  if (vfork) {
    inherit_turn(self, child);
    turn = TurnSchedule::acquire(self);
  }
  if (!failed(tid)) events::exchange_thread(turn, child.number, child.tid, child.pid);
  return tid;
}

void end_kernel_thread(int status, bool group, GuestAddr joined) {
  constexpr u64 kFutexWake = 1, kOne = 1;
  set_host_mask(~u64{0});  // the host's handlers need the turn or a guest to deliver to
  // The word may be unmapped by now: then the kernel finds nobody there.
  if (joined != 0) raw_syscall(__NR_futex, joined, kFutexWake, kOne);
  raw_syscall(group ? __NR_exit_group : __NR_exit, static_cast<u64>(status));
  __builtin_unreachable();
}

}  // namespace detrec::guest::run
