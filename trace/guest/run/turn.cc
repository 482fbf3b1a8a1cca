// First come, first served: a queue of waiting kernel threads, each with a word of its own to sleep on.

#include "trace/guest/run/turn.h"

#include "trace/guest/base/mutex.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/run/ticks.h"

namespace detrec::guest {
namespace {

constexpr u64 kFutexWaitPrivate = 128, kFutexWakePrivate = 129;

/// A thread that waits, on its own stack. The store to `granted` is the last access by anybody else.
struct Waiter {
  Thread* thread;
  Waiter* next;
  u32 granted;
};

struct Line {
  Mutex mutex;
  Thread* holder;
  Waiter* head;
  Waiter* tail;
  u32 calls_in_turn;  ///< system calls since the holder got the turn
  Thread* last;       ///< who had the turn last; its memory stays until another is created
};
constinit Line line{};

wire::TurnReason reason_of(const Thread& from) {
  if (from.ended) return wire::TurnReason::kExits;
  return from.in_call ? wire::TurnReason::kWaits : wire::TurnReason::kSlice;
}

/// Makes `holder` the holder or queues up; true when the turn is already there.
bool take_or_queue(Thread& thread, Waiter& waiter) {
  MutexGuard guard(line.mutex);
  if (line.holder == nullptr || line.holder == &thread) {
    line.holder = &thread;
    return true;
  }
  waiter = {&thread, nullptr, 0};
  if (line.tail != nullptr) {
    line.tail->next = &waiter;
  } else {
    __atomic_store_n(&line.head, &waiter, __ATOMIC_RELAXED);
  }
  line.tail = &waiter;
  return false;
}

void load(Thread& thread) {
  if (events::recording() && line.last != nullptr && line.last != &thread)
    events::record_turn(*line.last, thread, reason_of(*line.last));
  Context& ctx = context();
  line.calls_in_turn = 0;
  ctx.in_guest = 0;  // a holder that was killed may have left it set
  ctx.thread = &thread;
  ctx.engine_rsp = run::engine_stack_top(thread);
  ctx.regs = thread.saved_regs;
  run::load_ticks(ctx, thread);
}

void save(Thread& thread) {
  Context& ctx = context();
  thread.saved_regs = ctx.regs;
  run::save_ticks(ctx, thread);
  ctx.thread = nullptr;
  line.last = &thread;
}

/// Grants the turn to the first in the line; the mutex is held. Returns the word to wake, or nullptr.
u32* grant_next() {
  Waiter* first = line.head;
  if (first == nullptr) {
    line.holder = nullptr;
    return nullptr;
  }
  __atomic_store_n(&line.head, first->next, __ATOMIC_RELAXED);
  if (first->next == nullptr) line.tail = nullptr;
  line.holder = first->thread;
  u32* word = &first->granted;
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  return word;
}

/// Takes the first waiter for which matches(waiter) is true out of the line; the mutex is held.
template <class Matches>
void remove_waiter(Matches matches) {
  Waiter* previous = nullptr;
  for (Waiter* w = line.head; w != nullptr; previous = w, w = w->next) {
    if (!matches(*w)) continue;
    if (previous != nullptr) {
      previous->next = w->next;
    } else {
      __atomic_store_n(&line.head, w->next, __ATOMIC_RELAXED);
    }
    if (line.tail == w) line.tail = previous;
    return;
  }
}

/// Takes the turn from a holder whose kernel thread is gone: a process that shares the address space (a vfork
/// child) may be killed, or execute another program, while it has the turn.
bool take_from_dead(Waiter& waiter) {
  MutexGuard guard(line.mutex);
  if (waiter.granted != 0 || line.holder == nullptr) return false;
  if (__atomic_load_n(&run::kernel_thread(*line.holder).alive, __ATOMIC_ACQUIRE) != 0) return false;
  line.holder = waiter.thread;
  remove_waiter([&waiter](const Waiter& w) { return &w == &waiter; });
  return true;
}

void wait_for_grant(Waiter& waiter) {
  // No spinning: it keeps the processor from the very thread that is about to give the turn away (measured: a
  // hand-over took twice to ten times as long).
  const i64 patience[2] = {0, 200'000'000};  // struct timespec
  while (__atomic_load_n(&waiter.granted, __ATOMIC_ACQUIRE) == 0) {
    raw_syscall(__NR_futex, arg(&waiter.granted), kFutexWaitPrivate, 0, arg(patience));
    if (take_from_dead(waiter)) return;
  }
}

}  // namespace

Turn TurnSchedule::acquire(Thread& thread) {
  Waiter waiter;
  if (events::replaying()) line.holder = &thread;  // switched to (run/replayed_turns.cc)
  if (!take_or_queue(thread, waiter)) wait_for_grant(waiter);
  load(thread);
  return Turn();
}

void TurnSchedule::release(Turn& turn) {
  save(turn.thread());
  if (events::replaying()) return;
  u32* word;
  {
    MutexGuard guard(line.mutex);
    word = grant_next();
  }
  // The waiter may be gone from that stack already: then nobody sleeps there, and the call does nothing.
  if (word != nullptr) raw_syscall(__NR_futex, arg(word), kFutexWakePrivate, 1);
}

bool TurnSchedule::contended() { return __atomic_load_n(&line.head, __ATOMIC_RELAXED) != nullptr; }

void TurnSchedule::reset_after_fork() { line = {{}, context().thread, nullptr, nullptr, 0, nullptr}; }

namespace run {

void note_syscall(Turn& turn) {
  constexpr u32 kCallsPerTurn = 64;
  if (++line.calls_in_turn < kCallsPerTurn || !TurnSchedule::contended()) return;
  TurnLent lent(turn);
}

void hand_turn_to(Turn& turn, Thread& to) {
  save(turn.thread());
  MutexGuard guard(line.mutex);
  line.holder = &to;
}

void inherit_turn(Thread& self, Thread& gone) {
  MutexGuard guard(line.mutex);
  if (line.holder == &gone) {
    line.holder = &self;
    return;
  }
  remove_waiter([&gone](const Waiter& w) { return w.thread == &gone; });
}

}  // namespace run
}  // namespace detrec::guest
