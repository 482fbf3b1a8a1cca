#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/signal/deliver.h"
#include "trace/guest/signal/frame.h"
#include "trace/guest/signal/signals.h"
#include "trace/guest/signal/xstate.h"

namespace detrec::guest::signal {
namespace {

SignalFrame make_frame(const SignalState& state, const Registers& regs, const Action& action,
                       const SignalInfo& info, GuestAddr fpstate) {
  SignalFrame frame{};
  frame.return_address = action.restorer;
  UserContext& uc = frame.context;
  uc.flags = kUcSigcontextSs | kUcStrictRestoreSs | (xstate_is_extended() ? kUcFpXstate : 0);
  uc.stack = stored_altstack(state);
  uc.sigmask = state.restore_saved ? state.saved_blocked : state.blocked;
  MachineContext& machine = uc.machine;
  set_registers(machine, regs.gpr);
  machine.rip = regs.pc;
  machine.rflags = regs.rflags;
  machine.cs = kUserCs;
  machine.ss = kUserSs;
  machine.error = state.error;
  machine.trapno = state.trapno;
  machine.cr2 = state.cr2;
  machine.oldmask = uc.sigmask;
  machine.fpstate = fpstate;
  frame.info = info;
  return frame;
}

void block_for_handler(SignalState& state, const Action& action, int signo) {
  state.restore_saved = false;  // the frame has the mask to come back to
  state.blocked |= action.mask & ~kUnblockable;
  if (!(action.flags & kSaNoDefer)) state.blocked |= bit(signo);
  if (state.altstack_flags & kSsAutoDisarm) reset_altstack(state);
}

}  // namespace

bool enter_handler(Turn& turn, const Action& action, const SignalInfo& info) {
  SignalState& state = turn.thread().signals;
  Registers& regs = turn.regs();
  FramePlace place;
  if (!place_frame(regs.gpr[kRsp], action.flags, stored_altstack(state), xstate_frame_size(), place))
    return false;
  if (!memory::write_guest(turn, place.fpstate, save_xstate(), xstate_frame_size())) return false;
  if (!(action.flags & kSaRestorer)) return false;
  if (!memory::write_guest(turn, place.frame, make_frame(state, regs, action, info, place.fpstate)))
    return false;

  regs.gpr[kRdi] = static_cast<u64>(info.signo);
  regs.gpr[kRsi] = place.frame + offsetof(SignalFrame, info);
  regs.gpr[kRdx] = place.frame + offsetof(SignalFrame, context);
  regs.gpr[kRax] = 0;
  regs.gpr[kRsp] = place.frame;
  regs.pc = action.handler;
  regs.rflags &= ~(kFlagTrap | kFlagDirection | kFlagResume);
  block_for_handler(state, action, info.signo);
  reset_xstate();
  return true;
}

void rt_sigreturn(Turn& turn) {
  SignalState& state = turn.thread().signals;
  Registers& regs = turn.regs();
  state.syscall_nr = -1;
  UserContext uc;
  // `ret` has popped the frame's first word.
  if (!read_guest(uc, regs.gpr[kRsp] - 8 + offsetof(SignalFrame, context)))
    return force_signal(turn, kSigSegv);
  state.blocked = uc.sigmask & ~kUnblockable;
  set_altstack(state, uc.stack, regs.gpr[kRsp]);  // errors are not the frame's
  get_registers(uc.machine, regs.gpr);
  regs.pc = uc.machine.rip;
  regs.rflags = (regs.rflags & ~kRestorableFlags) | (uc.machine.rflags & kRestorableFlags);
  // Other code segments are other modes of the CPU: not supported.
  bool good = restore_xstate(uc.machine.fpstate) && (uc.machine.cs | 3) == kUserCs;
  if (!good) force_signal(turn, kSigSegv);
}

}  // namespace detrec::guest::signal
