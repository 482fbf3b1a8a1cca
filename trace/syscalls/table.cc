#include "trace/syscalls/table.h"

#include <asm/errno.h>

#include "trace/syscalls/build_rows.h"

namespace detrec::syscalls {
namespace {

using namespace build;

constexpr Subject kOnMemory = Subject::kMemory;
constexpr Subject kOnProcess = Subject::kProcess;
constexpr Subject kOnSignals = Subject::kSignals;
constexpr Subject kOnDescriptors = Subject::kDescriptors;
constexpr Subject kOnPath = Subject::kPath;

// 0 to 336 without a gap.
constexpr SyscallRow kLowRows[] = {
    may_block(0, "read", {kFd, out_up_to(2), kSize}).restarts(Restart::kWithSaRestart),
    may_block(1, "write", {kFd, in_by(2), kSize}).writes_file(0).restarts(Restart::kWithSaRestart),
    special(kOnPath, 2, "open", {kPath, kFlags, kMode})
        .path(0, kNoArg, Follow::kOpenFlags, 1)
        .creates_fd()
        .blocks()
        .restarts(Restart::kWithSaRestart),
    // A lingering socket, a FUSE or network file, and a terminal with output to drain make it wait.
    special(kOnDescriptors, 3, "close", {kFd}).closes_fds(bit(0)).blocks().restarts(Restart::kNever),
    special(kOnPath, 4, "stat", {kPath, out(144)}).path(0),
    direct(5, "fstat", {kFd, out(144)}),
    special(kOnPath, 6, "lstat", {kPath, out(144)}).path(0, kNoArg, Follow::kNever),
    may_block(7, "poll", {inout_as(Length::kPollfd, 1, When::kSuccessOrInterrupt), kCount, kInt})
        .restarts(Restart::kRestartBlock),
    direct(8, "lseek", {kFd, kOffset, kUnsigned}),
    special(kOnMemory, 9, "mmap", {kAddress, kSize, kFlags, kFlags, kFd, kOffset}),
    special(kOnMemory, 10, "mprotect", {kAddress, kSize, kFlags}),
    special(kOnMemory, 11, "munmap", {kAddress, kSize}),
    special(kOnMemory, 12, "brk", {kAddress}),
    special(kOnSignals, 13, "rt_sigaction", {kSignal, in(32), out(32), kSize}),
    special(kOnSignals, 14, "rt_sigprocmask", {kInt, sigset_in(3), sigset_out(3), kSize}),
    special(kOnSignals, 15, "rt_sigreturn").no_return(),
    direct(16, "ioctl", {kFd, kCommand, kByCommand})
        .by(Commands::kIoctl, 1)
        .creates_fd(Creates::kByCommand)
        .restarts(Restart::kWithSaRestart),
    may_block(17, "pread64", {kFd, out_up_to(2), kSize, kOffset}).restarts(Restart::kWithSaRestart),
    may_block(18, "pwrite64", {kFd, in_by(2), kSize, kOffset})
        .writes_file(0)
        .restarts(Restart::kWithSaRestart),
    may_block(19, "readv", {kFd, iovec_out(2), kWord}).restarts(Restart::kWithSaRestart),
    may_block(20, "writev", {kFd, iovec_in(2), kWord}).writes_file(0).restarts(Restart::kWithSaRestart),
    special(kOnPath, 21, "access", {kPath, kMode}).path(0),
    direct(22, "pipe", {out(8)}).creates_fd(Creates::kPair, 0),
    // The timeout is brought up to date for every result, unless it was zero.
    may_block(23, "select",
              {kCount, inout_as(Length::kFdSet, 0), inout_as(Length::kFdSet, 0), inout_as(Length::kFdSet, 0),
               inout(16, When::kAnyResult)})
        .restarts(Restart::kNoHandler),
    answered(24, "sched_yield"),
    special(kOnMemory, 25, "mremap", {kAddress, kSize, kSize, kFlags, kAddress}),
    direct(26, "msync", {kAddress, kSize, kFlags}).slow(),
    direct(27, "mincore", {kAddress, kSize, out_as(Length::kPages, 1)}),
    special(kOnMemory, 28, "madvise", {kAddress, kSize, kCommand}).by(Commands::kMadvise, 2),
    direct(29, "shmget", {kInt, kSize, kFlags}),
    special(kOnMemory, 30, "shmat", {kInt, kAddress, kFlags}),
    direct(31, "shmctl", {kInt, kCommand, kByCommand}).by(Commands::kShmctl, 1),
    special(kOnDescriptors, 32, "dup", {kFd}).creates_fd(),
    special(kOnDescriptors, 33, "dup2", {kFd, kFd}).creates_fd().closes_fds(bit(1)),
    special(kOnSignals, 34, "pause").blocks().restarts(Restart::kNoHandler),
    may_block(35, "nanosleep", {in(16), out(16, When::kInterrupt)}).restarts(Restart::kRestartBlock),
    special(kOnSignals, 36, "getitimer", {kInt, out(32)}),
    special(kOnSignals, 37, "alarm", {kUnsigned}),
    special(kOnSignals, 38, "setitimer", {kInt, in(32), out(32)}),
    answered(39, "getpid"),
    may_block(40, "sendfile", {kFd, kFd, inout(8), kSize}).writes_file(0).restarts(Restart::kWithSaRestart),
    direct(41, "socket", {kInt, kFlags, kInt}).creates_fd(),
    may_block(42, "connect", {kFd, in_by(2), kSize32}).restarts(Restart::kWithSaRestartNoTimeout),
    may_block(43, "accept", {kFd, out_as(Length::kPointee, 2), length_inout(When::kWithBuffer)})
        .creates_fd()
        .restarts(Restart::kWithSaRestartNoTimeout),
    may_block(44, "sendto", {kFd, in_by(2), kSize, kFlags, in_by(5), kSize32})
        .restarts(Restart::kWithSaRestartNoTimeout),
    may_block(
        45, "recvfrom",
        {kFd, out_up_to(2), kSize, kFlags, out_as(Length::kPointee, 5), length_inout(When::kWithBuffer)})
        .restarts(Restart::kWithSaRestartNoTimeout),
    may_block(46, "sendmsg", {kFd, kMsghdrIn, kFlags}).restarts(Restart::kWithSaRestartNoTimeout),
    may_block(47, "recvmsg", {kFd, memory(ArgKind::kMsghdrOut, Length::kMsghdr, 56), kFlags})
        .creates_fd(Creates::kMessage, 1)
        .restarts(Restart::kWithSaRestartNoTimeout),
    direct(48, "shutdown", {kFd, kInt}),
    direct(49, "bind", {kFd, in_by(2), kSize32}),
    direct(50, "listen", {kFd, kInt}),
    direct(51, "getsockname", {kFd, out_as(Length::kPointee, 2), length_inout()}),
    direct(52, "getpeername", {kFd, out_as(Length::kPointee, 2), length_inout()}),
    direct(53, "socketpair", {kInt, kFlags, kInt, out(8)}).creates_fd(Creates::kPair, 3),
    direct(54, "setsockopt", {kFd, kInt, kCommand, kByCommand, kSize32}).by(Commands::kSetsockopt, 2),
    direct(55, "getsockopt", {kFd, kInt, kCommand, kByCommand, length_inout(When::kAnyResult)})
        .by(Commands::kGetsockopt, 2),
    // The engine stores the tids and the pidfd that clone leaves in memory.
    special(kOnProcess, 56, "clone", {kFlags, kAddress, kAddress, kAddress, kAddress})
        .creates_fd(Creates::kPointee, 2)
        .restarts(Restart::kAlways),
    special(kOnProcess, 57, "fork").restarts(Restart::kAlways),
    special(kOnProcess, 58, "vfork").blocks().restarts(Restart::kAlways),
    special(kOnProcess, 59, "execve", {kPath, kStringArray, kStringArray})
        .path(0)
        .no_return()
        .restarts(Restart::kAlways),
    special(kOnProcess, 60, "exit", {kInt}).no_return(),
    special(kOnProcess, 61, "wait4", {kPid, out(4, When::kPositive), kFlags, out(144, When::kPositive)})
        .blocks()
        .restarts(Restart::kWithSaRestart),
    special(kOnSignals, 62, "kill", {kPid, kSignal}),
    direct(63, "uname", {out(390)}),
    direct(64, "semget", {kInt, kInt, kFlags}),
    may_block(65, "semop", {kInt, in_by(2, 6), kCount}).restarts(Restart::kNever),
    direct(66, "semctl", {kInt, kInt, kCommand, kByCommand}).by(Commands::kSemctl, 2),
    special(kOnMemory, 67, "shmdt", {kAddress}),
    direct(68, "msgget", {kInt, kFlags}),
    may_block(69, "msgsnd",
              {kInt, memory(ArgKind::kIn, Length::kArg, 1, 2, When::kSuccess, 8), kSize, kFlags})
        .restarts(Restart::kNoHandler),
    may_block(70, "msgrcv", {kInt, out_up_to(2, 1, 8), kSize, kLong, kFlags}).restarts(Restart::kNoHandler),
    direct(71, "msgctl", {kInt, kCommand, kByCommand}).by(Commands::kMsgctl, 1),
    special(kOnDescriptors, 72, "fcntl", {kFd, kCommand, kByCommand})
        .by(Commands::kFcntl, 1)
        .creates_fd(Creates::kByCommand)
        .restarts(Restart::kWithSaRestart),
    may_block(73, "flock", {kFd, kInt}).restarts(Restart::kWithSaRestart),
    direct(74, "fsync", {kFd}).slow(),
    direct(75, "fdatasync", {kFd}).slow(),
    direct(76, "truncate", {kPath, kOffset}).path(0).writes_file(0),
    direct(77, "ftruncate", {kFd, kOffset}).writes_file(0),
    direct(78, "getdents", {kFd, out_up_to(2), kSize32}),
    direct(79, "getcwd", {out_up_to(1), kSize}),
    direct(80, "chdir", {kPath}).path(0),
    direct(81, "fchdir", {kFd}),
    direct(82, "rename", {kPath, kPath}).path(0, kNoArg, Follow::kNever).path(1, kNoArg, Follow::kNever),
    direct(83, "mkdir", {kPath, kMode}).path(0, kNoArg, Follow::kNever),
    direct(84, "rmdir", {kPath}).path(0, kNoArg, Follow::kNever),
    special(kOnPath, 85, "creat", {kPath, kMode})
        .path(0)
        .creates_fd()
        .blocks()
        .restarts(Restart::kWithSaRestart),
    direct(86, "link", {kPath, kPath}).path(0, kNoArg, Follow::kNever).path(1, kNoArg, Follow::kNever),
    direct(87, "unlink", {kPath}).path(0, kNoArg, Follow::kNever),
    direct(88, "symlink", {kString, kPath}).path(1, kNoArg, Follow::kNever),
    special(kOnPath, 89, "readlink", {kPath, out_up_to(2), kSize32}).path(0, kNoArg, Follow::kNever),
    direct(90, "chmod", {kPath, kMode}).path(0),
    direct(91, "fchmod", {kFd, kMode}),
    direct(92, "chown", {kPath, kUserId, kUserId}).path(0),
    direct(93, "fchown", {kFd, kUserId, kUserId}),
    direct(94, "lchown", {kPath, kUserId, kUserId}).path(0, kNoArg, Follow::kNever),
    direct(95, "umask", {kMode}),
    answered(96, "gettimeofday", {out(16), out(8)}),
    special(kOnProcess, 97, "getrlimit", {kUnsigned, out(16)}),
    direct(98, "getrusage", {kInt, out(144)}),
    direct(99, "sysinfo", {out(112)}),
    direct(100, "times",
           {out(32, When::kAnyResult)}),  // the result is a tick count that may look like an error
    special(kOnProcess, 101, "ptrace", {kCommand, kPid, kByCommand, kByCommand})
        .by(Commands::kPtrace, 0)
        .or_error(EPERM),
    direct(102, "getuid"),
    may_block(103, "syslog", {kInt, out_up_to(2), kSize32}).restarts(Restart::kWithSaRestart),
    direct(104, "getgid"),
    direct(105, "setuid", {kUserId}),
    direct(106, "setgid", {kUserId}),
    direct(107, "geteuid"),
    direct(108, "getegid"),
    direct(109, "setpgid", {kPid, kPid}),
    answered(110, "getppid"),
    direct(111, "getpgrp"),
    direct(112, "setsid"),
    direct(113, "setreuid", {kUserId, kUserId}),
    direct(114, "setregid", {kUserId, kUserId}),
    direct(115, "getgroups", {kCount, out_up_to(0, 4)}),
    direct(116, "setgroups", {kCount, in_by(0, 4)}),
    direct(117, "setresuid", {kUserId, kUserId, kUserId}),
    direct(118, "getresuid", {out(4), out(4), out(4)}),
    direct(119, "setresgid", {kUserId, kUserId, kUserId}),
    direct(120, "getresgid", {out(4), out(4), out(4)}),
    direct(121, "getpgid", {kPid}),
    direct(122, "setfsuid", {kUserId}),
    direct(123, "setfsgid", {kUserId}),
    direct(124, "getsid", {kPid}),
    direct(125, "capget", {inout_as(Length::kNested, kNoArg, When::kAnyResult), out_as(Length::kNested)}),
    direct(126, "capset", {inout_as(Length::kNested, kNoArg, When::kAnyResult), in_as(Length::kNested)}),
    special(kOnSignals, 127, "rt_sigpending", {sigset_out(1), kSize}),
    special(kOnSignals, 128, "rt_sigtimedwait", {sigset_in(3), out(128), in(16), kSize})
        .blocks()
        .restarts(Restart::kNever),
    special(kOnSignals, 129, "rt_sigqueueinfo", {kPid, kSignal, in(128)}),
    special(kOnSignals, 130, "rt_sigsuspend", {sigset_in(1), kSize}).blocks().restarts(Restart::kNoHandler),
    special(kOnSignals, 131, "sigaltstack", {in(24), out(24)}),
    direct(132, "utime", {kPath, in(16)}).path(0),
    direct(133, "mknod", {kPath, kMode, kUnsigned}).path(0, kNoArg, Follow::kNever),
    refused(ENOSYS, 134, "uselib", {kPath}).path(0),
    special(kOnProcess, 135, "personality", {kUnsigned}),
    direct(136, "ustat", {kUnsigned, out(32)}),
    direct(137, "statfs", {kPath, out(120)}).path(0),
    direct(138, "fstatfs", {kFd, out(120)}),
    refused(ENOSYS, 139, "sysfs", {kInt, kWord, kWord}),  // kernels without CONFIG_SYSFS_SYSCALL
    direct(140, "getpriority", {kInt, kInt}),
    direct(141, "setpriority", {kInt, kInt, kInt}),
    direct(142, "sched_setparam", {kPid, in(4)}),
    direct(143, "sched_getparam", {kPid, out(4)}),
    direct(144, "sched_setscheduler", {kPid, kInt, in(4)}),
    direct(145, "sched_getscheduler", {kPid}),
    direct(146, "sched_get_priority_max", {kInt}),
    direct(147, "sched_get_priority_min", {kInt}),
    direct(148, "sched_rr_get_interval", {kPid, out(16)}),
    direct(149, "mlock", {kAddress, kSize}),
    direct(150, "munlock", {kAddress, kSize}),
    direct(151, "mlockall", {kFlags}),
    direct(152, "munlockall"),
    direct(153, "vhangup"),
    refused(ENOSYS, 154, "modify_ldt", {kInt, kAddress, kSize}),  // kernels without CONFIG_MODIFY_LDT_SYSCALL
    direct(155, "pivot_root", {kPath, kPath}).path(0).path(1),
    refused(ENOSYS, 156, "_sysctl", {kAddress}),
    special(kOnProcess, 157, "prctl", {kCommand, kByCommand, kByCommand, kByCommand, kByCommand})
        .by(Commands::kPrctl, 0),
    special(kOnProcess, 158, "arch_prctl", {kCommand, kByCommand}).by(Commands::kArchPrctl, 0),
    direct(159, "adjtimex", {inout(208)}),
    special(kOnProcess, 160, "setrlimit", {kUnsigned, in(16)}),
    direct(161, "chroot", {kPath}).path(0),
    direct(162, "sync").slow(),
    direct(163, "acct", {kPath}).path(0),
    direct(164, "settimeofday", {in(16), in(8)}),
    direct(165, "mount", {kPath, kPath, kString, kFlags, kAddress}).path(1).path(0).slow(),
    direct(166, "umount2", {kPath, kFlags}).path(0, kNoArg, Follow::kOtherFlag, 1).slow(),
    refused(EPERM, 167, "swapon", {kPath, kFlags}).path(0),
    refused(EPERM, 168, "swapoff", {kPath}).path(0),
    refused(EPERM, 169, "reboot", {kInt, kInt, kUnsigned, kAddress}),
    direct(170, "sethostname", {in_by(1), kSize32}),
    direct(171, "setdomainname", {in_by(1), kSize32}),
    refused(EPERM, 172, "iopl", {kUnsigned}),
    refused(EPERM, 173, "ioperm", {kWord, kWord, kInt}),
    refused(ENOSYS, 174, "create_module"),
    refused(EPERM, 175, "init_module", {in_by(1), kSize, kString}),
    refused(EPERM, 176, "delete_module", {kString, kFlags}),
    refused(ENOSYS, 177, "get_kernel_syms"),
    refused(ENOSYS, 178, "query_module"),
    direct(179, "quotactl", {kCommand, kPath, kInt, kByCommand}).by(Commands::kQuotactl, 0).path(1),
    refused(ENOSYS, 180, "nfsservctl"),
    refused(ENOSYS, 181, "getpmsg"),
    refused(ENOSYS, 182, "putpmsg"),
    refused(ENOSYS, 183, "afs_syscall"),
    refused(ENOSYS, 184, "tuxcall"),
    refused(ENOSYS, 185, "security"),
    answered(186, "gettid"),
    direct(187, "readahead", {kFd, kOffset, kSize}),
    direct(188, "setxattr", {kPath, kString, in_by(3), kSize, kFlags}).path(0),
    direct(189, "lsetxattr", {kPath, kString, in_by(3), kSize, kFlags}).path(0, kNoArg, Follow::kNever),
    direct(190, "fsetxattr", {kFd, kString, in_by(3), kSize, kFlags}),
    direct(191, "getxattr", {kPath, kString, out_up_to(3), kSize}).path(0),
    direct(192, "lgetxattr", {kPath, kString, out_up_to(3), kSize}).path(0, kNoArg, Follow::kNever),
    direct(193, "fgetxattr", {kFd, kString, out_up_to(3), kSize}),
    direct(194, "listxattr", {kPath, out_up_to(2), kSize}).path(0),
    direct(195, "llistxattr", {kPath, out_up_to(2), kSize}).path(0, kNoArg, Follow::kNever),
    direct(196, "flistxattr", {kFd, out_up_to(2), kSize}),
    direct(197, "removexattr", {kPath, kString}).path(0),
    direct(198, "lremovexattr", {kPath, kString}).path(0, kNoArg, Follow::kNever),
    direct(199, "fremovexattr", {kFd, kString}),
    special(kOnSignals, 200, "tkill", {kPid, kSignal}),
    answered(201, "time", {out(8)}),
    answered(202, "futex", {kAddress, kCommand, kUnsigned, kByCommand, kByCommand, kByCommand})
        .by(Commands::kFutex, 1)
        .restarts(Restart::kWithSaRestartNoTimeout),
    direct(203, "sched_setaffinity", {kPid, kSize32, in_by(1)}),
    direct(204, "sched_getaffinity", {kPid, kSize32, out_up_to(1)}),
    refused(ENOSYS, 205, "set_thread_area"),
    // Asynchronous I/O writes guest memory at times of its own. Libraries fall back to threads or plain
    // calls.
    refused(ENOSYS, 206, "io_setup", {kCount, out(8)}),
    refused(ENOSYS, 207, "io_destroy", {kWord}),
    refused(ENOSYS, 208, "io_getevents", {kWord, kWord, kWord, out_up_to(2, 32), in(16)}),
    refused(ENOSYS, 209, "io_submit", {kWord, kCount, kAddress}),
    refused(ENOSYS, 210, "io_cancel", {kWord, kAddress, out(32)}),
    refused(ENOSYS, 211, "get_thread_area"),
    refused(ENOSYS, 212, "lookup_dcookie", {kWord, out_up_to(2), kSize}),
    direct(213, "epoll_create", {kInt}).creates_fd(),
    refused(ENOSYS, 214, "epoll_ctl_old"),
    refused(ENOSYS, 215, "epoll_wait_old"),
    special(kOnMemory, 216, "remap_file_pages", {kAddress, kSize, kFlags, kOffset, kFlags}),
    direct(217, "getdents64", {kFd, out_up_to(2), kSize32}),
    answered(218, "set_tid_address", {kAddress}),
    special(kOnProcess, 219, "restart_syscall"),
    may_block(220, "semtimedop", {kInt, in_by(2, 6), kCount, in(16)}).restarts(Restart::kNever),
    direct(221, "fadvise64", {kFd, kOffset, kSize, kInt}),
    special(kOnSignals, 222, "timer_create", {kInt, in(64), out(4)}),
    special(kOnSignals, 223, "timer_settime", {kInt, kFlags, in(32), out(32)}),
    special(kOnSignals, 224, "timer_gettime", {kInt, out(32)}),
    special(kOnSignals, 225, "timer_getoverrun", {kInt}),
    special(kOnSignals, 226, "timer_delete", {kInt}),
    direct(227, "clock_settime", {kInt, in(16)}),
    answered(228, "clock_gettime", {kInt, out(16)}),
    answered(229, "clock_getres", {kInt, out(16)}),
    may_block(230, "clock_nanosleep", {kInt, kFlags, in(16), out(16, When::kInterrupt)})
        .restarts(Restart::kRestartBlock),
    special(kOnProcess, 231, "exit_group", {kInt}).no_return(),
    may_block(232, "epoll_wait", {kFd, out_up_to(2, 12), kCount, kInt}).restarts(Restart::kNever),
    direct(233, "epoll_ctl", {kFd, kInt, kFd, in(12)}),
    special(kOnSignals, 234, "tgkill", {kPid, kPid, kSignal}),
    direct(235, "utimes", {kPath, in(32)}).path(0),
    refused(ENOSYS, 236, "vserver"),
    direct(237, "mbind", {kAddress, kSize, kInt, in_as(Length::kNodeMask, 4), kWord, kFlags}),
    direct(238, "set_mempolicy", {kInt, in_as(Length::kNodeMask, 2), kWord}),
    direct(239, "get_mempolicy", {out(4), out_as(Length::kNodeMask, 2), kWord, kAddress, kFlags}),
    direct(240, "mq_open", {kString, kFlags, kMode, in(64)}).creates_fd(),
    direct(241, "mq_unlink", {kString}),
    may_block(242, "mq_timedsend", {kFd, in_by(2), kSize, kUnsigned, in(16)})
        .restarts(Restart::kWithSaRestart),
    may_block(243, "mq_timedreceive", {kFd, out_up_to(2), kSize, out(4), in(16)})
        .restarts(Restart::kWithSaRestart),
    special(kOnSignals, 244, "mq_notify", {kFd, in(64)}),
    direct(245, "mq_getsetattr", {kFd, in(64), out(64)}),
    refused(EPERM, 246, "kexec_load", {kWord, kWord, kAddress, kFlags}),
    special(kOnProcess, 247, "waitid", {kInt, kPid, out_as(Length::kSiginfoWait), kFlags, out(144)})
        .blocks()
        .restarts(Restart::kWithSaRestart),
    direct(248, "add_key", {kString, kString, in_by(3), kSize, kInt}),
    direct(249, "request_key", {kString, kString, kString, kInt}).slow(),
    direct(250, "keyctl", {kCommand, kByCommand, kByCommand, kByCommand, kByCommand})
        .by(Commands::kKeyctl, 0),
    direct(251, "ioprio_set", {kInt, kInt, kInt}),
    direct(252, "ioprio_get", {kInt, kInt}),
    direct(253, "inotify_init").creates_fd(),
    direct(254, "inotify_add_watch", {kFd, kPath, kFlags}).path(1, kNoArg, Follow::kOtherFlag, 2),
    direct(255, "inotify_rm_watch", {kFd, kInt}),
    direct(256, "migrate_pages", {kPid, kWord, in_as(Length::kNodeMask, 1), in_as(Length::kNodeMask, 1)}),
    special(kOnPath, 257, "openat", {kDirFd, kPath, kFlags, kMode})
        .path(1, 0, Follow::kOpenFlags, 2)
        .creates_fd()
        .blocks()
        .restarts(Restart::kWithSaRestart),
    direct(258, "mkdirat", {kDirFd, kPath, kMode}).path(1, 0, Follow::kNever),
    direct(259, "mknodat", {kDirFd, kPath, kMode, kUnsigned}).path(1, 0, Follow::kNever),
    direct(260, "fchownat", {kDirFd, kPath, kUserId, kUserId, kFlags}).path(1, 0, Follow::kUnlessFlag, 4),
    direct(261, "futimesat", {kDirFd, kPath, in(32)}).path(1, 0),
    special(kOnPath, 262, "newfstatat", {kDirFd, kPath, out(144), kFlags}).path(1, 0, Follow::kUnlessFlag, 3),
    direct(263, "unlinkat", {kDirFd, kPath, kFlags}).path(1, 0, Follow::kNever),
    direct(264, "renameat", {kDirFd, kPath, kDirFd, kPath})
        .path(1, 0, Follow::kNever)
        .path(3, 2, Follow::kNever),
    direct(265, "linkat", {kDirFd, kPath, kDirFd, kPath, kFlags})
        .path(1, 0, Follow::kIfFlag, 4)
        .path(3, 2, Follow::kNever),
    direct(266, "symlinkat", {kString, kDirFd, kPath}).path(2, 1, Follow::kNever),
    special(kOnPath, 267, "readlinkat", {kDirFd, kPath, out_up_to(3), kSize32}).path(1, 0, Follow::kNever),
    direct(268, "fchmodat", {kDirFd, kPath, kMode}).path(1, 0),
    special(kOnPath, 269, "faccessat", {kDirFd, kPath, kMode}).path(1, 0),
    // The sixth argument points to the signal set's address and size.
    may_block(270, "pselect6",
              {kCount, inout_as(Length::kFdSet, 0), inout_as(Length::kFdSet, 0), inout_as(Length::kFdSet, 0),
               inout(16, When::kAnyResult), in(16)})
        .restarts(Restart::kNoHandler),
    may_block(271, "ppoll",
              {inout_as(Length::kPollfd, 1, When::kSuccessOrInterrupt), kCount, inout(16, When::kAnyResult),
               sigset_in(4), kSize})
        .restarts(Restart::kNoHandler),
    special(kOnProcess, 272, "unshare", {kFlags}).or_error(EPERM),
    answered(273, "set_robust_list", {kAddress, kSize}),
    answered(274, "get_robust_list", {kPid, out(8), out(8)}),
    may_block(275, "splice", {kFd, inout(8), kFd, inout(8), kSize, kFlags})
        .writes_file(2)
        .restarts(Restart::kWithSaRestart),
    may_block(276, "tee", {kFd, kFd, kSize, kFlags}).restarts(Restart::kWithSaRestart),
    direct(277, "sync_file_range", {kFd, kOffset, kSize, kFlags}).slow(),
    // Fills the buffers from a pipe's read end; with a write end it only reads them.
    may_block(278, "vmsplice", {kFd, iovec_out(2), kWord, kFlags}).restarts(Restart::kWithSaRestart),
    direct(279, "move_pages", {kPid, kWord, in_by(1, 8), in_by(1, 4), out_by(1, 4), kFlags}),
    direct(280, "utimensat", {kDirFd, kPath, in(32), kFlags}).path(1, 0, Follow::kUnlessFlag, 3),
    may_block(281, "epoll_pwait", {kFd, out_up_to(2, 12), kCount, kInt, sigset_in(5), kSize})
        .restarts(Restart::kNever),
    special(kOnSignals, 282, "signalfd", {kFd, sigset_in(2), kSize}).creates_fd(),
    direct(283, "timerfd_create", {kInt, kFlags}).creates_fd(),
    direct(284, "eventfd", {kUnsigned}).creates_fd(),
    direct(285, "fallocate", {kFd, kFlags, kOffset, kOffset}).writes_file(0).slow(),
    direct(286, "timerfd_settime", {kFd, kFlags, in(32), out(32)}),
    direct(287, "timerfd_gettime", {kFd, out(32)}),
    may_block(288, "accept4", {kFd, out_as(Length::kPointee, 2), length_inout(When::kWithBuffer), kFlags})
        .creates_fd()
        .restarts(Restart::kWithSaRestartNoTimeout),
    special(kOnSignals, 289, "signalfd4", {kFd, sigset_in(2), kSize, kFlags}).creates_fd(),
    direct(290, "eventfd2", {kUnsigned, kFlags}).creates_fd(),
    direct(291, "epoll_create1", {kFlags}).creates_fd(),
    special(kOnDescriptors, 292, "dup3", {kFd, kFd, kFlags}).creates_fd().closes_fds(bit(1)),
    direct(293, "pipe2", {out(8), kFlags}).creates_fd(Creates::kPair, 0),
    direct(294, "inotify_init1", {kFlags}).creates_fd(),
    may_block(295, "preadv", {kFd, iovec_out(2), kWord, kOffset, kOffset}).restarts(Restart::kWithSaRestart),
    may_block(296, "pwritev", {kFd, iovec_in(2), kWord, kOffset, kOffset})
        .writes_file(0)
        .restarts(Restart::kWithSaRestart),
    special(kOnSignals, 297, "rt_tgsigqueueinfo", {kPid, kPid, kSignal, in(128)}),
    // What perf_event_paranoid gives: counters are not repeatable, and their ring buffer is memory that
    // changes.
    refused(EACCES, 298, "perf_event_open", {in(136), kPid, kInt, kFd, kFlags}),
    may_block(299, "recvmmsg",
              {kFd, memory(ArgKind::kMmsghdrOut, Length::kMmsghdr, 64, 2), kCount, kFlags,
               inout(16, When::kPositive)})
        .creates_fd(Creates::kMessage, 1)
        .restarts(Restart::kWithSaRestartNoTimeout),
    refused(ENOSYS, 300, "fanotify_init", {kFlags, kFlags}),  // its events create descriptors by read
    refused(ENOSYS, 301, "fanotify_mark", {kFd, kFlags, kWord, kDirFd, kPath}).path(4, 3),
    special(kOnProcess, 302, "prlimit64", {kPid, kUnsigned, in(16), out(16)}),
    // The mount id has 8 bytes with AT_HANDLE_MNT_ID_UNIQUE.
    direct(303, "name_to_handle_at",
           {kDirFd, kPath, inout_as(Length::kFileHandle, kNoArg, When::kSuccessOrOverflow),
            out_as(Length::kNested, kNoArg, When::kSuccessOrOverflow), kFlags})
        .path(1, 0, Follow::kIfFlag, 4),
    special(kOnPath, 304, "open_by_handle_at", {kDirFd, in_as(Length::kFileHandle), kFlags})
        .creates_fd()
        .blocks()
        .restarts(Restart::kWithSaRestart)
        .or_error(EPERM),
    direct(305, "clock_adjtime", {kInt, inout(208)}),
    direct(306, "syncfs", {kFd}).slow(),
    may_block(307, "sendmmsg", {kFd, memory(ArgKind::kMmsghdrIn, Length::kMmsghdr, 64, 2), kCount, kFlags})
        .restarts(Restart::kWithSaRestartNoTimeout),
    special(kOnProcess, 308, "setns", {kFd, kFlags}).or_error(EPERM),
    answered(309, "getcpu", {out(4), out(4), kAddress}),
    special(kOnMemory, 310, "process_vm_readv", {kPid, iovec_out(2), kWord, in_by(4, 16), kWord, kFlags}),
    special(kOnMemory, 311, "process_vm_writev", {kPid, iovec_in(2), kWord, in_by(4, 16), kWord, kFlags}),
    direct(312, "kcmp", {kPid, kPid, kInt, kWord, kWord}),
    refused(EPERM, 313, "finit_module", {kFd, kString, kFlags}),
    direct(314, "sched_setattr", {kPid, inout_as(Length::kSelfSize, kNoArg, When::kTooBig), kFlags}),
    direct(315, "sched_getattr", {kPid, out_by(2), kSize32, kFlags}),
    direct(316, "renameat2", {kDirFd, kPath, kDirFd, kPath, kFlags})
        .path(1, 0, Follow::kNever)
        .path(3, 2, Follow::kNever),
    // A filter in force would catch the engine's own calls; EINVAL is a kernel without filters.
    special(kOnProcess, 317, "seccomp", {kUnsigned, kFlags, kAddress}).or_error(EINVAL),
    answered(318, "getrandom", {out_up_to(1), kSize, kFlags}).restarts(Restart::kWithSaRestart),
    direct(319, "memfd_create", {kString, kFlags}).creates_fd(),
    refused(EPERM, 320, "kexec_file_load", {kFd, kFd, kSize, kString, kFlags}),
    refused(EPERM, 321, "bpf", {kCommand, kByCommand, kSize}).by(Commands::kBpf, 0),
    special(kOnProcess, 322, "execveat", {kDirFd, kPath, kStringArray, kStringArray, kFlags})
        .path(1, 0, Follow::kUnlessFlag, 4)
        .no_return()
        .restarts(Restart::kAlways),
    refused(ENOSYS, 323, "userfaultfd", {kFlags}),
    direct(324, "membarrier", {kInt, kFlags, kInt}),
    direct(325, "mlock2", {kAddress, kSize, kFlags}),
    direct(326, "copy_file_range", {kFd, inout(8), kFd, inout(8), kSize, kFlags}).writes_file(2).slow(),
    may_block(327, "preadv2", {kFd, iovec_out(2), kWord, kOffset, kOffset, kFlags})
        .restarts(Restart::kWithSaRestart),
    may_block(328, "pwritev2", {kFd, iovec_in(2), kWord, kOffset, kOffset, kFlags})
        .writes_file(0)
        .restarts(Restart::kWithSaRestart),
    special(kOnMemory, 329, "pkey_mprotect", {kAddress, kSize, kFlags, kInt}),
    refused(ENOSPC, 330, "pkey_alloc",
            {kFlags, kFlags}),  // the answer of a processor without protection keys
    refused(EINVAL, 331, "pkey_free", {kInt}),
    special(kOnPath, 332, "statx", {kDirFd, kPath, kFlags, kFlags, out(256)})
        .path(1, 0, Follow::kUnlessFlag, 2),
    refused(ENOSYS, 333, "io_pgetevents", {kWord, kWord, kWord, out_up_to(2, 32), in(16), in(16)}),
    // The kernel would store the cpu number and abort sequences at times of its own. C libraries do without.
    refused(ENOSYS, 334, "rseq", {kAddress, kSize, kFlags, kUnsigned}),
    refused(ENOSYS, 335, "uretprobe"),  // for the kernel's own trampolines
    refused(ENOSYS, 336, "uprobe"),
};

// From 424 on, numbers are the same on all architectures.
constexpr SyscallRow kHighRows[] = {
    special(kOnSignals, 424, "pidfd_send_signal", {kFd, kSignal, in(128), kFlags}),
    refused(ENOSYS, 425, "io_uring_setup", {kCount, inout(120)}),
    refused(ENOSYS, 426, "io_uring_enter", {kFd, kCount, kCount, kFlags, in_by(5), kSize}),
    refused(ENOSYS, 427, "io_uring_register", {kFd, kUnsigned, kAddress, kCount}),
    direct(428, "open_tree", {kDirFd, kPath, kFlags}).path(1, 0, Follow::kUnlessFlag, 2).creates_fd(),
    direct(429, "move_mount", {kDirFd, kPath, kDirFd, kPath, kFlags})
        .path(1, 0, Follow::kOtherFlag, 4)
        .path(3, 2, Follow::kOtherFlag, 4),
    direct(430, "fsopen", {kString, kFlags}).creates_fd(),
    direct(431, "fsconfig", {kFd, kUnsigned, kString, kAddress, kInt}),
    direct(432, "fsmount", {kFd, kFlags, kFlags}).creates_fd(),
    direct(433, "fspick", {kDirFd, kPath, kFlags}).path(1, 0, Follow::kOtherFlag, 2).creates_fd(),
    direct(434, "pidfd_open", {kPid, kFlags}).creates_fd(),
    // C libraries fall back to clone, which says the same in registers.
    refused(ENOSYS, 435, "clone3", {in_by(1), kSize}),
    special(kOnDescriptors, 436, "close_range", {kUnsigned, kUnsigned, kFlags}),
    special(kOnPath, 437, "openat2", {kDirFd, kPath, in_by(3), kSize})
        .path(1, 0, Follow::kOpenFlags, 2)
        .creates_fd()
        .blocks()
        .restarts(Restart::kWithSaRestart),
    special(kOnDescriptors, 438, "pidfd_getfd", {kFd, kFd, kFlags}).creates_fd().or_error(EPERM),
    special(kOnPath, 439, "faccessat2", {kDirFd, kPath, kMode, kFlags}).path(1, 0, Follow::kUnlessFlag, 3),
    special(kOnMemory, 440, "process_madvise", {kFd, in_by(2, 16), kWord, kCommand, kFlags})
        .by(Commands::kMadvise, 3)
        .or_error(EPERM),
    may_block(441, "epoll_pwait2", {kFd, out_up_to(2, 12), kCount, in(16), sigset_in(5), kSize})
        .restarts(Restart::kNever),
    direct(442, "mount_setattr", {kDirFd, kPath, kFlags, in_by(4), kSize}).path(1, 0, Follow::kUnlessFlag, 2),
    direct(443, "quotactl_fd", {kFd, kCommand, kInt, kByCommand}).by(Commands::kQuotactl, 1),
    refused(ENOSYS, 444, "landlock_create_ruleset", {in_by(1), kSize, kFlags}),
    refused(ENOSYS, 445, "landlock_add_rule", {kFd, kInt, kAddress, kFlags}),
    refused(ENOSYS, 446, "landlock_restrict_self", {kFd, kFlags}),
    refused(ENOSYS, 447, "memfd_secret", {kFlags}),
    direct(448, "process_mrelease", {kFd, kFlags}),
    answered(449, "futex_waitv", {in_by(1, 24), kCount, kFlags, in(16), kInt})
        .restarts(Restart::kWithSaRestart),
    direct(450, "set_mempolicy_home_node", {kAddress, kSize, kWord, kFlags}),
    direct(451, "cachestat", {kFd, in(16), out(40), kFlags}),
    direct(452, "fchmodat2", {kDirFd, kPath, kMode, kFlags}).path(1, 0, Follow::kUnlessFlag, 3),
    refused(ENOSYS, 453, "map_shadow_stack", {kAddress, kSize, kFlags}),
    answered(454, "futex_wake", {kAddress, kWord, kInt, kFlags}),
    answered(455, "futex_wait", {kAddress, kWord, kWord, kFlags, in(16), kInt})
        .restarts(Restart::kWithSaRestart),
    answered(456, "futex_requeue", {in(48), kFlags, kInt, kInt}),
    direct(457, "statmount", {in_as(Length::kSelfSize), out_as(Length::kSelfSize, 2), kSize, kFlags}),
    direct(458, "listmount", {in_as(Length::kSelfSize), out_up_to(2, 8), kWord, kFlags}),
    direct(459, "lsm_get_self_attr",
           {kUnsigned, out_as(Length::kPointee, 2), length_inout(When::kAnyResult), kFlags}),
    direct(460, "lsm_set_self_attr", {kUnsigned, in_by(2), kSize32, kFlags}),
    direct(461, "lsm_list_modules", {out_as(Length::kPointee, 1), length_inout(When::kAnyResult), kFlags}),
    refused(ENOSYS, 462, "mseal", {kAddress, kSize, kFlags}),
    direct(463, "setxattrat", {kDirFd, kPath, kFlags, kString, in_by(5), kSize})
        .path(1, 0, Follow::kUnlessFlag, 2),
    direct(464, "getxattrat", {kDirFd, kPath, kFlags, kString, inout_as(Length::kXattrArgs, 5), kSize})
        .path(1, 0, Follow::kUnlessFlag, 2),
    direct(465, "listxattrat", {kDirFd, kPath, kFlags, out_up_to(4), kSize})
        .path(1, 0, Follow::kUnlessFlag, 2),
    direct(466, "removexattrat", {kDirFd, kPath, kFlags, kString}).path(1, 0, Follow::kUnlessFlag, 2),
    direct(467, "open_tree_attr", {kDirFd, kPath, kFlags, in_by(4), kSize})
        .path(1, 0, Follow::kUnlessFlag, 2)
        .creates_fd(),
    direct(468, "file_getattr", {kDirFd, kPath, out_by(3), kSize, kFlags}).path(1, 0, Follow::kUnlessFlag, 4),
    direct(469, "file_setattr", {kDirFd, kPath, in_by(3), kSize, kFlags}).path(1, 0, Follow::kUnlessFlag, 4),
    refused(ENOSYS, 470, "listns"),
    refused(ENOSYS, 471, "rseq_slice_yield"),
};

constexpr int kFirstHigh = 424;
constexpr std::size_t kLowCount = sizeof(kLowRows) / sizeof(kLowRows[0]);
constexpr std::size_t kHighCount = sizeof(kHighRows) / sizeof(kHighRows[0]);

template <std::size_t N>
constexpr bool numbered_from(const SyscallRow (&rows)[N], int first) {
  for (std::size_t i = 0; i < N; ++i) {
    if (rows[i].number != first + static_cast<int>(i)) return false;
  }
  return true;
}
static_assert(numbered_from(kLowRows, 0), "a row's place is its number");
static_assert(numbered_from(kHighRows, kFirstHigh), "a row's place is its number");
static_assert(kFirstHigh + kHighCount == kEndOfNumbers);

}  // namespace

const SyscallRow* find(int nr) {
  if (nr < 0) return nullptr;
  const auto index = static_cast<std::size_t>(nr);
  if (index < kLowCount) return &kLowRows[index];
  if (index >= kFirstHigh && index - kFirstHigh < kHighCount) return &kHighRows[index - kFirstHigh];
  return nullptr;
}

const char* name(int nr) {
  const SyscallRow* row = find(nr);
  return row != nullptr ? row->name : "unknown";
}

std::size_t row_count() { return kLowCount + kHighCount; }

const SyscallRow& row_at(std::size_t index) {
  return index < kLowCount ? kLowRows[index] : kHighRows[index - kLowCount];
}

}  // namespace detrec::syscalls
