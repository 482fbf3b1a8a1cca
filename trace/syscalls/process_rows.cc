// Commands of fcntl, prctl, arch_prctl, futex, madvise, ptrace and bpf.
#include "trace/syscalls/build_commands.h"

namespace detrec::syscalls {
namespace {

using namespace build;

constexpr Subject kOnMemory = Subject::kMemory;
constexpr Subject kOnProcess = Subject::kProcess;
constexpr Subject kOnSignals = Subject::kSignals;
constexpr Subject kOnDescriptors = Subject::kDescriptors;

// fcntl(2), include/uapi/asm-generic/fcntl.h, include/uapi/linux/fcntl.h. struct flock has 32 bytes.
constexpr CommandRow kFcntlRows[] = {
    handle(kOnDescriptors, 0, "F_DUPFD", {kFd}).creates_fd(),
    handle(kOnDescriptors, 1, "F_GETFD"),
    handle(kOnDescriptors, 2, "F_SETFD", {kFlags}),
    pass(3, "F_GETFL"),
    pass(4, "F_SETFL", {kFlags}),
    pass(5, "F_GETLK", {inout(32)}),
    pass(6, "F_SETLK", {in(32)}),
    wait(7, "F_SETLKW", {in(32)}),
    pass(8, "F_SETOWN", {kPid}),
    pass(9, "F_GETOWN"),
    pass(10, "F_SETSIG", {kSignal}),
    pass(11, "F_GETSIG"),
    pass(15, "F_SETOWN_EX", {in(8)}),
    pass(16, "F_GETOWN_EX", {out(8)}),
    pass(17, "F_GETOWNER_UIDS", {out(8)}),
    pass(36, "F_OFD_GETLK", {inout(32)}),
    pass(37, "F_OFD_SETLK", {in(32)}),
    wait(38, "F_OFD_SETLKW", {in(32)}),
    pass(1024, "F_SETLEASE", {kInt}),
    pass(1025, "F_GETLEASE"),
    pass(1026, "F_NOTIFY", {kFlags}),
    pass(1027, "F_DUPFD_QUERY", {kFd}),
    pass(1028, "F_CREATED_QUERY"),
    handle(kOnDescriptors, 1030, "F_DUPFD_CLOEXEC", {kFd}).creates_fd(),
    pass(1031, "F_SETPIPE_SZ", {kSize32}),
    pass(1032, "F_GETPIPE_SZ"),
    pass(1033, "F_ADD_SEALS", {kFlags}),
    pass(1034, "F_GET_SEALS"),
    pass(1035, "F_GET_RW_HINT", {out(8)}),
    pass(1036, "F_SET_RW_HINT", {in(8)}),
    pass(1037, "F_GET_FILE_RW_HINT", {out(8)}),
    pass(1038, "F_SET_FILE_RW_HINT", {in(8)}),
};
constexpr Sorted kFcntl = sorted(kFcntlRows);
static_assert(!kFcntl.has_duplicates());

// prctl(2), include/uapi/linux/prctl.h. What other architectures have gets x86's EINVAL.
constexpr CommandRow kPrctlRows[] = {
    handle(kOnSignals, 1, "PR_SET_PDEATHSIG", {kSignal}),
    handle(kOnSignals, 2, "PR_GET_PDEATHSIG", {out(4)}),
    pass(3, "PR_GET_DUMPABLE"),
    // Not dumpable: the server could not look into the process any more.
    handle(kOnProcess, 4, "PR_SET_DUMPABLE", {kInt}),
    refuse(EINVAL, 5, "PR_GET_UNALIGN", {out(4)}),
    refuse(EINVAL, 6, "PR_SET_UNALIGN", {kInt}),
    pass(7, "PR_GET_KEEPCAPS"),
    pass(8, "PR_SET_KEEPCAPS", {kInt}),
    refuse(EINVAL, 9, "PR_GET_FPEMU", {out(4)}),
    refuse(EINVAL, 10, "PR_SET_FPEMU", {kInt}),
    refuse(EINVAL, 11, "PR_GET_FPEXC", {out(4)}),
    refuse(EINVAL, 12, "PR_SET_FPEXC", {kInt}),
    pass(13, "PR_GET_TIMING"),
    pass(14, "PR_SET_TIMING", {kInt}),
    pass(15, "PR_SET_NAME", {kString}),
    pass(16, "PR_GET_NAME", {out(16)}),
    refuse(EINVAL, 19, "PR_GET_ENDIAN", {out(4)}),
    refuse(EINVAL, 20, "PR_SET_ENDIAN", {kInt}),
    pass(21, "PR_GET_SECCOMP"),
    handle(kOnProcess, 22, "PR_SET_SECCOMP", {kInt, kAddress}).or_error(EINVAL),
    pass(23, "PR_CAPBSET_READ", {kInt}),
    pass(24, "PR_CAPBSET_DROP", {kInt}),
    answer(25, "PR_GET_TSC", {out(4)}),
    handle(kOnProcess, 26, "PR_SET_TSC", {kInt}).or_error(EINVAL),
    pass(27, "PR_GET_SECUREBITS"),
    pass(28, "PR_SET_SECUREBITS", {kFlags}),
    pass(29, "PR_SET_TIMERSLACK", {kWord}),
    pass(30, "PR_GET_TIMERSLACK"),
    refuse(EINVAL, 31, "PR_TASK_PERF_EVENTS_DISABLE"),
    refuse(EINVAL, 32, "PR_TASK_PERF_EVENTS_ENABLE"),
    pass(33, "PR_MCE_KILL", {kInt, kInt}),
    pass(34, "PR_MCE_KILL_GET"),
    // What a process without CAP_SYS_RESOURCE gets: the map it speaks of would be the engine's.
    refuse(EPERM, 35, "PR_SET_MM", {kInt, kAddress, kSize}),
    pass(36, "PR_SET_CHILD_SUBREAPER", {kInt}),
    pass(37, "PR_GET_CHILD_SUBREAPER", {out(4)}),
    pass(38, "PR_SET_NO_NEW_PRIVS", {kInt}),
    pass(39, "PR_GET_NO_NEW_PRIVS"),
    answer(40, "PR_GET_TID_ADDRESS", {out(8)}),
    pass(41, "PR_SET_THP_DISABLE", {kInt, kFlags}),
    pass(42, "PR_GET_THP_DISABLE"),
    refuse(EINVAL, 43, "PR_MPX_ENABLE_MANAGEMENT"),
    refuse(EINVAL, 44, "PR_MPX_DISABLE_MANAGEMENT"),
    refuse(EINVAL, 45, "PR_SET_FP_MODE"),
    refuse(EINVAL, 46, "PR_GET_FP_MODE"),
    pass(47, "PR_CAP_AMBIENT", {kInt, kInt}),
    refuse(EINVAL, 50, "PR_SVE_SET_VL"),
    refuse(EINVAL, 51, "PR_SVE_GET_VL"),
    pass(52, "PR_GET_SPECULATION_CTRL", {kInt}),
    pass(53, "PR_SET_SPECULATION_CTRL", {kInt, kInt}),
    refuse(EINVAL, 54, "PR_PAC_RESET_KEYS"),
    refuse(EINVAL, 55, "PR_SET_TAGGED_ADDR_CTRL"),
    refuse(EINVAL, 56, "PR_GET_TAGGED_ADDR_CTRL"),
    pass(57, "PR_SET_IO_FLUSHER", {kInt}),
    pass(58, "PR_GET_IO_FLUSHER"),
    refuse(EINVAL, 59, "PR_SET_SYSCALL_USER_DISPATCH", {kInt, kAddress, kSize, kAddress}),
    refuse(EINVAL, 60, "PR_PAC_SET_ENABLED_KEYS"),
    refuse(EINVAL, 61, "PR_PAC_GET_ENABLED_KEYS"),
    refuse(EINVAL, 62, "PR_SCHED_CORE", {kInt, kPid, kInt, out(8)}),
    refuse(EINVAL, 63, "PR_SME_SET_VL"),
    refuse(EINVAL, 64, "PR_SME_GET_VL"),
    // Forbids to make memory executable that was writable: the engine's cache would fall under it.
    refuse(EINVAL, 65, "PR_SET_MDWE", {kFlags}),
    refuse(EINVAL, 66, "PR_GET_MDWE"),
    pass(67, "PR_SET_MEMORY_MERGE", {kInt}),
    pass(68, "PR_GET_MEMORY_MERGE"),
    refuse(EINVAL, 69, "PR_RISCV_V_SET_CONTROL"),
    refuse(EINVAL, 70, "PR_RISCV_V_GET_CONTROL"),
    refuse(EINVAL, 71, "PR_RISCV_SET_ICACHE_FLUSH_CTX"),
    refuse(EINVAL, 72, "PR_PPC_GET_DEXCR"),
    refuse(EINVAL, 73, "PR_PPC_SET_DEXCR"),
    refuse(EINVAL, 74, "PR_GET_SHADOW_STACK_STATUS", {out(8)}),
    refuse(EINVAL, 75, "PR_SET_SHADOW_STACK_STATUS", {kWord}),
    refuse(EINVAL, 76, "PR_LOCK_SHADOW_STACK_STATUS", {kWord}),
    refuse(EINVAL, 77, "PR_TIMER_CREATE_RESTORE_IDS", {kInt}),
    refuse(EINVAL, 78, "PR_FUTEX_HASH", {kInt, kWord, kFlags}),
    // The kernel's copy is the engine's vector, not the guest's.
    refuse(EINVAL, 0x41555856, "PR_GET_AUXV", {out_up_to(2), kSize}),
    refuse(EINVAL, 0x53564d41, "PR_SET_VMA", {kInt, kAddress, kSize, kString}),
    pass(0x59616d61, "PR_SET_PTRACER", {kPid}),
};
constexpr Sorted kPrctl = sorted(kPrctlRows);
static_assert(!kPrctl.has_duplicates());

// arch_prctl(2), arch/x86/include/uapi/asm/prctl.h.
constexpr CommandRow kArchPrctlRows[] = {
    handle(kOnProcess, 0x1001, "ARCH_SET_GS", {kAddress}),
    handle(kOnProcess, 0x1002, "ARCH_SET_FS", {kAddress}),
    handle(kOnProcess, 0x1003, "ARCH_GET_FS", {out(8)}),
    handle(kOnProcess, 0x1004, "ARCH_GET_GS", {out(8)}),
    answer(0x1011, "ARCH_GET_CPUID"),
    handle(kOnProcess, 0x1012, "ARCH_SET_CPUID", {kInt}).or_error(ENODEV),
    // State components come with the cpu model, which has none that must be asked for (AMX).
    answer(0x1021, "ARCH_GET_XCOMP_SUPP", {out(8)}),
    answer(0x1022, "ARCH_GET_XCOMP_PERM", {out(8)}),
    refuse(EOPNOTSUPP, 0x1023, "ARCH_REQ_XCOMP_PERM", {kInt}),
    refuse(EINVAL, 0x1024, "ARCH_GET_XCOMP_GUEST_PERM", {out(8)}),
    refuse(EINVAL, 0x1025, "ARCH_REQ_XCOMP_GUEST_PERM", {kInt}),
    refuse(EINVAL, 0x2001, "ARCH_MAP_VDSO_X32", {kAddress}),
    refuse(EINVAL, 0x2002, "ARCH_MAP_VDSO_32", {kAddress}),
    refuse(EINVAL, 0x2003, "ARCH_MAP_VDSO_64", {kAddress}),
    refuse(EINVAL, 0x3001, "ARCH_CET_STATUS",
           {out(24)}),  // of distributions' kernels before 6.6; asked by old glibc
    refuse(EINVAL, 0x4001, "ARCH_GET_UNTAG_MASK", {out(8)}),
    refuse(EINVAL, 0x4002, "ARCH_ENABLE_TAGGED_ADDR", {kInt}),
    refuse(EINVAL, 0x4003, "ARCH_GET_MAX_TAG_BITS", {out(8)}),
    refuse(EINVAL, 0x4004, "ARCH_FORCE_TAGGED_SVA"),
    refuse(EOPNOTSUPP, 0x5001, "ARCH_SHSTK_ENABLE", {kFlags}),
    refuse(EOPNOTSUPP, 0x5002, "ARCH_SHSTK_DISABLE", {kFlags}),
    refuse(EOPNOTSUPP, 0x5003, "ARCH_SHSTK_LOCK", {kFlags}),
    refuse(EOPNOTSUPP, 0x5004, "ARCH_SHSTK_UNLOCK", {kFlags}),
    refuse(EOPNOTSUPP, 0x5005, "ARCH_SHSTK_STATUS", {out(8)}),
};
constexpr Sorted kArchPrctl = sorted(kArchPrctlRows);
static_assert(!kArchPrctl.has_duplicates());

// futex(2), include/uapi/linux/futex.h. The arguments are the fourth to the sixth: timeout or second count,
// second word, third value. The core knows nothing of priority inheritance; libraries take ENOSYS as "not
// available".
constexpr CommandRow kFutexRows[] = {
    answer(0, "FUTEX_WAIT", {in(16)}),
    answer(1, "FUTEX_WAKE"),
    refuse(ENOSYS, 2, "FUTEX_FD"),  // removed in 2.6.26
    answer(3, "FUTEX_REQUEUE", {kUnsigned, kAddress}),
    answer(4, "FUTEX_CMP_REQUEUE", {kUnsigned, kAddress, kUnsigned}),
    answer(5, "FUTEX_WAKE_OP", {kUnsigned, inout(4), kUnsigned}),
    refuse(ENOSYS, 6, "FUTEX_LOCK_PI", {in(16)}),
    refuse(ENOSYS, 7, "FUTEX_UNLOCK_PI"),
    refuse(ENOSYS, 8, "FUTEX_TRYLOCK_PI"),
    answer(9, "FUTEX_WAIT_BITSET", {in(16), kAddress, kUnsigned}),
    answer(10, "FUTEX_WAKE_BITSET", {kUnsigned, kAddress, kUnsigned}),
    refuse(ENOSYS, 11, "FUTEX_WAIT_REQUEUE_PI", {in(16), kAddress}),
    refuse(ENOSYS, 12, "FUTEX_CMP_REQUEUE_PI", {kUnsigned, kAddress, kUnsigned}),
    refuse(ENOSYS, 13, "FUTEX_LOCK_PI2", {in(16)}),
};
constexpr Sorted kFutex = sorted(kFutexRows);
static_assert(!kFutex.has_duplicates());

// madvise(2), include/uapi/asm-generic/mman-common.h. Special: what changes the content of memory.
constexpr CommandRow kMadviseRows[] = {
    pass(0, "MADV_NORMAL"),
    pass(1, "MADV_RANDOM"),
    pass(2, "MADV_SEQUENTIAL"),
    pass(3, "MADV_WILLNEED"),
    handle(kOnMemory, 4, "MADV_DONTNEED"),
    handle(kOnMemory, 8, "MADV_FREE"),
    handle(kOnMemory, 9, "MADV_REMOVE"),
    handle(kOnMemory, 10, "MADV_DONTFORK"),
    handle(kOnMemory, 11, "MADV_DOFORK"),
    pass(12, "MADV_MERGEABLE"),
    pass(13, "MADV_UNMERGEABLE"),
    pass(14, "MADV_HUGEPAGE"),
    pass(15, "MADV_NOHUGEPAGE"),
    pass(16, "MADV_DONTDUMP"),
    pass(17, "MADV_DODUMP"),
    handle(kOnMemory, 18, "MADV_WIPEONFORK"),
    handle(kOnMemory, 19, "MADV_KEEPONFORK"),
    pass(20, "MADV_COLD"),
    pass(21, "MADV_PAGEOUT"),
    pass(22, "MADV_POPULATE_READ"),
    pass(23, "MADV_POPULATE_WRITE"),
    handle(kOnMemory, 24, "MADV_DONTNEED_LOCKED"),
    pass(25, "MADV_COLLAPSE"),
    refuse(EPERM, 100, "MADV_HWPOISON"),
    refuse(EPERM, 101, "MADV_SOFT_OFFLINE"),
    // Pages that fault although they are mapped; glibc and others use mprotect when it fails so.
    refuse(EINVAL, 102, "MADV_GUARD_INSTALL"),
    refuse(EINVAL, 103, "MADV_GUARD_REMOVE"),
};
constexpr Sorted kMadvise = sorted(kMadviseRows);
static_assert(!kMadvise.has_duplicates());

// ptrace(2), include/uapi/linux/ptrace.h, asm/ptrace-abi.h; the arguments are address and data. All refused:
// a tracee would show its engine. EPERM is what a program that is traced already, or a restricted one, gets.
constexpr CommandRow kPtraceRows[] = {
    refuse(EPERM, 0, "PTRACE_TRACEME"),
    refuse(EPERM, 1, "PTRACE_PEEKTEXT", {kAddress, out(8)}),
    refuse(EPERM, 2, "PTRACE_PEEKDATA", {kAddress, out(8)}),
    refuse(EPERM, 3, "PTRACE_PEEKUSR", {kOffset, out(8)}),
    refuse(EPERM, 4, "PTRACE_POKETEXT", {kAddress, kWord}),
    refuse(EPERM, 5, "PTRACE_POKEDATA", {kAddress, kWord}),
    refuse(EPERM, 6, "PTRACE_POKEUSR", {kOffset, kWord}),
    refuse(EPERM, 7, "PTRACE_CONT", {kAddress, kSignal}),
    refuse(EPERM, 8, "PTRACE_KILL"),
    refuse(EPERM, 9, "PTRACE_SINGLESTEP", {kAddress, kSignal}),
    refuse(EPERM, 12, "PTRACE_GETREGS", {kAddress, out(216)}),
    refuse(EPERM, 13, "PTRACE_SETREGS", {kAddress, in(216)}),
    refuse(EPERM, 14, "PTRACE_GETFPREGS", {kAddress, out(512)}),
    refuse(EPERM, 15, "PTRACE_SETFPREGS", {kAddress, in(512)}),
    refuse(EPERM, 16, "PTRACE_ATTACH"),
    refuse(EPERM, 17, "PTRACE_DETACH", {kAddress, kSignal}),
    refuse(EPERM, 24, "PTRACE_SYSCALL", {kAddress, kSignal}),
    refuse(EPERM, 30, "PTRACE_ARCH_PRCTL", {kAddress, kInt}),
    refuse(EPERM, 31, "PTRACE_SYSEMU", {kAddress, kSignal}),
    refuse(EPERM, 32, "PTRACE_SYSEMU_SINGLESTEP", {kAddress, kSignal}),
    refuse(EPERM, 33, "PTRACE_SINGLEBLOCK", {kAddress, kSignal}),
    refuse(EPERM, 0x4200, "PTRACE_SETOPTIONS", {kAddress, kFlags}),
    refuse(EPERM, 0x4201, "PTRACE_GETEVENTMSG", {kAddress, out(8)}),
    refuse(EPERM, 0x4202, "PTRACE_GETSIGINFO", {kAddress, out(128)}),
    refuse(EPERM, 0x4203, "PTRACE_SETSIGINFO", {kAddress, in(128)}),
    refuse(EPERM, 0x4204, "PTRACE_GETREGSET", {kInt, kAddress}),
    refuse(EPERM, 0x4205, "PTRACE_SETREGSET", {kInt, kAddress}),
    refuse(EPERM, 0x4206, "PTRACE_SEIZE", {kAddress, kFlags}),
    refuse(EPERM, 0x4207, "PTRACE_INTERRUPT"),
    refuse(EPERM, 0x4208, "PTRACE_LISTEN"),
    refuse(EPERM, 0x4209, "PTRACE_PEEKSIGINFO", {in(16), kAddress}),
    refuse(EPERM, 0x420a, "PTRACE_GETSIGMASK", {kSize, out(8)}),
    refuse(EPERM, 0x420b, "PTRACE_SETSIGMASK", {kSize, in(8)}),
    refuse(EPERM, 0x420c, "PTRACE_SECCOMP_GET_FILTER", {kWord, kAddress}),
    refuse(EPERM, 0x420d, "PTRACE_SECCOMP_GET_METADATA", {kSize, kAddress}),
    refuse(EPERM, 0x420e, "PTRACE_GET_SYSCALL_INFO", {kSize, kAddress}),
    refuse(EPERM, 0x420f, "PTRACE_GET_RSEQ_CONFIGURATION", {kSize, kAddress}),
    refuse(EPERM, 0x4210, "PTRACE_SET_SYSCALL_USER_DISPATCH", {kSize, kAddress}),
    refuse(EPERM, 0x4211, "PTRACE_GET_SYSCALL_USER_DISPATCH", {kSize, kAddress}),
    refuse(EPERM, 0x4212, "PTRACE_SET_SYSCALL_INFO", {kSize, kAddress}),
};
constexpr Sorted kPtrace = sorted(kPtraceRows);
static_assert(!kPtrace.has_duplicates());

// bpf(2), include/uapi/linux/bpf.h. All refused, as where kernel.unprivileged_bpf_disabled is set: maps are
// shared with the kernel and change at any time.
constexpr CommandRow kBpfRows[] = {
    refuse(EPERM, 0, "BPF_MAP_CREATE", {in_by(2)}),
    refuse(EPERM, 1, "BPF_MAP_LOOKUP_ELEM", {in_by(2)}),
    refuse(EPERM, 2, "BPF_MAP_UPDATE_ELEM", {in_by(2)}),
    refuse(EPERM, 3, "BPF_MAP_DELETE_ELEM", {in_by(2)}),
    refuse(EPERM, 4, "BPF_MAP_GET_NEXT_KEY", {in_by(2)}),
    refuse(EPERM, 5, "BPF_PROG_LOAD", {in_by(2)}),
    refuse(EPERM, 6, "BPF_OBJ_PIN", {in_by(2)}),
    refuse(EPERM, 7, "BPF_OBJ_GET", {in_by(2)}),
    refuse(EPERM, 8, "BPF_PROG_ATTACH", {in_by(2)}),
    refuse(EPERM, 9, "BPF_PROG_DETACH", {in_by(2)}),
    refuse(EPERM, 10, "BPF_PROG_TEST_RUN", {in_by(2)}),
    refuse(EPERM, 11, "BPF_PROG_GET_NEXT_ID", {in_by(2)}),
    refuse(EPERM, 12, "BPF_MAP_GET_NEXT_ID", {in_by(2)}),
    refuse(EPERM, 13, "BPF_PROG_GET_FD_BY_ID", {in_by(2)}),
    refuse(EPERM, 14, "BPF_MAP_GET_FD_BY_ID", {in_by(2)}),
    refuse(EPERM, 15, "BPF_OBJ_GET_INFO_BY_FD", {in_by(2)}),
    refuse(EPERM, 16, "BPF_PROG_QUERY", {in_by(2)}),
    refuse(EPERM, 17, "BPF_RAW_TRACEPOINT_OPEN", {in_by(2)}),
    refuse(EPERM, 18, "BPF_BTF_LOAD", {in_by(2)}),
    refuse(EPERM, 28, "BPF_LINK_CREATE", {in_by(2)}),
};
constexpr Sorted kBpf = sorted(kBpfRows);
static_assert(!kBpf.has_duplicates());

}  // namespace

CommandTable fcntl_commands() { return kFcntl.table(); }
CommandTable prctl_commands() { return kPrctl.table(); }
CommandTable arch_prctl_commands() { return kArchPrctl.table(); }
CommandTable futex_commands() { return kFutex.table(); }
CommandTable madvise_commands() { return kMadvise.table(); }
CommandTable ptrace_commands() { return kPtrace.table(); }
CommandTable bpf_commands() { return kBpf.table(); }

}  // namespace detrec::syscalls
