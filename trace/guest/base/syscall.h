// The one wrapper through which the engine calls the kernel.
#pragma once

#include <asm/unistd_64.h>

#include "trace/guest/base/types.h"

namespace detrec::guest {

/// Executes system call `nr` and returns the kernel's result (-errno on failure). Never used for a call that
/// may block while a guest signal could arrive: see raw_syscall_interruptible.
inline SysResult raw_syscall(long nr, u64 a0 = 0, u64 a1 = 0, u64 a2 = 0, u64 a3 = 0, u64 a4 = 0,
                             u64 a5 = 0) {
  SysResult ret;
  register u64 r10 asm("r10") = a3;
  register u64 r8 asm("r8") = a4;
  register u64 r9 asm("r9") = a5;
  asm volatile("syscall"
               : "=a"(ret)
               : "a"(nr), "D"(a0), "S"(a1), "d"(a2), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return ret;
}

template <class T>
inline u64 arg(T* p) {
  return reinterpret_cast<u64>(p);
}

}  // namespace detrec::guest
