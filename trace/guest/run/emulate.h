// Instructions that are answered by the engine instead of executed: the one place where what the processor
// would say of itself, of time and of chance enters the guest.
#pragma once

#include "trace/guest/decode/insn.h"
#include "trace/guest/run/turn.h"

namespace detrec::guest::run {

/// Answers the instruction at regs().pc: advances pc, or raises the guest's signal. True when execution just
/// goes on behind the instruction.
bool emulate(Turn& turn);

/// When regs().pc is an entry of the kernel's vsyscall page, does its call and returns true.
bool enter_vsyscall(Turn& turn);

/// Far jumps, calls and returns, and iret (far_transfers.cc). False: the guest's fault has been raised.
bool far_transfer(Turn& turn, const Insn& insn);

/// After fnstenv, fnsave, fxsave and xsave have stored: replaces what they show of the code cache
/// (saved_state.cc).
void mend_saved_state(Turn& turn, const Insn& insn);

/// The address of a memory operand of the instruction at regs().pc.
GuestAddr effective_address(Turn& turn, const Insn& insn, const MemOperand& mem);

/// Whether the upper bits of an address are copies of bit 47 (4-level paging).
constexpr bool is_canonical(u64 address) {
  return static_cast<u64>(static_cast<i64>(address << 16) >> 16) == address;
}

/// Raises #GP(0), #UD as the guest sees them.
void raise_general_protection(Turn& turn);
void raise_invalid_opcode(Turn& turn);
/// Raises what the guest sees when its access to `size` bytes at `address`, which the engine tried in its
/// stead, fails. `stack`: the address comes from rsp.
void raise_access_fault(Turn& turn, GuestAddr address, u64 size, bool write, bool stack);

}  // namespace detrec::guest::run
