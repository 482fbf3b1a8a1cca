// What a process is asked and told about itself: prctl, arch_prctl, limits, personality, seccomp.

#include <asm/errno.h>
#include <asm/prctl.h>
#include <asm/unistd_64.h>
#include <linux/personality.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/load/loader.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/warnings.h"

namespace detrec::guest::syscall {
namespace {

// Newer than the headers this may be built with (linux/prctl.h).
constexpr u32 kSetMdwe = 65, kGetMdwe = 66, kGetAuxv = 0x41555856;

/// PR_GET_AUXV: the guest's vector, cut to `size`; the result is its full length.
SysResult get_auxv(Turn& turn, GuestAddr to, u64 size) {
  u64 bytes = 0;
  const u64* auxv = load::guest_auxv(&bytes);
  if (!memory::write_guest(turn, to, auxv, size < bytes ? size : bytes)) return error(EFAULT);
  return static_cast<SysResult>(bytes);
}

SysResult get_tid_address(Turn& turn, GuestAddr to) {
  return memory::write_guest(turn, to, turn.thread().clear_child_tid) ? 0 : error(EFAULT);
}

/// A filter in force would catch the engine's own calls. The answer is that of a kernel without filters.
SysResult refuse_filter() {
  if (first_time(Notice::kSeccomp)) {
    warn("the program cannot restrict its system calls (seccomp); it was told so (error %d)", EINVAL);
  }
  return error(EINVAL);
}

}  // namespace

SysResult prctl(Turn& turn, const SyscallRow& row) {
  const Args a = arguments(turn);
  switch (static_cast<u32>(a[0])) {
    case PR_GET_TSC: {
      i32 value = PR_TSC_ENABLE;
      return memory::write_guest(turn, a[1], value) ? 0 : error(EFAULT);
    }
    case PR_SET_TSC:
      return static_cast<i32>(a[1]) == PR_TSC_ENABLE ? 0 : error(EINVAL);
    case PR_GET_SECCOMP:
      return 0;  // no filter in force
    case PR_SET_SECCOMP:
      return refuse_filter();
    case PR_SET_MM:
      return error(EPERM);
    case PR_GET_TID_ADDRESS:
      return get_tid_address(turn, a[1]);
    case PR_SET_SYSCALL_USER_DISPATCH:
      return error(EINVAL);
    case kSetMdwe:
      return error(EINVAL);  // the engine needs new executable memory
    case kGetMdwe:
      return 0;
    case kGetAuxv:
      return a[3] == 0 && a[4] == 0 ? get_auxv(turn, a[1], a[2]) : error(EINVAL);
    default:
      return direct(turn, row);
  }
}

SysResult arch_prctl(Turn& turn) {
  u64 address = turn.arg(1);
  switch (static_cast<i32>(turn.arg(0))) {
    case ARCH_SET_FS:
    case ARCH_SET_GS:
      return raw_syscall(__NR_arch_prctl, turn.arg(0), address);
    case ARCH_GET_FS:
    case ARCH_GET_GS: {
      u64 base = 0;
      SysResult r = raw_syscall(__NR_arch_prctl, turn.arg(0), arg(&base));
      if (failed(r)) return r;
      return memory::write_guest(turn, address, base) ? 0 : error(EFAULT);
    }
    case ARCH_GET_CPUID:
      return 1;  // cpuid does not fault
    case ARCH_SET_CPUID:
      return address != 0 ? 0 : error(ENODEV);
    default:
      return error(EINVAL);  // what a kernel without the newer commands says (AMX, LAM, shadow stacks)
  }
}

SysResult personality(Turn& turn) {
  auto persona = static_cast<u32>(turn.arg(0));
  constexpr u32 kQuery = 0xffff'ffff;
  // Addresses are the engine's choice in any case: not randomising them is what the guest gets,
  // READ_IMPLIES_EXEC is not.
  if (persona != kQuery && (persona & READ_IMPLIES_EXEC)) return error(EINVAL);
  return raw_syscall(__NR_personality, persona);
}

SysResult limits(Turn& turn, const SyscallRow& row) {
  const Args a = arguments(turn);
  switch (row.number) {
    case __NR_getrlimit:
      return memory::prlimit(turn, 0, static_cast<u32>(a[0]), 0, a[1]);
    case __NR_setrlimit:
      if (a[1] == 0) return error(EFAULT);
      return memory::prlimit(turn, 0, static_cast<u32>(a[0]), a[1], 0);
    default:
      return memory::prlimit(turn, static_cast<i32>(a[0]), static_cast<u32>(a[1]), a[2], a[3]);
  }
}

SysResult seccomp(Turn& turn) {
  constexpr u64 kSetModeFilter = 1;
  return turn.arg(0) <= kSetModeFilter ? refuse_filter() : error(EINVAL);
}

}  // namespace detrec::guest::syscall
