#include "trace/guest/run/replayed_turns.h"

#include "trace/guest/base/arena.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/exchange.h"
#include "trace/guest/process.h"
#include "trace/guest/run/machine_state.h"
#include "trace/guest/run/ticks.h"

extern "C" void detrec_switch_stack(detrec::guest::u64* save_sp, detrec::guest::u64 to_sp);
extern "C" void detrec_begin_on_stack();

namespace detrec::guest::run {
namespace {

constexpr u64 kCloneSettls = 0x80000;
/// What a kernel thread has of its own, and the guest threads of a replay must take turns with.
void save_machine(KernelThread& thread) {
  ReplayedState& state = thread.replayed;
  if (state.vectors == nullptr) state.vectors = static_cast<u8*>(engine_reserve(kVectorBytes));
  save_vectors(state.vectors);
  state.fs_base = fs_base();
  state.gs_base = gs_base();
}

void load_machine(const KernelThread& thread) {
  const ReplayedState& state = thread.replayed;
  load_vectors(state.vectors);
  set_fs_base(state.fs_base);
  set_gs_base(state.gs_base);
}

/// Takes the turn event and returns the thread it names.
KernelThread& next_holder(Turn& turn) {
  const auto& body = events::body_of<wire::TurnBody>(events::expect_event(turn, wire::EventKind::kTurn));
  Thread* to = find_thread(body.to_thread);
  if (to == nullptr || to == &turn.thread())
    events::diverge(turn, "the recorded turn goes to thread %u, which does not exist", body.to_thread);
  if (body.register_hash != 0 && body.register_hash != events::general_hash(turn.regs()))
    events::diverge(turn, "registers differ at the end of the turn");
  events::take_event();
  return kernel_thread(*to);
}

void switch_to(Turn& turn, KernelThread& to) {
  KernelThread& self = kernel_thread(turn.thread());
  save_machine(self);
  TurnSchedule::release(turn);
  detrec_switch_stack(&self.replayed.engine_sp, to.replayed.engine_sp);
  turn = TurnSchedule::acquire(self);
  load_machine(self);
}

}  // namespace

bool turn_passes_in_call(Turn& turn) {
  const wire::EventHeader& event = events::next_event(turn);
  return event.kind == wire::EventKind::kTurn && event.thread == turn.thread().number &&
         events::body_of<wire::TurnBody>(event).reason == wire::TurnReason::kWaits;
}

void pass_turn(Turn& turn) { switch_to(turn, next_holder(turn)); }

void leave_replayed_thread(Turn& turn) {
  kernel_thread(turn.thread()).alive = 0;
  switch_to(turn, next_holder(turn));
  __builtin_unreachable();
}

SysResult start_replayed_thread(Turn& turn, KernelThread& child, const KernelClone& clone) {
  ReplayedState& state = child.replayed;
  save_machine(child);  // a new thread has its creator's
  if ((clone.flags & kCloneSettls) != 0) state.fs_base = clone.tls;
  // What detrec_switch_stack takes from the stack: r15 r14 r13 r12 rbp rbx, and where to go.
  auto* frame = reinterpret_cast<u64*>(engine_stack_top(child)) - 8;
  for (int i = 0; i < 5; ++i) frame[i] = 0;
  frame[5] = arg(&child);
  frame[6] = arg(&detrec_begin_on_stack);
  state.engine_sp = arg(frame);
  events::exchange_thread(turn, child.number, child.tid, child.pid);
  return child.tid;
}

void take_turn_for(Turn& turn, KernelThread& to) {
  save_machine(kernel_thread(turn.thread()));
  TurnSchedule::release(turn);
  turn = TurnSchedule::acquire(to);
  load_machine(to);
}

void begin_replayed_thread(KernelThread& self) { load_machine(self); }

}  // namespace detrec::guest::run
