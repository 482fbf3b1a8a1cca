// How the server has a replayed process stop, look around, go on and split off checkpoints.
//
// A debugged replay has one slot for each of its processes: a mailbox, then a ring (channel.h). The process
// that is started has slot 0; a checkpoint gets the slot that the request names. The server posts one request
// at a time
// (`posted` one higher, futex wake), and the process answers in place (`answered` = `posted`, futex wake). A
// process begins by standing still before its first instruction, with request 0 answered.
//
// A copy that is run with kRunDiverted is a diversion from then on: its program lives, without events, and
// nothing of it is replayed any more.
#pragma once

#include <compare>
#include <cstdint>

#include "trace/wire/channel.h"

namespace detrec::wire {

inline constexpr std::uint32_t kTransferBytes = 64 * 1024;
inline constexpr std::uint32_t kDebugSlots = 64;

/// docs/positions.md: compares in the order of time.
struct DebugPosition {
  std::uint64_t event, ticks, pc;
  friend auto operator<=>(const DebugPosition&, const DebugPosition&) = default;
};

enum class DebugCommand : std::uint32_t {
  kRun = 1,        ///< moves on as `run` says; `stop` is the answer
  kReadMemory,     ///< args: address, bytes (up to kTransferBytes); result: bytes read into `transfer`
  kReadRegisters,  ///< args: thread number; `transfer` is a DebugRegisters
  kThreads,        ///< result: number of DebugThread in `transfer`
  kMappings,  ///< args: lowest address; `transfer`: DebugMapping records; result: their bytes, 0: none left
  kSetBreakpoints,  ///< args: count; `transfer`: their pcs (u64), all there are (up to kTransferBytes / 8)
  kSetWatchpoints,  ///< args: count; `transfer`: DebugWatch, all there are
  kCheckpoint,      ///< args: slot; a copy of the process takes it and stands still there; result: its pid
  kReadTrail,       ///< args: index, 0 being the oldest; `transfer`: DebugTrailEntry; result: how many
  kReadVectors,     ///< args: DebugTrailEntry::vectors; `transfer`: as DebugRegisters::xsave
  kWriteMemory,  ///< args: address, bytes (up to kTransferBytes) of `transfer`; also where the guest may not
  kWriteRegisters,  ///< args: thread number; `transfer` is a DebugRegisters
};

enum class StopReason : std::uint32_t {
  kStart = 0,  ///< before the first instruction
  kLimit,      ///< at run.limit, or at the first position behind it
  kSteps,      ///< run.steps instructions were executed
  kBudget,     ///< run.budget ticks were used
  kBreakpoint,
  kWatch,        ///< `watch` was accessed
  kSignal,       ///< `signal` is about to be delivered
  kInterrupted,  ///< `interrupt` was set
  kEnd,          ///< the end of the recording
  kDiverged,     ///< the replay differs from the recording; see the launch page, which is the process's own
  kHits,         ///< run.most_hits hits were noted
  kImage,        ///< before the first instruction of another image, which has no points yet
  kExited,       ///< a diversion: the program has ended, with `signal` or, if that is 0, `status`
  kOutput,       ///< a diversion: `result` bytes in `transfer` for descriptor `status`; the next run goes on
  kNotice,       ///< a diversion: `message` is for the user; the next run goes on
};

/// run.flags
inline constexpr std::uint32_t kRunToLimit = 1;   ///< stop at `limit`
inline constexpr std::uint32_t kRunNoteHits = 2;  ///< do not stop at points: note the last one
inline constexpr std::uint32_t kRunNotePrevious =
    4;  ///< note the last position before `limit` (with kRunToLimit), and leave a trail
inline constexpr std::uint32_t kRunPassSignals = 8;  ///< do not stop at signals
inline constexpr std::uint32_t kRunStepAll =
    16;  ///< with kRunNotePrevious: look at every position on the way
inline constexpr std::uint32_t kRunContinue = 32;  ///< goes on with the request before, what it noted stays
inline constexpr std::uint32_t kRunIgnorePoints = 64;  ///< as if there were none
inline constexpr std::uint32_t kRunDiverted =
    128;  ///< `thread` lives, whatever is recorded; others stand still

struct DebugRun {
  std::uint32_t flags;
  std::uint32_t thread;  ///< number of the one that steps; 0: whoever has the turn
  DebugPosition limit;
  std::uint64_t steps;                   ///< 0: any number of instructions
  std::uint64_t range_begin, range_end;  ///< with `steps` 1: go on while the pc is in here
  std::uint64_t budget;                  ///< in ticks of all threads together; 0: any number
  std::uint64_t most_hits;               ///< with kRunNoteHits; 0: any number
  std::uint64_t quiet_signals;           ///< bit n - 1: signal n stops nothing and is no hit
  std::uint32_t signal;                  ///< with kRunDiverted: delivered first; 0: none
  std::uint32_t reserved;
  std::uint64_t wall_ns;  ///< with kRunDiverted: when the position was recorded, since 1970
};

enum class WatchKind : std::uint32_t { kWrite = 2, kRead = 3, kAccess = 4 };

struct DebugWatch {
  std::uint64_t address, bytes;
  WatchKind kind;
  std::uint32_t reserved;
};

/// A breakpoint, watchpoint or signal that was met; event ~0: none.
struct DebugHit {
  DebugPosition position;  ///< of the instruction, before it; of a signal, before its delivery
  StopReason reason;       ///< kBreakpoint, kWatch or kSignal
  WatchKind watch_kind;
  std::uint64_t address;     ///< the first watched byte that was accessed
  std::uint32_t after_call;  ///< a system call did it: `position` is the one after the call
  std::uint32_t reserved;
  std::uint64_t total_ticks;
};

struct DebugStop {
  StopReason reason;
  std::uint32_t thread;
  DebugPosition position;
  std::uint64_t total_ticks;  ///< used by all threads so far
  std::int32_t signal;
  std::int32_t tid, pid;  ///< of the thread, as the guest sees them
  std::int32_t status;
  std::uint8_t siginfo[128];
  DebugHit hit;            ///< with kBreakpoint, kWatch, kSignal: this one; with kRunNoteHits: the last one
  DebugPosition previous;  ///< with kRunNotePrevious; event ~0: none
  std::uint64_t previous_total_ticks;
  std::uint64_t trail;  ///< DebugTrailEntry there are; the instruction of the last one led to `position`
};

/// An instruction that was executed, and how to undo it.
struct DebugTrailEntry {
  DebugPosition position;
  std::uint64_t total_ticks;
  std::uint64_t gpr[16];
  std::uint64_t rflags;
  std::uint64_t vectors;          ///< for kReadVectors
  std::uint64_t written_address;  ///< `written` bytes there were `old`
  std::uint32_t written;
  std::uint32_t thread;
  std::uint8_t old[64];
};

struct DebugRegisters {
  std::uint64_t gpr[16];
  std::uint64_t rflags, pc, fs_base, gs_base;
  std::uint32_t xsave_bytes;  ///< standard format (Intel SDM 1, 13.4)
  std::uint32_t reserved;
  std::uint8_t xsave[4096];
};

struct DebugThread {
  std::uint32_t number;
  std::int32_t tid, pid;
  std::uint32_t reserved;
};

/// Followed by name_size bytes, padded to 8.
struct DebugMapping {
  std::uint64_t begin, end, offset, device, inode;
  std::uint32_t protection;
  std::uint32_t name_size;
};

struct DebugMailbox {
  std::uint32_t posted;    ///< futex
  std::uint32_t answered;  ///< futex
  std::uint32_t interrupt;
  DebugCommand command;
  std::uint64_t args[4];
  std::int64_t result;  ///< -errno for errors
  DebugRun run;
  DebugStop stop;
  char message[512];  ///< with kDiverged, kNotice, and with kEnd of a recording that was cut off
  alignas(4096) std::uint8_t transfer[kTransferBytes];
};
static_assert(sizeof(DebugMailbox) % 4096 == 0);

/// Bytes of a slot with a ring of `ring_bytes`.
inline constexpr std::uint64_t slot_bytes(std::uint64_t ring_bytes) {
  return sizeof(DebugMailbox) + kChannelPage + ring_bytes;
}

}  // namespace detrec::wire
