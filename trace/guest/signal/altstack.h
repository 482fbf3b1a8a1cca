// The rules of sigaltstack(2), as data. No guest memory is touched here.
#pragma once

#include "trace/guest/signal/numbers.h"
#include "trace/guest/signal/signal_state.h"

namespace detrec::guest::signal {

/// stack_t
struct AltStack {
  GuestAddr sp;
  u32 flags;
  u32 pad;
  u64 size;
};

/// The thread's alternate stack with its flags as stored: what frames show in uc_stack.
AltStack stored_altstack(const SignalState& state);

/// True when sp lies on the stack, in the kernel's sense (the top counts, the bottom does not). A
/// self-disarming stack is never "on".
bool on_altstack(u64 sp, const AltStack& stack);

/// SS_ONSTACK, SS_DISABLE or 0.
u32 altstack_state(u64 sp, const AltStack& stack);

/// What sigaltstack(2) reports, the thread's stack pointer being sp.
AltStack reported_altstack(const SignalState& state, u64 sp);

/// sigaltstack(2): 0, -EPERM, -EINVAL, -ENOMEM.
SysResult set_altstack(SignalState& state, const AltStack& wanted, u64 sp);

/// No alternate stack, as in a new thread and in the handler of a self-disarming one.
void reset_altstack(SignalState& state);

}  // namespace detrec::guest::signal
