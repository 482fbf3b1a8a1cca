// A futex-based mutex for the engine's own kernel threads (never shared with the guest).
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest {

class Mutex {
 public:
  void lock();
  void unlock();

 private:
  u32 state_ = 0;  // 0 free, 1 held, 2 held with waiters
};

class MutexGuard {
 public:
  explicit MutexGuard(Mutex& m) : mutex_(m) { mutex_.lock(); }
  ~MutexGuard() { mutex_.unlock(); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace detrec::guest
