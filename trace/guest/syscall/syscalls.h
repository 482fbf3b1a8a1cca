// System calls of the guest: one dispatcher over the table in trace/syscalls, and the handlers of the special ones.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::syscall {

/// Serves the system call in context().regs (pc is already after the `syscall` instruction; rcx and r11 are set as the kernel does).
/// Sets rax (or one of signal::kERestart*, which the dispatch loop turns over to signal::deliver_pending); may replace
/// the whole register state (rt_sigreturn, execve never returns).
void handle(Turn& turn);

/// Ends the calling guest thread (exit) or the whole process (exit_group); statuses as given by the guest.
[[noreturn]] void exit_thread(Turn& turn, int status);
[[noreturn]] void exit_process(Turn& turn, int status);

/// Set up once at start: moves the engine's descriptors to the top of the range and hides them.
void start(Turn& turn);

}  // namespace detrec::guest::syscall
