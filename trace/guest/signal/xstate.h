// The vector and x87 state of the guest, which lives in the CPU while the engine runs, as signal frames show
// it.
//
// Layout: Intel SDM 1, chapter 13 (standard form), arch/x86/include/uapi/asm/sigcontext.h (bytes 464..511 of
// the legacy region, the marker behind the image). All functions need the turn: they share one buffer.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::signal {

/// Learns the layout from a frame that the kernel has built (its fpstate; `xsave`: uc_flags has
/// UC_FP_XSTATE).
void learn_xstate(const u8* fpstate, bool xsave);

/// True when frames hold an XSAVE image (else only the 512 bytes of FXSAVE).
bool xstate_is_extended();

/// Size of the vector state in a frame, end marker included.
u64 xstate_frame_size();

/// Stores the CPU's state into the engine's buffer in the form of a frame and returns it. In-use bits depend
/// on values only, and the x87 instruction pointer is a guest address (0 when it is not known).
const u8* save_xstate();

/// Sets the CPU's state to what a signal handler starts with.
void reset_xstate();

/// Loads the CPU's state from a frame's fpstate (0: resets it). False when it is not readable or cannot be
/// loaded; the state is then unchanged.
bool restore_xstate(GuestAddr fpstate);

}  // namespace detrec::guest::signal
