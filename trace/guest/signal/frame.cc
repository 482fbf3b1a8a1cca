#include "trace/guest/signal/frame.h"

namespace detrec::guest::signal {
namespace {

using Field = u64 MachineContext::*;
constexpr Field kFields[16] = {
    &MachineContext::rax, &MachineContext::rcx, &MachineContext::rdx, &MachineContext::rbx,
    &MachineContext::rsp, &MachineContext::rbp, &MachineContext::rsi, &MachineContext::rdi,
    &MachineContext::r8,  &MachineContext::r9,  &MachineContext::r10, &MachineContext::r11,
    &MachineContext::r12, &MachineContext::r13, &MachineContext::r14, &MachineContext::r15};

}  // namespace

void get_registers(const MachineContext& machine, u64 gpr[16]) {
  for (int i = 0; i < 16; ++i) gpr[i] = machine.*kFields[i];
}

void set_registers(MachineContext& machine, const u64 gpr[16]) {
  for (int i = 0; i < 16; ++i) machine.*kFields[i] = gpr[i];
}

bool place_frame(u64 sp, u64 sa_flags, const AltStack& stack, u64 fpstate_size, FramePlace& place) {
  constexpr u64 kRedZone = 128;
  bool on_stack = on_altstack(sp, stack);
  sp -= kRedZone;
  if ((sa_flags & kSaOnStack) && altstack_state(sp, stack) == 0) {
    sp = stack.sp + stack.size;
    on_stack = true;
  }
  place.fpstate = (sp - fpstate_size) & ~u64{63};
  // As after a call: 8 below a 16-byte boundary.
  place.frame = ((place.fpstate - sizeof(SignalFrame)) & ~u64{15}) - 8;
  if (!on_stack) return true;
  return place.frame > stack.sp && place.frame - stack.sp <= stack.size;
}

}  // namespace detrec::guest::signal
