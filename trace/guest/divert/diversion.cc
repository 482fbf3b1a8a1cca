#include "trace/guest/divert/diversion.h"

#include "trace/guest/base/probe.h"
#include "trace/guest/base/random.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/divert/clocks.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/run/exits.h"
#include "trace/guest/run/replayed_turns.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/signal/signals.h"

namespace detrec::guest::divert {
namespace {

/// A thread that stands in a system call makes it again.
void restart_call(Turn& turn) {
  constexpr u16 kSyscall = 0x050f;
  Thread& thread = turn.thread();
  if (!thread.in_call) return;
  thread.in_call = false;
  u16 code = 0;
  GuestAddr pc = turn.regs().pc;
  bool unchanged = turn.gpr(kRax) == static_cast<u64>(thread.signals.syscall_nr);
  if (unchanged && read_guest(code, pc - sizeof code) && code == kSyscall) turn.regs().pc = pc - sizeof code;
}

}  // namespace

void take_over(Turn& turn, u32 number, u64 wall_ns) {
  if (!events::diverted) {
    events::diverted = true;
    start_clocks(turn, wall_ns);
  }
  Thread* thread = run::find_thread(number);
  if (thread == nullptr) thread = &turn.thread();
  if (thread != &turn.thread()) run::take_turn_for(turn, run::kernel_thread(*thread));
  restart_call(turn);
  thread->signals.syscall_nr = -1;
  thread->signals.fault.raised = false;
}

void enter(Turn& turn, const SignalInfo* info) {
  if (info != nullptr) signal::deliver_chosen(turn, *info);
  // As after a fault: the dispatch loop begins anew, on an empty stack.
  asm volatile("mov %[sp], %%rsp\n\tjmp fault_entry" : : [sp] "r"(context().engine_rsp) : "memory");
  __builtin_unreachable();
}

void answer_instruction(Turn& turn, wire::InstructionKind what, u64 (&values)[4]) {
  switch (what) {
    case wire::InstructionKind::kRdtsc:
    case wire::InstructionKind::kRdtscp:
      values[0] = read_tsc(turn);
      values[1] = 0;
      break;
    case wire::InstructionKind::kRdrand:
    case wire::InstructionKind::kRdseed:
      values[0] = next_random();
      break;
    case wire::InstructionKind::kRdpid:
      values[0] = 0;
      break;
    default:
      break;  // the processor's own
  }
}

void end(Turn& turn, i32 signal, i32 status) {
  for (;;) debug::at_diverted_end(turn, signal, status);
}

u64 next_random() {
  static constinit Random random;
  return random.next();
}

}  // namespace detrec::guest::divert
