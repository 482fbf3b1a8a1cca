// From generated code to the engine and back.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::run {

/// Enters the guest at context().regs on the calling kernel thread. Never returns: the thread ends in
/// syscall/ (exit) or by a signal. Called by main for the first thread, by syscall/clone for others (turn
/// held, regs set).
[[noreturn]] void enter_guest(Turn& turn);

/// Makes the running thread leave generated code at its next tick, so that pending signals are looked at.
/// Callable from a host signal handler that interrupted `host_pc` with `host_rcx` (generated code's tick
/// sequence may need its rcx mended); exact tick counts are kept.
void request_exit(u64 host_pc, u64* host_rcx);

/// What a host fault inside generated code means in the guest's terms; fills context().regs (pc exact,
/// spilled registers put back, a call's or return's half-done stack slot restored) from the host's gregs.
/// Returns false when `host_pc` is not in the code cache. `host_gpr` is in Reg order.
bool recover_guest_state(u64 host_pc, const u64 host_gpr[16], u64 host_rflags);

/// After recover_guest_state in a host signal handler: what the handler must do on behalf of the code cache.
enum class FaultAction {
  kDeliver,   ///< the guest's own fault: raise its signal at context().regs.pc
  kContinue,  ///< dealt with (protected code page, read-only return slot...): re-enter at context().regs via
              ///< the dispatcher
};
/// `write` and `fault_address` as the page fault's error code and cr2 say; the address is changed to the one
/// that the guest's own instruction would have touched first.
FaultAction classify_fault(Turn& turn, int signo, u64& fault_address, bool write, u64 host_pc);

/// fault_entry (run/exits.h) is where a host signal handler lets the kernel continue: it sets the host
/// context so that sigreturn ends in the dispatch loop with ExitKind::kFault and the guest's vector state
/// intact. See exits.S.

}  // namespace detrec::guest::run
