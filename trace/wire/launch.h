// The page through which the command line starts the engine and learns what became of it.
//
// The frontend creates a memfd of sizeof(Launch) bytes, fills in the options and executes the engine with
//     argv = { "detrec-guest", "<launch_fd>[:<control_fd>]", "<guest path>", guest argv[0], guest argv[1],
//     ... }
// and the guest's environment unchanged. <control_fd> is there when recording: a socket (SOCK_SEQPACKET) that
// takes the descriptors of captured files. The engine maps the memfd shared, so results survive its death.
// Both descriptors are inherited (not close-on-exec); the engine moves them out of the guest's reach.
#pragma once

#include <cstdint>

#include "trace/wire/channel.h"
#include "trace/wire/translations.h"

namespace detrec::wire {

inline constexpr std::uint32_t kLaunchMagic = 0x4c524544;  // "DERL"
inline constexpr std::uint64_t kNoTicks = ~std::uint64_t{0};

/// How far a launch has come; only the engine advances it.
enum class LaunchPhase : std::uint32_t {
  kStarting = 0,  ///< the engine has not handed control to the guest yet
  kRunning = 1,   ///< guest code has run; the process's wait status tells the rest
  kStopped =
      2,        ///< the requested stop position was reached; `stop` is filled in and the process has exited 0
  kFailed = 3,  ///< the guest could not be started or the engine failed; see failure_status, message
  kDiverged = 4,  ///< a replay differs from its trace; see message and `divergence`
  kReplayed = 5,  ///< a replay has come to the guest's end; see `replayed_end`
};

/// Where and how a replay differs: what the engine was about to do. `message` says it in words.
struct Divergence {
  std::uint64_t event;  ///< number of events taken so far
  std::uint64_t ticks;
  std::uint64_t pc;
  std::uint32_t thread;
  std::uint32_t reserved;
  std::uint64_t gpr[16];
  std::uint64_t rflags;
  std::uint8_t code[16];  ///< at pc; zeros where it cannot be read
};

/// How the guest ended, as exit(2) or the signal said.
struct ReplayedEnd {
  std::int32_t by_signal;  ///< 1: `status` is the signal's number
  std::int32_t status;
};

/// General-purpose registers at a stop, in the order of the x86-64 encoding (rax, rcx, rdx, rbx, rsp, rbp,
/// rsi, rdi, r8..r15).
struct StopState {
  std::uint64_t ticks;  ///< ticks used by the stopped thread
  std::uint64_t pc;     ///< guest pc of the next instruction
  std::uint64_t gpr[16];
  std::uint64_t rflags;
  std::uint64_t fs_base;
  std::uint64_t gs_base;
  std::uint64_t register_hash;  ///< FNV-1a over pc, gpr, rflags and the vector state
};

/// Counters for `--stats`, summed over the first process.
struct EngineStats {
  std::uint64_t blocks_translated;
  std::uint64_t guest_instructions;  ///< instructions translated (not executed)
  std::uint64_t guest_bytes;
  std::uint64_t cache_bytes;
  std::uint64_t translate_ns;
  std::uint64_t blocks_loaded;  ///< taken from the store of translations
  std::uint64_t instructions_loaded;
  std::uint64_t load_ns;
  std::uint64_t blocks_stored;
  std::uint64_t invalidations;   ///< pages whose blocks were dropped
  std::uint64_t exits_link;      ///< direct branches bound for the first time
  std::uint64_t exits_indirect;  ///< indirect transfers that missed the table
  std::uint64_t exits_tick;      ///< tick budget reached zero
  std::uint64_t exits_syscall;
  std::uint64_t exits_emulated;  ///< cpuid, rdtsc, ... answered by the engine
  std::uint64_t faults;          ///< synchronous faults seen by the engine
  std::uint64_t signals_delivered;
  std::uint64_t threads;  ///< guest threads started, the first included
};

/// One answer of the cpuid instruction as the guests see it. Asking the processor costs microseconds in a
/// virtual machine, and every program start asks a hundred times, so all processes of a run share the
/// answers.
struct CpuidAnswer {
  std::uint32_t leaf, subleaf;
  std::uint32_t eax, ebx, ecx, edx;
  std::uint32_t valid;  ///< set last
  std::uint32_t reserved;
};
inline constexpr std::uint32_t kCpuidAnswers = 256;

/// Warnings that are printed once a run (trace/guest/syscall/warnings.cc numbers them).
inline constexpr std::uint32_t kNotices = 1024;

/// Where in the context page a process keeps its running thread's ticks: used = base + sum(allotted -
/// stripe), the base of 64 bits, all else of 32. Only the engine knows the rest of the page.
struct ContextLayout {
  std::uint32_t tick_base, allotted, stripes;  ///< offsets
  std::uint32_t stripe_count;
};

/// Where detrec's own stderr leads; zeros: it has none. The program may make its descriptor 2 something else.
struct StderrIdentity {
  std::uint64_t device, inode;
};

struct Launch {
  std::uint32_t magic;     ///< this word and the next have these places in every build
  std::uint32_t version;   ///< kWireVersion (version.h)
  std::int32_t engine_fd;  ///< descriptor of the engine's own image, kept for execve
  std::int32_t launch_fd;  ///< descriptor of this page

  // Options.
  std::uint64_t stop_ticks;    ///< stop when the first thread has used so many ticks; kNoTicks: never
  std::uint64_t stop_pc;       ///< then go on to this pc (0: stop at once)
  std::uint64_t slice_ticks;   ///< leave the code cache every so many ticks; 0: never
  std::uint64_t slice_jitter;  ///< and go up to so many instructions further

  // Recording and replay.
  ChannelMode mode;
  std::int32_t
      control_fd;  ///< recording: socket (SOCK_SEQPACKET) that takes the descriptors of captured files
  std::uint32_t cpu_level;      ///< the processor that the guest sees: x86-64-v2, v3, v4; 0: the host's
  std::int32_t content_fd;      ///< replay: memfd with the captured files; -1: none
  std::uint32_t captures;       ///< numbers of captures handed out
  std::uint64_t content_bytes;  ///< length of the content memfd
  std::uint64_t debug_offset;   ///< in the memfd: the slots of a debugged replay (debug.h); 0: none
  std::uint32_t debug_slot;     ///< of this process
  std::uint32_t debug_reserved;
  std::uint64_t ring_offset;     ///< in the memfd: RingControl, and kChannelPage further the data
  std::uint64_t ring_bytes;      ///< a power of two
  std::uint64_t context_offset;  ///< recording: in the memfd, a page for the process's context; 0: none
  ContextLayout context;         ///< set by the engine
  std::uint64_t turns_offset;    ///< recording: in the memfd, the board of turns (turns.h); 0: none

  std::uint64_t
      translations_offset;  ///< in the memfd: the store of translated blocks (translations.h); 0: none
  TranslationFile translation_file;

  StderrIdentity stderr_identity;

  // Hidden debugging options.
  std::uint64_t translate_limit;  ///< after so many blocks, single-step every instruction; 0: no limit
  std::uint32_t trace_level;      ///< 0 quiet .. 3 every block entered, on stderr
  std::int32_t first_pid;         ///< set by the engine of the first process; 0 before

  // Results.
  LaunchPhase phase;
  std::int32_t failure_status;  ///< 125, 126 or 127 when phase is kFailed
  char message[512];            ///< one line, no newline, NUL-terminated
  std::uint64_t ticks;        ///< total ticks of the first process's threads, written when it ends; 0 before
  std::uint64_t ended_ticks;  ///< of its threads that have ended, and of the programs before an execve
  StopState stop;
  EngineStats stats;
  Divergence divergence;
  ReplayedEnd replayed_end;
  std::uint64_t events_taken;  ///< of a replay
  std::uint32_t threads;       ///< numbers of threads handed out
  std::uint32_t threads_reserved;

  // Shared by the processes of the run.
  std::uint32_t cpuid_used;  ///< entries handed out, may exceed kCpuidAnswers
  std::uint32_t cpuid_reserved;
  CpuidAnswer cpuid_answers[kCpuidAnswers];
  std::uint8_t said[kNotices];  ///< nonzero: this warning has been printed in this run
  /// Warnings that had nowhere to go, for the frontend to print at the end: whole lines, cut off at the
  /// buffer's end.
  char kept_warnings[2048];
  std::uint64_t kept_bytes;  ///< may exceed the buffer
};

}  // namespace detrec::wire
