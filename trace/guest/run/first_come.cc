// A queue of waiting kernel threads, each with a word of its own to sleep on.

#include "trace/guest/run/first_come.h"

#include "trace/guest/base/mutex.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/run/threads.h"

namespace detrec::guest::run {
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
};
constinit Line line{};

/// Makes `thread` the holder or queues it up; true when the turn is already there.
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
  if (__atomic_load_n(&kernel_thread(*line.holder).alive, __ATOMIC_ACQUIRE) != 0) return false;
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

void wait_in_line(Thread& thread) {
  Waiter waiter;
  if (!take_or_queue(thread, waiter)) wait_for_grant(waiter);
}

void leave_to_line() {
  u32* word;
  {
    MutexGuard guard(line.mutex);
    word = grant_next();
  }
  // The waiter may be gone from that stack already: then nobody sleeps there, and the call does nothing.
  if (word != nullptr) raw_syscall(__NR_futex, arg(word), kFutexWakePrivate, 1);
}

bool line_waits() { return __atomic_load_n(&line.head, __ATOMIC_RELAXED) != nullptr; }

void reset_line(Thread* thread) { line = {{}, thread, nullptr, nullptr}; }

void set_line_holder(Thread& to) {
  MutexGuard guard(line.mutex);
  line.holder = &to;
}

void take_line_place(Thread& self, Thread& gone) {
  MutexGuard guard(line.mutex);
  if (line.holder == &gone) {
    line.holder = &self;
    return;
  }
  remove_waiter([&gone](const Waiter& w) { return w.thread == &gone; });
}

}  // namespace detrec::guest::run
