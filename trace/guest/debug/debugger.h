// A replayed process under a debugger: where it stops, and what it answers while it stands still
// (trace/wire/debug.h). All need the turn.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/wire/debug.h"
#include "trace/wire/launch.h"

namespace detrec::guest::debug {

/// True when a debugger is there. Otherwise none of the rest is called.
inline constinit bool attached = false;

/// Maps the mailbox of the slot that the launch page names, if there is one.
void start(const wire::Launch& launch, i32 launch_fd);

/// How the running thread goes on from where it is.
struct Plan {
  bool step = false;     ///< by one instruction
  u64 deadline = ~0ull;  ///< not beyond so many ticks of its own
};

/// Called wherever the thread may be stopped, before each entry into generated code. Stands still there for
/// as long as the debugger wants.
Plan plan(Turn& turn);

/// The event that comes next is a signal.
void at_signal(Turn& turn, const SignalInfo& info);

/// The replay cannot go on: stands still for ever.
[[noreturn]] void at_end(Turn& turn, wire::StopReason reason, const char* message);

// A diversion:

/// Its program has ended. A debugger may have it go on all the same, from other registers.
void at_diverted_end(Turn& turn, i32 signal, i32 status);
/// Shows up to kTransferBytes that the program writes to its stdout (1) or stderr (2).
void pass_output(Turn& turn, i32 fd, GuestAddr from, u64 size);
/// Tells the user.
void pass_notice(Turn& turn, const char* text);
/// Stops it at its next instruction, as if the user had asked for that.
void interrupt_soon();

/// The engine has written guest memory that a watchpoint may watch.
void note_write(Turn& turn, GuestAddr begin, GuestAddr end);

/// Before an execve of the engine: leaves the launch page, which is the process's own, where the next image
/// finds it.
void prepare_exec(i32 launch_fd);

/// True when generated code must leave the cache before the instruction at `pc`.
bool is_breakpoint(GuestAddr pc);

}  // namespace detrec::guest::debug
