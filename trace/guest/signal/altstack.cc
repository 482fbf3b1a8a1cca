#include "trace/guest/signal/altstack.h"

namespace detrec::guest::signal {

AltStack stored_altstack(const SignalState& state) {
  return {state.altstack_sp, state.altstack_flags, 0, state.altstack_size};
}

bool on_altstack(u64 sp, const AltStack& stack) {
  if (stack.flags & kSsAutoDisarm) return false;
  return sp > stack.sp && sp - stack.sp <= stack.size;
}

u32 altstack_state(u64 sp, const AltStack& stack) {
  if (stack.size == 0) return kSsDisable;
  return on_altstack(sp, stack) ? kSsOnStack : 0;
}

AltStack reported_altstack(const SignalState& state, u64 sp) {
  AltStack stack = stored_altstack(state);
  stack.flags = altstack_state(sp, stack) | (state.altstack_flags & kSsAutoDisarm);
  return stack;
}

SysResult set_altstack(SignalState& state, const AltStack& wanted, u64 sp) {
  if (on_altstack(sp, stored_altstack(state))) return kEPerm;
  u32 mode = wanted.flags & ~kSsAutoDisarm;
  if (mode != kSsDisable && mode != kSsOnStack && mode != 0) return kEInval;
  bool disable = mode == kSsDisable;
  if (!disable && wanted.size < kMinSigStackSize) return kENoMem;
  state.altstack_sp = disable ? 0 : wanted.sp;
  state.altstack_size = disable ? 0 : wanted.size;
  state.altstack_flags = wanted.flags;
  return 0;
}

void reset_altstack(SignalState& state) {
  state.altstack_sp = 0;
  state.altstack_size = 0;
  state.altstack_flags = kSsDisable;
}

}  // namespace detrec::guest::signal
