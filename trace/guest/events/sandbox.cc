#include "trace/guest/events/sandbox.h"

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"

namespace detrec::guest::events {
namespace {

constexpr u32 kSigChld = 17;

/// What the engine needs in a replay. Descriptors are those it has: nothing can be opened.
constexpr u16 kAllowed[] = {
    __NR_mmap,
    __NR_munmap,
    __NR_mprotect,
    __NR_mremap,
    __NR_madvise,
    __NR_mincore,
    __NR_futex,
    __NR_arch_prctl,
    __NR_prctl,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_sigaltstack,
    __NR_getpid,
    __NR_gettid,
    __NR_getppid,
    __NR_exit,
    __NR_exit_group,
    __NR_memfd_create,
    __NR_ftruncate,
    __NR_fallocate,
    __NR_fstat,
    __NR_read,
    __NR_pread64,
    __NR_write,
    __NR_pwrite64,
    __NR_copy_file_range,
    __NR_sendfile,
    __NR_lseek,
    __NR_close,
    __NR_fcntl,
    __NR_prlimit64,
    __NR_execveat,
    __NR_set_tid_address,
    __NR_set_robust_list,
    __NR_restart_syscall,
    __NR_clock_gettime,
};
constexpr u32 kAllowedCount = sizeof kAllowed / sizeof kAllowed[0];

constexpr sock_filter load(u32 offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter answer(u32 what) { return {BPF_RET | BPF_K, 0, 0, what}; }
/// Goes on `equal` or `other` instructions further.
constexpr sock_filter compare(u32 value, u8 equal, u8 other) {
  return {BPF_JMP | BPF_JEQ | BPF_K, equal, other, value};
}

constexpr u32 kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr u32 kFirstArgument = offsetof(seccomp_data, args);

/// struct sock_fprog with its program.
struct Program {
  sock_filter code[2 * kAllowedCount + 24];
  u16 length = 0;
  void add(sock_filter f) { code[length++] = f; }
};

Program make_program() {
  Program p{};
  p.add(load(offsetof(seccomp_data, arch)));
  p.add(compare(AUDIT_ARCH_X86_64, 1, 0));
  p.add(answer(kRefuse));
  p.add(load(offsetof(seccomp_data, nr)));
  for (u16 nr : kAllowed) {
    p.add(compare(nr, 0, 1));
    p.add(answer(SECCOMP_RET_ALLOW));
  }
  // Checkpoints: a fork, no thread, nothing shared.
  p.add(compare(__NR_clone, 0, 4));
  p.add(load(kFirstArgument));
  p.add(compare(CLONE_PARENT | kSigChld, 0, 1));
  p.add(answer(SECCOMP_RET_ALLOW));
  p.add(answer(kRefuse));
  p.add(answer(kRefuse));
  return p;
}

}  // namespace

void start_sandbox() {
  // An image before this one has installed it already.
  constexpr u64 kPathOnly = 010000000, kAtFdCwd = static_cast<u64>(-100);
  SysResult before = raw_syscall(__NR_openat, kAtFdCwd, arg("/"), kPathOnly);
  if (before == -EPERM) return;
  if (!failed(before)) raw_syscall(__NR_close, static_cast<u64>(before));

  Program program = make_program();
  struct {
    u16 length;
    const sock_filter* code;
  } given{program.length, program.code};
  raw_syscall(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  raw_syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, arg(&given));
  SysResult after = raw_syscall(__NR_openat, kAtFdCwd, arg("/"), kPathOnly);
  if (after == -EPERM) return;
  if (!failed(after)) raw_syscall(__NR_close, static_cast<u64>(after));
  warn("this kernel does not confine the replayed program (seccomp); replay only traces you trust");
}

}  // namespace detrec::guest::events
