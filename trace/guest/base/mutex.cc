#include "trace/guest/base/mutex.h"

#include "trace/guest/base/syscall.h"

namespace detrec::guest {

// States: 0 free, 1 held, 2 held and somebody may sleep.
void Mutex::lock() {
  constexpr u64 kFutexWaitPrivate = 128;
  u32 expected = 0;
  if (__atomic_compare_exchange_n(&state_, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(&state_, 2, __ATOMIC_ACQUIRE) != 0) {
    raw_syscall(__NR_futex, arg(&state_), kFutexWaitPrivate, 2, 0);
  }
}

void Mutex::unlock() {
  constexpr u64 kFutexWakePrivate = 129;
  if (__atomic_exchange_n(&state_, 0, __ATOMIC_RELEASE) == 2)
    raw_syscall(__NR_futex, arg(&state_), kFutexWakePrivate, 1);
}

}  // namespace detrec::guest
