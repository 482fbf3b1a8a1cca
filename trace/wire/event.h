// Event records: what enters a run from outside, in the form in which the ring carries it
// (docs/wire-layout.md).
//
// A record is an EventHeader and the body that its kind names, everything little-endian and 8-byte aligned;
// header.size counts all of it. Strings and data are padded with zeros to 8 bytes. Records of kind kData
// carry more of the data of the event before them and are not events of their own: events are numbered
// without them.
#pragma once

#include <cstdint>

namespace detrec::wire {

enum class EventKind : std::uint16_t {
  kStart = 1,  ///< the first instruction of an image is about to run; kMapping events with what is in memory
               ///< come before it
  kMapping,    ///< memory with content that is not zero appears: at a start, or by the mmap whose kSyscall
               ///< event follows
  kSyscall,    ///< a system call has ended (or will never end: exit)
  kInstruction,  ///< an instruction was answered by the engine with something from outside (rdtsc, rdrand
                 ///< ...)
  kSignal,       ///< a signal is delivered to the thread: its handler is entered, or its default action taken
  kTurn,         ///< the thread gives the turn to another
  kThread,       ///< a thread was created; its number and ids
  kExit,         ///< a thread or its process has ended
  kData,         ///< more data of the event before
};
inline constexpr std::uint16_t kLastEventKind = static_cast<std::uint16_t>(EventKind::kData);

/// header.flags.
inline constexpr std::uint16_t kMoreData = 1;  ///< a kData record with more of this event's data follows

struct EventHeader {
  std::uint32_t size;  ///< bytes, header included; a multiple of 8
  EventKind kind;
  std::uint16_t flags;
  std::uint32_t thread;  ///< number of the thread in this run, from 1
  std::uint32_t reserved;
  std::uint64_t ticks;  ///< used by the thread so far
  std::uint64_t pc;     ///< guest pc: behind a system call, of an instruction; 0: not known
};
static_assert(sizeof(EventHeader) == 32);

/// More than so much data in one record is passed on in kData records.
inline constexpr std::uint32_t kPieceBytes = 64 * 1024;
/// Larger records do not exist.
inline constexpr std::uint32_t kMaxRecordBytes = 2 * kPieceBytes;

enum class Direction : std::uint32_t {
  kIn = 0,     ///< written to the guest's memory
  kOut = 1,    ///< left the guest by its stdout (as it was at the start)
  kPath = 3,   ///< a path that the call was given, with its NUL, at the address of the argument
  kError = 2,  ///< left the guest by its stderr
};

/// Memory that an event wrote or that left the guest; `size` bytes follow, padded to 8.
struct RangeHeader {
  std::uint64_t address;
  std::uint32_t size;
  Direction direction;
};
static_assert(sizeof(RangeHeader) == 16);

/// kSyscall: followed by `range_count` ranges.
struct SyscallBody {
  std::int32_t number;  ///< unistd_64.h
  std::uint32_t range_count;
  std::uint64_t args[6];     ///< as they were before the call
  std::int64_t result;       ///< the kernel's: -errno, also its restart codes (-512 ...)
  std::uint32_t input_hash;  ///< FNV-1a (32 bits) over the memory that the call read; 0: read none
  std::uint32_t reserved;
  std::uint64_t duration_ns;  ///< from call to result, host time; 0: short (a few microseconds), or not measured
};
static_assert(sizeof(SyscallBody) == 80);

/// kData: `size` bytes follow.
struct DataBody {
  RangeHeader range;
};

enum class InstructionKind : std::uint32_t { kRdtsc = 1, kRdtscp, kRdrand, kRdseed, kRdpid, kCpuid, kXgetbv };

/// kInstruction: what the instruction was answered with; unused values are 0.
struct InstructionBody {
  InstructionKind what;
  std::uint32_t reserved;
  std::uint64_t values[4];
};

/// kSignal: the signal is about to be delivered; siginfo as the kernel gave it (man 2 sigaction).
struct SignalBody {
  std::int32_t number;
  std::uint32_t
      asynchronous;        ///< 1: came from outside; 0: a fault of the thread's own, which replay must repeat
  std::uint8_t info[128];  ///< siginfo_t
  std::uint64_t register_hash;  ///< of the thread at (ticks, pc), before the handler is entered
};

enum class TurnReason : std::uint32_t {
  kSlice = 1,  ///< timeslice used up
  kWaits,      ///< waits in a system call
  kExits,      ///< the thread ends
  kYields,     ///< sched_yield, or many calls
  kPreempted,  ///< a stop that was asked for (chaos, --slice)
};

/// kTurn: the header's thread had the turn until here.
struct TurnBody {
  std::uint32_t to_thread;
  TurnReason reason;
  std::uint64_t register_hash;  ///< of the thread that ran, at (ticks, pc); 0 while it is in a system call
};

/// kThread: the header's thread is the creator.
struct ThreadBody {
  std::uint32_t thread;   ///< its number
  std::int32_t tid, pid;  ///< as the guest sees them
  std::uint32_t reserved;
};

enum class ExitCause : std::uint32_t {
  kThread = 1,  ///< the thread's exit(2)
  kProcess,     ///< exit_group
  kSignal,      ///< a signal's default action; status = its number
  kExec,    ///< another image is about to replace the process's; kStart follows, or kSyscall with the error
  kKilled,  ///< from outside, seen by the server; pc is not known
};

/// kExit.
struct ExitBody {
  ExitCause cause;
  std::int32_t status;
  std::uint64_t register_hash;  ///< 0: not known
};

enum class Content : std::uint32_t {
  kZero = 0,     ///< nothing: anonymous memory, or a mapping whose content lies beyond the end of its file
  kCapture = 1,  ///< captured file `capture`, from file_offset on
  kData = 2,     ///< in this record and the kData records that follow
};

/// kMapping: followed by the name (name_size bytes, no NUL, padded to 8), then `data_size` bytes for
/// Content::kData.
struct MappingBody {
  std::uint64_t address;
  std::uint64_t length;      ///< bytes, whole pages
  std::uint32_t protection;  ///< PROT_*
  std::uint32_t map_flags;   ///< MAP_*
  std::uint64_t file_offset;
  std::uint64_t device;  ///< st_dev; 0: no file
  std::uint64_t inode;
  Content content;
  std::uint32_t
      capture;  ///< number of the capture (from 1) whose descriptor went through the control socket; 0: none
  std::uint32_t name_size;
  std::uint32_t data_size;
  std::uint64_t
      content_offset;  ///< in a replay's feed only: where the capture is in the content memfd; 0 in a trace
  std::uint64_t content_size;  ///< and its length in bytes
};
static_assert(sizeof(MappingBody) == 80);

/// kStart: the state in which an image starts, apart from memory; followed by `strings_size` bytes: the path
/// of the executable, then argv and envp, each string with its NUL.
struct StartBody {
  std::uint64_t gpr[16];  ///< rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8..r15
  std::uint64_t rflags;
  std::int32_t pid, tid, parent_pid;
  std::uint32_t argc;
  std::uint32_t envc;
  std::uint32_t strings_size;
  std::uint64_t brk_start;
  std::uint64_t brk;
  std::uint64_t stack_start;
  std::uint64_t linker_begin, linker_end;
  std::uint64_t signal_mask;  ///< bit n-1: signal n
  std::uint64_t ignored_signals;
  std::uint64_t limits[16][2];  ///< RLIMIT_*: soft, hard
};

}  // namespace detrec::wire
