// Calls about what the engine keeps books of: each to the folder or file that keeps them.

#include <asm/errno.h>
#include <asm/unistd_64.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/fd_notes.h"
#include "trace/guest/syscall/files.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/syscall/warnings.h"

namespace detrec::guest::syscall {
namespace {

using syscalls::Subject;

i32 low(u64 value) { return static_cast<i32>(value); }

/// Exists in the table, but has no handler here.
SysResult without_handler(const SyscallRow& row) {
  int number = row.error != 0 ? row.error : ENOSYS;
  if (first_time_for_syscall(static_cast<u32>(row.number))) {
    warn("%s is not supported; the program was told so (error %d)", row.name, number);
  }
  return error(number);
}

/// mmap, mprotect and pkey_mprotect all say so in their third argument.
bool makes_executable(const SyscallRow& row, const Args& a) {
  constexpr u64 kProtExec = 4;
  return row.number == __NR_shmat || (a[2] & kProtExec) != 0;
}

/// A file that is written has to be recorded when it is mapped.
bool becomes_mapped(const SyscallRow& row, const Args& a) {
  constexpr u64 kAnonymous = 0x20;
  return events::recording() && row.number == __NR_mmap && (a[3] & kAnonymous) == 0;
}

SysResult on_memory(Turn& turn, const SyscallRow& row) {
  const Args a = arguments(turn);
  if (makes_executable(row, a) || becomes_mapped(row, a)) forget_all_fds();
  switch (row.number) {
    case __NR_mmap:
      return memory::mmap(turn, a[0], a[1], static_cast<u32>(a[2]), static_cast<u32>(a[3]), low(a[4]), a[5]);
    case __NR_munmap:
      return memory::munmap(turn, a[0], a[1]);
    case __NR_mprotect:
      return memory::mprotect(turn, a[0], a[1], static_cast<u32>(a[2]));
    case __NR_mremap:
      return memory::mremap(turn, a[0], a[1], a[2], static_cast<u32>(a[3]), a[4]);
    case __NR_brk:
      return memory::brk(turn, a[0]);
    case __NR_madvise:
      return memory::madvise(turn, a[0], a[1], low(a[2]));
    case __NR_shmat:
      return memory::shmat(turn, low(a[0]), a[1], low(a[2]));
    case __NR_shmdt:
      return memory::shmdt(turn, a[0]);
    case __NR_mlock2:
      return direct(turn, row);
    case __NR_process_vm_readv:
    case __NR_process_vm_writev:
      return process_vm(turn, row);
    case __NR_pkey_mprotect:
      // Without protection keys only "no key" makes sense: then it is mprotect.
      if (low(a[3]) != -1) return error(EINVAL);
      return memory::mprotect(turn, a[0], a[1], static_cast<u32>(a[2]));
    default:
      return without_handler(row);
  }
}

SysResult on_process(Turn& turn, const SyscallRow& row) {
  const Args a = arguments(turn);
  constexpr u64 kSigchld = 17, kCloneVm = 0x100, kCloneVfork = 0x4000;
  switch (row.number) {
    case __NR_clone:
      return clone(turn, a[0], a[1], a[2], a[3], a[4]);
    case __NR_fork:
      return clone(turn, kSigchld, 0, 0, 0, 0);
    case __NR_vfork:
      return clone(turn, kCloneVm | kCloneVfork | kSigchld, 0, 0, 0, 0);
    case __NR_execve:
      return execve(turn);
    case __NR_execveat:
      return execveat(turn);
    case __NR_exit:
      exit_thread(turn, low(a[0]));
    case __NR_exit_group:
      exit_process(turn, low(a[0]));
    case __NR_wait4:
    case __NR_waitid:
      return may_block(turn, row);
    case __NR_prctl:
      return prctl(turn, row);
    case __NR_arch_prctl:
      return arch_prctl(turn);
    case __NR_personality:
      return personality(turn);
    case __NR_getrlimit:
    case __NR_setrlimit:
    case __NR_prlimit64:
      return limits(turn, row);
    case __NR_seccomp:
      return seccomp(turn);
    case __NR_restart_syscall:
      return error(EINTR);  // what the kernel says when there is nothing to restart
    case __NR_unshare:
    case __NR_setns:
      return direct(turn, row);
    case __NR_ptrace:
      return error(EPERM);
    default:
      return without_handler(row);
  }
}

SysResult on_signals(Turn& turn, const SyscallRow& row) {
  const Args a = arguments(turn);
  switch (row.number) {
    case __NR_rt_sigaction:
      return signal::rt_sigaction(turn, low(a[0]), a[1], a[2], a[3]);
    case __NR_rt_sigprocmask:
      return signal::rt_sigprocmask(turn, low(a[0]), a[1], a[2], a[3]);
    case __NR_rt_sigpending:
      return signal::rt_sigpending(turn, a[0], a[1]);
    case __NR_rt_sigsuspend:
      return signal::rt_sigsuspend(turn, a[0], a[1]);
    case __NR_rt_sigtimedwait:
      return signal::rt_sigtimedwait(turn, a[0], a[1], a[2], a[3]);
    case __NR_sigaltstack:
      return signal::sigaltstack(turn, a[0], a[1]);
    case __NR_pause:
      return kernel_wait(turn, row.number, a);
    default:
      break;
  }
  // Sending, timers, signalfd: the kernel's work.
  run::AccountedMeanwhile accounted(turn);
  return direct(turn, row);
}

SysResult on_descriptors(Turn& turn, const SyscallRow& row) {
  switch (row.number) {
    case __NR_close:
      return close(turn, row);
    case __NR_dup:
      return dup(turn, row);
    case __NR_dup2:
    case __NR_dup3:
      return dup2(turn, row);
    case __NR_fcntl:
      return fcntl(turn, row);
    case __NR_close_range:
      return close_range(turn);
    case __NR_pidfd_getfd:
      return direct(turn, row);
    default:
      return without_handler(row);
  }
}

}  // namespace

SysResult special(Turn& turn, const SyscallRow& row) {
  switch (row.subject) {
    case Subject::kMemory:
      return on_memory(turn, row);
    case Subject::kProcess:
      return on_process(turn, row);
    case Subject::kSignals:
      return on_signals(turn, row);
    case Subject::kDescriptors:
      return on_descriptors(turn, row);
    case Subject::kPath:
      return on_path(turn, row);
    case Subject::kNone:
      break;
  }
  return without_handler(row);
}

}  // namespace detrec::guest::syscall
