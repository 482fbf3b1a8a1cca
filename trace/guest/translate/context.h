// The context page: what generated code reads and writes, at one fixed address per address space.
//
// It belongs to the thread that holds the turn; run/turn.cc swaps it when another thread gets the turn.
// Generated code reaches it RIP-relative; offsets are part of the generated code, so the static_asserts below
// lock the hot ones.
#pragma once

#include "trace/guest/base/layout.h"
#include "trace/guest/base/types.h"
#include "trace/guest/decode/insn.h"

namespace detrec::guest {

struct Thread;

/// x86-64 register numbers as the instruction encoding has them; kRax..kRdi are in decode/insn.h.
using Reg = std::uint8_t;
inline constexpr Reg kR8 = 8, kR9 = 9, kR10 = 10, kR11 = 11, kR12 = 12, kR13 = 13, kR14 = 14, kR15 = 15;

/// The guest's general state while the engine runs. Vector and x87 state stays in the CPU: the engine does
/// not use it.
struct Registers {
  u64 gpr[16];
  u64 rflags;
  GuestAddr pc;
};

/// Why generated code entered the engine.
enum class ExitKind : u32 {
  kLink,          ///< a direct branch whose target is not bound yet; exit_arg = site index
  kIndirectJmp,   ///< an indirect jump missed the table; `target` = guest pc (64 bit); exit_arg = site index
                  ///< (its pc is that of the next instruction, its stub the instruction's length)
  kIndirectCall,  ///< the same for a call (the site's pc is the return address to push)
  kRet,      ///< the same for `ret`: rsp still points at the return address; exit_arg = site index (its pc is
             ///< the instruction's, its stub the bytes to pop beyond the address)
  kTick,     ///< a stripe reached zero; exit_arg = site index
  kSyscall,  ///< exit_arg = site index (its pc is that of the next instruction)
  kEmulate,  ///< an instruction the engine answers; exit_arg = site index (its pc is the instruction's)
  kResume,   ///< go on at the pc of site exit_arg through the dispatcher, never bound
  kFault,    ///< entered from the host signal handler: regs are already set
};

inline constexpr int kStripes = 8;

struct Context {
  u32 stripe[kStripes];  ///< counts down; at zero the site leaves the cache
  u64 spill_rcx;         ///< the guest's rcx while a branch sequence uses it
  u64 spill_scratch;     ///< another register's value while a far operand is formed
  u64 target;            ///< guest pc of an indirect transfer
  u32 exit_arg;
  ExitKind exit_kind;
  u64 resume;      ///< cache address to continue at
  u64 engine_rsp;  ///< top of the running thread's engine stack
  Registers regs;

  // Ticks of the running thread: used = tick_base + sum(allotted - stripe[i]).
  u64 tick_base;
  u64 tick_deadline;  ///< the next stop, in ticks since the thread's start
  u32 allotted;       ///< what every stripe was given at the last allotment
  u32 in_guest;       ///< 1 from just before generated code is entered until its exit has saved the registers

  Thread* thread;      ///< holder of the turn
  u64 sites;           ///< address of the exit sites (translate/block_index.h), for exits.S
  u32 no_quick_calls;  ///< 1: every system call takes the common way
};
static_assert(sizeof(Context) <= kPageSize);

inline Context& context() { return *reinterpret_cast<Context*>(kContextAddress); }

}  // namespace detrec::guest
