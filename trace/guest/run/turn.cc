#include "trace/guest/run/turn.h"

#include "trace/guest/events/exchange.h"
#include "trace/guest/run/first_come.h"
#include "trace/guest/run/granted_turns.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/run/ticks.h"

namespace detrec::guest {
namespace {

u32 calls_in_turn = 0;       ///< system calls since the holder got the turn
Thread* last_one = nullptr;  ///< who had the turn last; its memory stays until another is created

wire::TurnReason reason_of(const Thread& from) {
  if (from.ended) return wire::TurnReason::kExits;
  return from.in_call ? wire::TurnReason::kWaits : wire::TurnReason::kSlice;
}

void load(Thread& thread) {
  if (events::recording() && last_one != nullptr && last_one != &thread)
    events::record_turn(*last_one, thread, reason_of(*last_one));
  Context& ctx = context();
  calls_in_turn = 0;
  ctx.in_guest = 0;  // a holder that was killed may have left it set
  ctx.thread = &thread;
  ctx.engine_rsp = run::engine_stack_top(thread);
  ctx.regs = thread.saved_regs;
  run::load_ticks(ctx, thread);
}

void save(Thread& thread) {
  Context& ctx = context();
  thread.saved_regs = ctx.regs;
  run::save_ticks(ctx, thread);
  ctx.thread = nullptr;
  last_one = &thread;
}

}  // namespace

Turn TurnSchedule::acquire(Thread& thread) {
  if (run::granting()) {
    run::await_grant(thread);
  } else if (!events::replaying()) {
    run::wait_in_line(thread);
  }
  load(thread);
  return Turn();
}

void TurnSchedule::release(Turn& turn, TurnWhy why) {
  Thread& thread = turn.thread();
  save(thread);
  if (run::granting()) {
    run::give_up(thread, why);
  } else if (!events::replaying()) {
    run::leave_to_line();
  }
}

void TurnSchedule::pass(Turn& turn, TurnWhy why) {
  Thread& thread = turn.thread();
  release(turn, why);
  turn = acquire(thread);
}

SysResult TurnSchedule::sleep_at_futex(Turn& turn, const run::FutexSleep& sleep) {
  Thread& thread = turn.thread();
  save(thread);
  SysResult r = run::sleep_at_futex(thread, sleep);
  load(thread);
  return r;
}

bool TurnSchedule::contended() { return run::granting() ? run::turn_wanted() : run::line_waits(); }

void TurnSchedule::reset_after_fork() {
  run::forget_board();
  run::reset_line(context().thread);
  calls_in_turn = 0;
  last_one = nullptr;
}

namespace run {

void note_syscall(Turn& turn) {
  constexpr u32 kCallsPerTurn = 64;
  if (kernel_thread(turn.thread()).has_created) return TurnSchedule::pass(turn, TurnWhy::kCreated);
  if (++calls_in_turn >= kCallsPerTurn && TurnSchedule::contended())
    TurnSchedule::pass(turn, TurnWhy::kSlice);
}

void hand_turn_to(Turn& turn, Thread& to) {
  save(turn.thread());
  set_line_holder(to);
}

void inherit_turn(Thread& self, Thread& gone) { take_line_place(self, gone); }

}  // namespace run
}  // namespace detrec::guest
