#include "trace/guest/run/stops.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/random.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/process.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/run/machine_state.h"
#include "trace/guest/run/register_hash.h"
#include "trace/guest/run/replayed_turns.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/translate/code_reader.h"

namespace detrec::guest::run {
namespace {

/// A thread that computes gives the others a turn after so many ticks (about a millisecond). Runtimes whose
/// threads wait for one another with timeouts of some milliseconds live from being back before these are
/// over: when all of them expire in one timeslice, a thread can be passed over for ever.
constexpr u64 kTimeslice = 200'000;

/// Replay: one that does not come to its next event is stopped so many ticks later. Few ticks at a time would
/// make each of them an exit.
constexpr u64 kSlack = 10'000;

struct Stops {
  u64 stop_ticks = wire::kNoTicks;  ///< of the first thread
  GuestAddr stop_pc = 0;
  u64 slice = 0;
  u64 jitter = 0;
  u64 translate_limit = 0;
  Random random;
  Thread* first = nullptr;  ///< of the first process; nullptr in others

  u64 steps_left = 0;
  bool slice_over = false;  ///< the turn goes to another thread after the steps
  bool to_event = false;    ///< replay: the tick of the next event is reached, its pc is not
  bool to_stop_pc = false;
  bool always = false;  ///< the translation limit is reached
  GuestAddr step_pc = 0;
};

Stops& stops() {
  static Stops instance;
  return instance;
}

u64 next_deadline(const Thread* thread, u64 used) {
  const Stops& s = stops();
  u64 deadline = used + (s.slice != 0 ? s.slice : kTimeslice);
  if (thread == s.first && s.stop_ticks >= used && s.stop_ticks < deadline && !s.to_stop_pc)
    deadline = s.stop_ticks;
  return deadline;
}

/// True for events that come from outside of the running thread, which goes up to their position and no
/// further. That of a kill is a tick alone.
bool interrupts(const wire::EventHeader& event) {
  if (event.kind == wire::EventKind::kTurn)
    return events::body_of<wire::TurnBody>(event).reason != wire::TurnReason::kWaits;
  if (event.kind == wire::EventKind::kExit)
    return events::body_of<wire::ExitBody>(event).cause == wire::ExitCause::kKilled;
  return event.kind == wire::EventKind::kSignal && events::body_of<wire::SignalBody>(event).asynchronous != 0;
}

/// The running thread gives its turn away right here.
bool preempts_here(Turn& turn, const wire::EventHeader& next, u64 used) {
  return next.kind == wire::EventKind::kTurn && interrupts(next) && next.thread == turn.thread().number &&
         used == next.ticks && turn.regs().pc == next.pc;
}

/// at_stop() in a diversion: only the debugger says how far the thread goes.
bool at_diverted_stop(Turn& turn) {
  Context& c = context();
  debug::Plan plan = debug::plan(turn);
  stops().to_event = plan.step;
  if (plan.deadline < c.tick_deadline || needs_allotment(c)) {
    c.tick_deadline = plan.deadline;
    allot_ticks(c);
  }
  return false;
}

/// at_stop() in a replay, where the next event says how far the thread goes.
bool at_replayed_stop(Turn& turn, u64 used) {
  Stops& s = stops();
  Context& c = context();
  // Where a thread is preempted is no position of its own: its instruction there comes after the turn.
  if (preempts_here(turn, events::next_event(turn), used)) {
    pass_turn(turn);
    return true;
  }
  debug::Plan plan;
  if (debug::attached) plan = debug::plan(turn);
  const wire::EventHeader& event = events::next_event(turn);
  if (events::is_kill(event)) events::end_killed(turn, event);
  if (event.thread != turn.thread().number)
    events::diverge(turn, "thread %u runs; recorded: thread %u", turn.thread().number, event.thread);
  if (used > event.ticks)
    events::diverge(turn,
                    "the program has gone on beyond the tick of the next event: %s at %lu ticks, pc 0x%lx",
                    events::kind_name(event.kind), event.ticks, event.pc);
  bool interrupted = interrupts(event), reached = used == event.ticks;
  u64 allotted_until = c.tick_deadline;
  s.to_event = plan.step || (interrupted && reached && c.regs.pc != event.pc);
  c.tick_deadline = interrupted && !reached ? event.ticks : event.ticks + 1;
  if (!interrupted) c.tick_deadline += kSlack;  // it comes there by itself
  if (plan.deadline < c.tick_deadline) c.tick_deadline = plan.deadline;
  // A debugger may want an earlier stop than before.
  if (c.tick_deadline < allotted_until) allot_ticks(c);
  return false;
}

[[noreturn]] void report_stop(Turn& turn, u64 used) {
  settle_flags(turn.regs());
  wire::Launch& launch = *process().launch;
  wire::StopState& state = launch.stop;
  const Registers& regs = turn.regs();
  state.ticks = used;
  state.pc = regs.pc;
  for (int i = 0; i < 16; ++i) state.gpr[i] = regs.gpr[i];
  state.rflags = regs.rflags;
  state.fs_base = fs_base();
  state.gs_base = gs_base();
  state.register_hash = register_hash(regs);
  account_process(turn);
  launch.phase = wire::LaunchPhase::kStopped;
  raw_syscall(__NR_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace

void start_stops(Turn& turn) {
  Stops& s = stops();
  if (process().launch != nullptr && process().first) {
    const wire::Launch& l = *process().launch;
    s.first = &turn.thread();
    s.stop_ticks = l.stop_ticks;
    s.stop_pc = l.stop_pc;
  }
  if (process().launch != nullptr) {
    const wire::Launch& l = *process().launch;
    s.slice = l.slice_ticks;
    s.jitter = l.slice_jitter;
    s.translate_limit = l.translate_limit;
  }
  context().tick_base = 0;
  context().allotted = 0;
  for (u32& stripe : context().stripe) stripe = 0;
  context().tick_deadline = next_deadline(&turn.thread(), 0);
}

void start_thread_stops(Thread& thread) {
  thread.saved_tick_base = 0;
  thread.saved_tick_deadline = next_deadline(nullptr, 0);
}

void stops_after_fork() {
  Stops& s = stops();
  s.first = nullptr;
  s.stop_ticks = wire::kNoTicks;
  s.to_stop_pc = false;
}

void end_thread_stops(const Thread& thread) {
  if (&thread == stops().first) stops_after_fork();  // another thread may get its place in memory
}

bool goes_on_to(const wire::EventHeader& next, u64 used) {
  return !interrupts(next) && next.thread == context().thread->number && next.ticks >= used && !stepping();
}

void settle_flags(Registers& regs) {
  regs.rflags &= ~static_cast<u64>(translate::dead_status_flags(regs.pc));
}

bool stepping() {
  const Stops& s = stops();
  return s.steps_left != 0 || s.always || s.to_event || (s.to_stop_pc && context().thread == s.first);
}

GuestAddr step_pc() { return stops().step_pc; }

void note_step() {
  if (stops().steps_left != 0) --stops().steps_left;
}

bool at_stop(Turn& turn) {
  Stops& s = stops();
  Context& c = context();
  s.step_pc = c.regs.pc;
  if (s.translate_limit != 0 && statistics().blocks_translated >= s.translate_limit) s.always = true;
  u64 used = ticks_used(c);
  if (&turn.thread() == s.first) {
    if (s.to_stop_pc && (c.regs.pc == s.stop_pc || used > s.stop_ticks)) report_stop(turn, used);
    if (!s.to_stop_pc && used == s.stop_ticks) {
      if (s.stop_pc == 0 || c.regs.pc == s.stop_pc) report_stop(turn, used);
      s.to_stop_pc = true;
    }
  }
  if (events::diverted) return at_diverted_stop(turn);
  if (events::replaying()) return at_replayed_stop(turn, used);
  if (used >= c.tick_deadline) {
    if (s.slice != 0 && s.jitter != 0) s.steps_left = s.random.next() % (s.jitter + 1);
    c.tick_deadline = next_deadline(&turn.thread(), used);
    s.slice_over = true;
  }
  if (!s.slice_over || s.steps_left != 0) return false;
  s.slice_over = false;
  if (!TurnSchedule::contended()) return false;
  TurnSchedule::pass(turn, TurnWhy::kSlice);
  return true;
}

}  // namespace detrec::guest::run
