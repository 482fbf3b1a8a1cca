// What the files of this folder offer each other: the handlers that dispatch.cc calls, by theme.
//
// A handler reads its arguments with turn.arg() and returns the kernel's result (-errno), or a
// signal::kERestart* code.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/syscalls/table.h"

namespace detrec::guest::syscall {

using syscalls::SyscallRow;

/// The six arguments of a call, in the kernel's order.
struct Args {
  u64 value[6];
  u64& operator[](int i) { return value[i]; }
  u64 operator[](int i) const { return value[i]; }
};
inline Args arguments(Turn& turn) {
  return {{turn.arg(0), turn.arg(1), turn.arg(2), turn.arg(3), turn.arg(4), turn.arg(5)}};
}

/// An errno as a result.
constexpr SysResult error(int number) { return -static_cast<SysResult>(number); }

// generic.cc: by the row alone.
/// Refuses the engine's descriptors and memory: 0, or -EBADF, -EFAULT. Prepares guest memory the kernel will
/// write.
SysResult prepare(Turn& turn, const SyscallRow& row, Args& args);
/// The kernel's call, whatever the pointers are; for calls that do not wait.
SysResult execute(long nr, const Args& args);
/// prepare(), then the kernel with the guest's own pointers, the turn kept.
SysResult direct(Turn& turn, const SyscallRow& row);

// blocking.cc
/// A call that may wait for another guest thread or the outside.
SysResult may_block(Turn& turn, const SyscallRow& row);

// answered.cc
SysResult clock_gettime(Turn& turn);
SysResult gettimeofday(Turn& turn);
SysResult time(Turn& turn);
SysResult getcpu(Turn& turn);
SysResult clock_getres(Turn& turn);
SysResult sched_yield(Turn& turn);
SysResult set_tid_address(Turn& turn);
SysResult set_robust_list(Turn& turn);
SysResult get_robust_list(Turn& turn);

// futex.cc
SysResult futex(Turn& turn, const SyscallRow& row);

// futex_pi.cc
bool is_inheriting(const Args& args);
SysResult inheriting_futex(Turn& turn, const Args& args);
/// Who is about to wait for a priority-inheriting futex says so in the word, while the turn is still here;
/// replay does the same.
void mark_contended(Turn& turn, const Args& args);

// descriptors.cc
SysResult close(Turn& turn, const SyscallRow& row);
SysResult dup(Turn& turn, const SyscallRow& row);
SysResult dup2(Turn& turn, const SyscallRow& row);
SysResult close_range(Turn& turn);
SysResult fcntl(Turn& turn, const SyscallRow& row);

// attributes.cc
SysResult prctl(Turn& turn, const SyscallRow& row);
SysResult arch_prctl(Turn& turn);
SysResult personality(Turn& turn);
SysResult limits(Turn& turn, const SyscallRow& row);
SysResult seccomp(Turn& turn);

// process_life.cc, exec.cc
SysResult clone(Turn& turn, u64 flags, GuestAddr stack, GuestAddr parent_tid, GuestAddr child_tid, u64 tls);
SysResult execve(Turn& turn);
SysResult execveat(Turn& turn);

// other_memory.cc
SysResult process_vm(Turn& turn, const SyscallRow& row);

/// Locks the guest's mappings, one by one: the kernel's own call would fill the engine's tables.
SysResult mlockall(Turn& turn);

// files.cc
/// getdents and getdents64, without the engine's entries in /proc/self/fd.
SysResult getdents(Turn& turn, const SyscallRow& row);

// special.cc
SysResult special(Turn& turn, const SyscallRow& row);

}  // namespace detrec::guest::syscall
