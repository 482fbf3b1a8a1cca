// One system call: the frequent answers first, then by the class of its row in the table.

#include <asm/errno.h>
#include <asm/unistd_64.h>
#include <linux/auxvec.h>
#include <linux/prctl.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/divert/diversion.h"
#include "trace/guest/events/calls.h"
#include "trace/guest/process.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/syscall/descriptors.h"
#include "trace/guest/syscall/file_writes.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/guest/syscall/syscalls.h"
#include "trace/guest/syscall/warnings.h"
#include "trace/syscalls/commands.h"

namespace detrec::guest::syscall {
namespace {

using syscalls::Class;

// Newer than the headers this may be built with (asm/unistd_64.h).
constexpr i32 kIoUringSetup = 425, kLandlockCreateRuleset = 444, kFutexWaitv = 449, kFutexWake = 454,
              kFutexWait = 455, kFutexRequeue = 456;

/// Calls that programs try and do well without: refused without a word.
bool is_usual_probe(i32 nr) {
  switch (nr) {
    case __NR_rseq:
    case __NR_clone3:
    case __NR_perf_event_open:
    case __NR_pkey_alloc:
    case __NR_io_setup:
    case kIoUringSetup:
    case kLandlockCreateRuleset:
    case __NR_userfaultfd:
      return true;
    default:
      return false;
  }
}

SysResult refuse(const SyscallRow& row) {
  if (!is_usual_probe(row.number) && first_time_for_syscall(static_cast<u32>(row.number))) {
    warn("%s is not supported; the program was told so (error %d)", row.name, row.error);
  }
  return error(row.error);
}

/// Commands that a kernel may well lack are refused without a word; these change what a program can do.
SysResult refuse_command(const SyscallRow& row, const syscalls::CommandRow& command) {
  bool matters = row.number == __NR_ptrace || row.number == __NR_bpf;
  if (matters && first_time_for_syscall(static_cast<u32>(row.number))) {
    warn("%s (%s) is not supported; the program was told so (error %d)", row.name, command.name,
         command.error);
  }
  return error(command.error);
}

SysResult unknown(i32 nr) {
  // Probes with numbers that no kernel has are not worth a line.
  if (nr >= 0 && nr < 4096 && first_time(Notice::kUnknownSyscall)) {
    warn("system call %d is not known; the program was told so (ENOSYS)", nr);
  }
  return error(ENOSYS);
}

SysResult answered(Turn& turn, const SyscallRow& row) {
  switch (row.number) {
    case __NR_clock_gettime:
      return clock_gettime(turn);
    case __NR_sched_yield:
      return sched_yield(turn);
    case __NR_gettimeofday:
      return gettimeofday(turn);
    case __NR_time:
      return time(turn);
    case __NR_getcpu:
      return getcpu(turn);
    case __NR_clock_getres:
      return clock_getres(turn);
    case __NR_set_tid_address:
      return set_tid_address(turn);
    case __NR_set_robust_list:
      return set_robust_list(turn);
    case __NR_get_robust_list:
      return get_robust_list(turn);
    case kFutexWaitv:
    case kFutexWait:
    case kFutexWake:
    case kFutexRequeue:
      // A recording keeps futexes where these calls do not look; libraries do without them.
      if (events::recording()) return error(ENOSYS);
      return row.number == kFutexWaitv || row.number == kFutexWait ? may_block(turn, row) : direct(turn, row);
    default:
      return direct(turn, row);  // getppid, getrandom
  }
}

/// Direct calls with a detail to look after.
SysResult passed_on(Turn& turn, const SyscallRow& row) {
  switch (row.number) {
    case __NR_getdents:
    case __NR_getdents64:
      return getdents(turn, row);
    case __NR_mlockall:
      return mlockall(turn);
    default:
      // Devices take their time; these calls write no guest memory that a bounce buffer cannot stand in for.
      return row.has(syscalls::kSlow) ? may_block(turn, row) : direct(turn, row);
  }
}

SysResult by_class(Turn& turn, const SyscallRow& row, Class klass) {
  switch (klass) {
    case Class::kAnswered:
      return answered(turn, row);
    case Class::kDirect:
      return passed_on(turn, row);
    case Class::kMayBlock:
      return may_block(turn, row);
    case Class::kSpecial:
      return special(turn, row);
    case Class::kRefused:
      return refuse(row);
  }
  return error(ENOSYS);
}

/// A call that may change the content of a file.
SysResult writing(Turn& turn, const SyscallRow& row) {
  FileWrite write(turn, row, arguments(turn));
  if (failed(write.refused())) return write.refused();
  return write.finish(by_class(turn, row, row.klass));
}

/// A call whose command decides. What the table does not describe gets the answer of a kernel that does not
/// either.
SysResult by_command(Turn& turn, const SyscallRow& row) {
  if (row.number == __NR_futex) return futex(turn, row);  // the kernel's own, with all its commands
  const Args args = arguments(turn);
  const syscalls::CommandRow* command = syscalls::find_command(row, args.value);
  if (command == nullptr) {
    int number = syscalls::unknown_error(row.commands);
    u64 key = syscalls::command_key(row.commands, row, args.value);
    if (first_time_for_command(static_cast<u32>(row.number), key)) {
      warn("%s with command 0x%lx is not known; the program was told so (error %d)", row.name, key, number);
    }
    return error(number);
  }
  if (command->klass == Class::kRefused) return refuse_command(row, *command);
  // The call's own handler knows its commands; else the command says how it is treated.
  bool own_handler = row.klass == Class::kSpecial || row.klass == Class::kAnswered;
  return by_class(turn, row, own_handler || command->klass == Class::kSpecial ? row.klass : command->klass);
}

SysResult by_number(Turn& turn, i32 nr) {
  const SyscallRow* row = syscalls::find(nr);
  if (row == nullptr) return unknown(nr);
  if (row->has(syscalls::kWritesFile)) return writing(turn, *row);
  if (row->commands != syscalls::Commands::kNone) return by_command(turn, *row);
  return by_class(turn, *row, row->klass);
}

/// Recorded, replayed, or just served.
SysResult exchanged(Turn& turn, i32 nr) {
  if (events::diverted) return divert::serve_call(turn, nr, by_number);
  if (events::replaying()) return events::replay_call(turn, nr, by_number);
  if (!events::recording()) return by_number(turn, nr);
  prepare_opening(turn, nr);
  events::RecordedCall call(turn, nr);
  SysResult result = events::writes_output_unseen(turn, nr) ? error(EINVAL) : by_number(turn, nr);
  note_opening(turn, nr, result);
  call.finish(turn, result);
  return result;
}

/// What the kernel gave the engine in its auxiliary vector.
struct KernelAuxv {
  u64 vdso = 0;
  const char* exec_name = nullptr;
};

KernelAuxv read_kernel_auxv() {
  constexpr u64 kGetAuxv = 0x41555856;  // PR_GET_AUXV, Linux 6.4
  constexpr int kEntries = 64;
  u64 auxv[2 * kEntries] = {};
  if (failed(raw_syscall(__NR_prctl, kGetAuxv, arg(auxv), sizeof(auxv), 0, 0))) {
    constexpr u64 kAtFdCwd = static_cast<u64>(-100);
    SysResult fd = raw_syscall(__NR_openat, kAtFdCwd, arg("/proc/self/auxv"), 0);
    if (failed(fd)) return {};
    raw_syscall(__NR_read, static_cast<u64>(fd), arg(auxv), sizeof(auxv) - 16);
    raw_syscall(__NR_close, static_cast<u64>(fd));
  }
  KernelAuxv found;
  for (int i = 0; i < kEntries && auxv[2 * i] != AT_NULL; ++i) {
    if (auxv[2 * i] == AT_SYSINFO_EHDR) found.vdso = auxv[2 * i + 1];
    if (auxv[2 * i] == AT_EXECFN) found.exec_name = reinterpret_cast<const char*>(auxv[2 * i + 1]);
  }
  return found;
}

/// The descriptor in "/dev/fd/<n>", the name the kernel gives to an image executed through a descriptor; -1:
/// another name.
i32 fd_of_exec_name(const char* name) {
  constexpr char kPrefix[] = "/dev/fd/";
  if (name == nullptr || !starts_with(name, kPrefix)) return -1;
  i32 fd = 0;
  for (const char* digit = name + sizeof(kPrefix) - 1; *digit != 0; ++digit) {
    if (*digit < '0' || *digit > '9' || fd > 100'000'000) return -1;
    fd = fd * 10 + (*digit - '0');
  }
  return fd;
}

}  // namespace

void handle(Turn& turn) {
  auto nr = static_cast<i32>(turn.gpr(kRax));  // the kernel ignores the upper half too
  switch (nr) {
    case __NR_getpid:
      turn.set_result(turn.thread().pid);
      return;
    case __NR_gettid:
      turn.set_result(turn.thread().tid);
      return;
    case __NR_clock_gettime:
      turn.set_result(exchanged(turn, nr));
      return;
    default:
      break;
  }
  if (nr == __NR_rt_sigreturn) {
    events::exchange_sigreturn(turn);
    signal::rt_sigreturn(turn);
    return;
  }
  Thread& thread = turn.thread();
  thread.signals.syscall_nr = nr;
  thread.in_call = true;
  SysResult result = exchanged(turn, nr);
  thread.in_call = false;
  turn.set_result(result);
  // Only a call that may have to run again has anything left to be finished.
  if (!signal::is_restart_code(result)) thread.signals.syscall_nr = -1;
  if (!events::replaying()) run::note_syscall(turn);
}

void start(Turn&) {
  KernelAuxv auxv = read_kernel_auxv();
  start_host_clock(auxv.vdso);
  // An execve of the engine's own names the descriptor there; the launch page only knows the first image's.
  if (i32 fd = fd_of_exec_name(auxv.exec_name); fd >= 0) process().own_fds[kImageFd] = fd;
  place_engine_fds();
}

}  // namespace detrec::guest::syscall
