// Entry points of the engine that generated code jumps to (exits.S). Guest registers are all as the guest has
// them, except where said.
#pragma once

extern "C" {
void exit_link();
void exit_indirect_jmp();
void exit_indirect_call();
void exit_ret();
void exit_tick();
void exit_tick_spilled();  ///< rcx is in Context::spill_rcx
void exit_syscall();
void exit_emulate();
void exit_resume();

/// Loads the registers from the context page and jumps to Context::resume. Never returns.
[[noreturn]] void resume_guest();

/// Target of the host signal handlers' sigreturn: enters engine_exit with ExitKind::kFault. Expects rsp =
/// Context::engine_rsp.
void fault_entry();
}
