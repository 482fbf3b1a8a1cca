// The x86-64 system calls as data: one row per number.
//
// A row says what a call is called, what each argument means, which guest memory the kernel reads and writes
// through it and how much of it, how the call is to be treated (DESIGN 3.3), which paths it resolves, which
// descriptors it makes and closes, and what happens when a signal interrupts it. Calls whose meaning depends
// on a command argument (ioctl, fcntl, prctl, futex, ...) point to a table of commands, see commands.h.
// memory.h turns a row, the arguments and the result into ranges of guest memory.
//
// Sources of the facts: the kernel's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi headers, the
// manual pages of section 2, and signal(7) for the restart rules. Names are those of unistd_64.h.
//
// Everything here is freestanding: no libc, no allocation, no pointers inside the rows (so no relocations),
// no constructors that run at start-up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace detrec::syscalls {

inline constexpr int kMaxArgs = 6;
inline constexpr std::uint8_t kNoArg = 0xff;  ///< in a field that names an argument: there is none

/// How the engine treats a call (DESIGN 3.3).
enum class Class : std::uint8_t {
  kAnswered,  ///< the engine or the core computes the result; the kernel is not asked with the guest's
              ///< arguments
  kDirect,    ///< passed on while the turn is kept: cannot wait for another guest thread
  kMayBlock,  ///< may wait for another guest thread or for the outside: try without blocking, else give up
              ///< the turn
  kSpecial,   ///< changes something the engine keeps books about; see Subject
  kRefused,   ///< never executed: `error` is returned
};

/// What a special call is about; it chooses the engine's handler.
enum class Subject : std::uint8_t {
  kNone,
  kMemory,       ///< the address space or memory of another process
  kProcess,      ///< threads, processes, their images, attributes and limits
  kSignals,      ///< dispositions, masks, sending, waiting, and the timers that send signals
  kDescriptors,  ///< the descriptor table, where the engine hides its own
  kPath,  ///< resolves a path whose answer may have to be the guest's own (/proc/self/exe, /proc/self/maps
          ///< ...)
};

/// What an argument is. Kinds with "points to" are memory; the rest are values.
enum class ArgKind : std::uint8_t {
  kNone,      ///< the call has no such argument
  kInt,       ///< signed, 32 bits: the kernel ignores the upper half
  kUnsigned,  ///< unsigned, 32 bits
  kLong,      ///< signed, 64 bits
  kWord,      ///< unsigned, 64 bits
  kFlags,     ///< bit set
  kMode,      ///< file mode or umask
  kFd,        ///< descriptor
  kDirFd,     ///< descriptor of a directory, or AT_FDCWD
  kPid,       ///< process, thread or group id
  kUserId,    ///< user or group id
  kSignal,    ///< signal number
  kCommand,   ///< selects a row of the command table
  kSize,      ///< bytes, 64 bits
  kSize32,    ///< bytes, 32 bits: the kernel ignores the upper half
  kCount,     ///< elements, 32 bits
  kOffset,    ///< file offset
  kAddress,   ///< guest address that this call does not read or write through as data (mmap, futex word, tls
              ///< ...)
  kPath,      ///< points to a path, NUL-terminated
  kString,    ///< points to another NUL-terminated string
  kStringArray,  ///< points to a NULL-terminated array of strings
  kIn,           ///< points to memory the kernel reads
  kOut,          ///< points to memory the kernel writes
  kInOut,        ///< points to memory the kernel reads and writes
  kSigsetIn,     ///< points to a signal set the kernel reads
  kSigsetOut,    ///< points to a signal set the kernel writes
  kLengthInOut,  ///< points to a 32-bit length: capacity before the call, length after it
  kIovecIn,      ///< points to an iovec array whose buffers the kernel reads
  kIovecOut,     ///< points to an iovec array whose buffers the kernel writes
  kMsghdrIn,     ///< points to a msghdr to send
  kMsghdrOut,    ///< points to a msghdr to receive into
  kMmsghdrIn,    ///< points to an array of mmsghdr to send
  kMmsghdrOut,   ///< points to an array of mmsghdr to receive into
  kByRequest,    ///< points to memory that is read or written as _IOC_DIR of the ioctl request says
  kByCommand,    ///< the command table's row says what it is
};

/// How much memory a memory argument covers. `ref` and `size` are the fields of Arg.
enum class Length : std::uint8_t {
  kNone,          ///< not memory
  kFixed,         ///< `size` bytes
  kArg,           ///< value of argument `ref`, times `size`
  kMinArgResult,  ///< the smaller of argument `ref` and the result, times `size`, plus `header` bytes in
                  ///< front
  kIfFits,        ///< the result; nothing if that is more than argument `ref`
  kPointee,      ///< argument `ref` points to a 32-bit length: the smaller of its values before and after the
                 ///< call, times `size` if that is not 0
  kString,       ///< up to and with the NUL
  kStringArray,  ///< up to and with the NULL, and the strings
  kIovec,        ///< argument `ref` entries, whose buffers hold as many bytes as the result says
  kMsghdr,       ///< one msghdr
  kMmsghdr,      ///< argument `ref` entries, of which the result says how many were used
  kFdSet,        ///< bit set of argument `ref` bits, in whole 64-bit words
  kNodeMask,     ///< bit set of argument `ref` - 1 bits, in whole 64-bit words
  kPages,        ///< one byte per page of argument `ref` bytes
  kPollfd,       ///< argument `ref` pollfd; only their `revents` are written
  kSelfSize,     ///< the memory's first 32 bits say its size; never more than argument `ref`, if there is one
  kFileHandle,   ///< struct file_handle: 8 bytes, and as many as its first 32 bits say
  kSiginfoWait,  ///< siginfo_t of which waitid writes the first three and the wait fields only
  kXattrArgs,    ///< struct xattr_args that points to a buffer of `size` bytes
  kRequest,      ///< _IOC_SIZE of the ioctl request
  kNested,       ///< has pointers of its own; memory.cc knows the structure by its command
  kExternal,     ///< only the kernel knows (number of semaphores in a set): see Before::external_count
};

/// For which results memory is written. (With -EFAULT any part of an output may have been written; no rule
/// says which.)
enum class When : std::uint8_t {
  kSuccess,             ///< result >= 0
  kWithBuffer,          ///< result >= 0, and the argument whose length this is, is not NULL
  kPositive,            ///< result > 0
  kInterrupt,           ///< result is -EINTR
  kSuccessOrInterrupt,  ///< result >= 0, or -EINTR
  kSuccessOrOverflow,   ///< result >= 0, or -EOVERFLOW
  kTooBig,              ///< result is -E2BIG: the first 32 bits are set to the size that the kernel knows
  kAnyResult,           ///< on errors too, at least on some
};

/// One argument of a call.
struct Arg {
  ArgKind kind = ArgKind::kNone;
  Length length = Length::kNone;
  std::uint8_t ref = kNoArg;  ///< the argument that `length` refers to
  When when = When::kSuccess;
  std::uint16_t size = 0;    ///< bytes, or bytes per element
  std::uint16_t header = 0;  ///< bytes in front of the elements

  constexpr bool is_memory() const { return kind >= ArgKind::kPath && kind != ArgKind::kByCommand; }
  /// True when the kernel writes guest memory through this argument itself (not: through a command's).
  constexpr bool is_written() const {
    return kind == ArgKind::kOut || kind == ArgKind::kInOut || kind == ArgKind::kSigsetOut ||
           kind == ArgKind::kLengthInOut || kind == ArgKind::kIovecOut || kind == ArgKind::kMsghdrOut ||
           kind == ArgKind::kMmsghdrOut || kind == ArgKind::kMmsghdrIn || kind == ArgKind::kByRequest;
  }
  /// True when the kernel reads guest memory through it before it acts.
  constexpr bool is_read() const {
    return is_memory() && kind != ArgKind::kOut && kind != ArgKind::kSigsetOut;
  }
};

/// Whether the last component of a path is followed when it is a symbolic link.
enum class Follow : std::uint8_t {
  kAlways,
  kNever,       ///< the call is about the link or the directory entry itself (lstat, unlink, mkdir, rename)
  kUnlessFlag,  ///< unless AT_SYMLINK_NOFOLLOW (0x100) is in argument `flags`
  kIfFlag,      ///< only if AT_SYMLINK_FOLLOW (0x400) is in argument `flags`
  kOpenFlags,   ///< unless O_NOFOLLOW, or O_CREAT|O_EXCL, are in argument `flags` (openat2: in its open_how)
  kOtherFlag,   ///< a flag of the call's own decides (move_mount, umount2, name_to_handle_at ...)
};

/// A path that a call resolves.
struct PathUse {
  std::uint8_t arg = kNoArg;    ///< the path argument
  std::uint8_t dirfd = kNoArg;  ///< the descriptor it is relative to; kNoArg: the working directory
  std::uint8_t flags = kNoArg;  ///< the argument with the flags that `follow` speaks of
  Follow follow = Follow::kAlways;
};

/// Where a call leaves new descriptors.
enum class Creates : std::uint8_t {
  kNone,
  kResult,     ///< the result is one
  kPair,       ///< two ints at argument `creates_arg`
  kPointee,    ///< one int at argument `creates_arg`, if flags ask for it (CLONE_PIDFD)
  kMessage,    ///< SCM_RIGHTS control messages of a received msghdr
  kByCommand,  ///< the command's row says
};

/// What happens when a handler of the guest ran while the call waited (signal(7), "Interruption of system
/// calls").
enum class Restart : std::uint8_t {
  kUninterruptible,         ///< signals do not interrupt it
  kWithSaRestart,           ///< restarted if the handler has SA_RESTART, else EINTR (kernel: ERESTARTSYS)
  kWithSaRestartNoTimeout,  ///< the same, but always EINTR when a timeout is given or set (SO_RCVTIMEO,
                            ///< SO_SNDTIMEO, FUTEX_WAIT's)
  kNoHandler,               ///< EINTR after any handler; restarted after a stop without one (ERESTARTNOHAND)
  kRestartBlock,            ///< the same, restarted with the time that is left (ERESTART_RESTARTBLOCK)
  kNever,                   ///< EINTR, even after a stop (epoll_wait, semop, rt_sigtimedwait)
  kAlways,                  ///< restarted whatever the handler says (ERESTARTNOINTR)
};

/// The command table a row refers to; see commands.h.
enum class Commands : std::uint8_t {
  kNone,
  kIoctl,
  kFcntl,
  kPrctl,
  kArchPrctl,
  kSetsockopt,
  kGetsockopt,
  kFutex,
  kKeyctl,
  kMadvise,
  kQuotactl,
  kShmctl,
  kSemctl,
  kMsgctl,
  kPtrace,
  kBpf,
};

/// Properties of a call that combine.
enum Flag : std::uint8_t {
  kBlocks = 1 << 0,    ///< a special call that may block as one of kMayBlock does
  kSlow = 1 << 1,      ///< does not wait for a guest, but for a device: worth lending the turn
  kNoReturn = 1 << 2,  ///< does not return on success (exit, execve, rt_sigreturn)
  kWritesFile =
      1 << 3,  ///< changes the content or length of the file at argument `file_arg`, which may be mapped
  kDropsFds = 1 << 4,  ///< closes the descriptors in `closes`
};

/// One system call.
struct SyscallRow {
  std::int16_t number = -1;
  std::uint8_t arg_count = 0;
  Class klass = Class::kRefused;
  Subject subject = Subject::kNone;
  std::uint8_t flags = 0;
  std::int16_t error = 0;  ///< kRefused: the errno (positive) to return. kSpecial: the one to give when the
                           ///< handler for this call does not exist; 0: the engine cannot do without it
  Restart restart = Restart::kUninterruptible;
  Creates creates = Creates::kNone;
  std::uint8_t creates_arg = kNoArg;
  std::uint8_t closes =
      0;  ///< bit n: argument n is a descriptor that is closed (dup2's second: if it was open)
  std::uint8_t file_arg = kNoArg;
  Commands commands = Commands::kNone;
  std::uint8_t command_arg = kNoArg;
  std::uint8_t reads = 0;   ///< bit n: memory may be read through argument n; found from `args`
  std::uint8_t writes = 0;  ///< the same for written
  PathUse paths[2];
  Arg args[kMaxArgs];
  char name[28] = {};

  constexpr bool has(Flag flag) const { return (flags & flag) != 0; }
  constexpr bool takes_path() const { return paths[0].arg != kNoArg; }
};

/// One past the highest number the table knows.
inline constexpr int kEndOfNumbers = 472;

/// The row of a system call number; nullptr for numbers without one (337..423, negative, x32, above the
/// newest): such a call gets ENOSYS.
const SyscallRow* find(int nr);

/// The kernel's name for a number; "unknown" when there is no row.
const char* name(int nr);

/// Number of rows, and the row at an index in ascending order of numbers.
std::size_t row_count();
const SyscallRow& row_at(std::size_t index);

}  // namespace detrec::syscalls
