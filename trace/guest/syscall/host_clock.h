// The host's clock functions: the engine process's own vdso, which reads the clock without entering the
// kernel.
//
// Called on the engine stack; vdso clock code uses general-purpose registers only (verified by disassembly of
// the kernel's image: no vector instruction outside getrandom).
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::syscall {

/// struct timespec and struct timeval of the 64-bit interface.
struct Timespec {
  i64 seconds;
  i64 nanoseconds;
};
/// As the kernel wants times to wait for.
constexpr bool is_valid(const Timespec& time) {
  return time.seconds >= 0 && time.nanoseconds >= 0 && time.nanoseconds < 1'000'000'000;
}
struct Timeval {
  i64 seconds;
  i64 microseconds;
};

/// Finds the functions of the vdso at `vdso` (AT_SYSINFO_EHDR, 0: none); what it lacks is done by system
/// calls.
void start_host_clock(u64 vdso);

/// As the system calls of the same name; results in engine memory. 0 or -errno.
SysResult host_clock_gettime(i32 clock, Timespec& out);
SysResult host_clock_getres(i32 clock, Timespec& out);
SysResult host_getcpu(u32& cpu, u32& node);

/// CLOCK_MONOTONIC in nanoseconds.
i64 host_monotonic_ns();

}  // namespace detrec::guest::syscall
