#include "trace/guest/debug/debugger.h"

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/mailbox.h"
#include "trace/guest/debug/points.h"
#include "trace/guest/debug/requests.h"
#include "trace/guest/debug/trail.h"
#include "trace/guest/divert/diversion.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/process.h"
#include "trace/guest/run/accounts.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/run/ticks.h"

namespace detrec::guest::debug {
namespace {

using wire::DebugPosition;
using wire::StopReason;

constexpr u64 kNone = ~0ull;
/// A thread that computes looks after so many ticks whether it is to stop.
constexpr u64 kPatience = 2'000'000;

/// An access to what is watched, by the instruction or call that is being executed.
struct Pending {
  bool any = false;
  wire::DebugHit hit{};
  GuestAddr begin = 0;
  u64 bytes = 0;  ///< 0: more than is kept
  u8 old[64];
};

/// Of the request being served; the rest of it is in the mailbox.
struct Run {
  DebugPosition start{};   ///< what is there does not stop it
  DebugPosition last{};    ///< where the plan before this one was made
  u64 budget_end = kNone;  ///< total ticks
  u64 steps_left = 0;
  bool stepped = false;      ///< the plan before this one was to step
  DebugPosition stepping{};  ///< the instruction that the stepping thread executes
  u32 stepper = 0;           ///< its number; 0: it executes none
  u64 hits = 0;
};
constinit Run run{};
constinit Pending pending{};

DebugPosition position(Turn& turn) { return {process().launch->events_taken, turn.ticks(), turn.regs().pc}; }

bool flag(u32 f) { return (mailbox().run.flags & f) != 0; }

/// What a new request to run starts from.
void begin_run(Turn& turn) {
  wire::DebugMailbox& box = mailbox();
  run = Run{};
  pending.any = false;
  run.last = position(turn);
  run.steps_left = box.run.steps;
  run.budget_end = box.run.budget != 0 ? run::total_ticks(turn) + box.run.budget : kNone;
  if (flag(wire::kRunContinue)) return;
  run.start = run.last;
  box.stop.hit.position.event = kNone;
  box.stop.previous.event = kNone;
  clear_trail();
}

/// Is it the running thread that steps?
bool steps(Turn& turn) {
  u32 thread = mailbox().run.thread;
  return run.steps_left != 0 && (thread == 0 || thread == turn.thread().number);
}

/// The way into a signal's handler is a step.
void step_into_handler(Turn& turn) {
  if (!steps(turn)) return;
  run.stepper = turn.thread().number;
  run.stepping = position(turn);
}

/// The signal that the debugger wants delivered, as it came if it is the one that has stopped the thread.
SignalInfo chosen_signal() {
  const wire::DebugStop& s = mailbox().stop;
  SignalInfo info{};
  info.signo = static_cast<i32>(mailbox().run.signal);
  if (s.reason == StopReason::kSignal && s.signal == info.signo) memcpy(&info, s.siginfo, sizeof info);
  return info;
}

/// Goes on in a diversion, from the registers as they are.
[[noreturn]] void go_diverted(Turn& turn) {
  divert::take_over(turn, mailbox().run.thread, mailbox().run.wall_ns);
  begin_run(turn);
  if (mailbox().run.signal == 0) divert::enter(turn, nullptr);
  SignalInfo info = chosen_signal();
  step_into_handler(turn);
  divert::enter(turn, &info);
}

/// Stands still, says why, and returns when it is to run again.
void stop(Turn& turn, StopReason reason) {
  wire::DebugStop& s = mailbox().stop;
  s.reason = reason;
  s.thread = turn.thread().number;
  s.tid = turn.thread().tid;
  s.pid = turn.thread().pid;
  s.position = position(turn);
  s.total_ticks = run::total_ticks(turn);
  s.trail = trail_length(turn, s.position);
  mailbox().interrupt = 0;
  run::settle_flags(turn.regs());
  answer();
  serve_requests(turn);
  if (flag(wire::kRunDiverted)) go_diverted(turn);
  begin_run(turn);
}

/// Notes a hit, or stops for it. True when it has stopped.
bool meet(Turn& turn, const wire::DebugHit& hit) {
  mailbox().stop.hit = hit;
  if (!flag(wire::kRunNoteHits)) {
    stop(turn, hit.reason);
    return true;
  }
  u64 most = mailbox().run.most_hits;
  if (++run.hits < most || most == 0) return false;
  stop(turn, StopReason::kHits);
  return true;
}

bool is_quiet(i32 signo) {
  return flag(wire::kRunPassSignals) || ((mailbox().run.quiet_signals >> (signo - 1)) & 1) != 0;
}

/// A signal that is about to be delivered at `here`.
void meet_signal(Turn& turn, const SignalInfo& info, const DebugPosition& here) {
  wire::DebugStop& s = mailbox().stop;
  s.hit = {here, StopReason::kSignal, {}, 0, 0, 0, run::total_ticks(turn)};
  if (flag(wire::kRunNoteHits)) {
    // Too many of them stop it at the next instruction: a checkpoint of here would be behind this signal.
    ++run.hits;
    return;
  }
  s.signal = info.signo;
  memcpy(s.siginfo, &info, sizeof s.siginfo);
  stop(turn, StopReason::kSignal);
}

void set_pending(Turn& turn, const WatchedAccess& access) {
  pending.any = true;
  pending.hit = {position(turn),        StopReason::kWatch, access.kind, access.address, 0, 0,
                 run::total_ticks(turn)};
  pending.begin = access.begin;
  pending.bytes = access.end - access.begin <= sizeof pending.old ? access.end - access.begin : 0;
  if (!read_guest(pending.old, pending.begin, pending.bytes)) pending.bytes = 0;
}

/// A write that changes nothing is none: debuggers compare, and would only go on.
bool pending_counts() {
  if (pending.hit.watch_kind != wire::WatchKind::kWrite || pending.bytes == 0) return true;
  u8 now[sizeof pending.old];
  if (!read_guest(now, pending.begin, pending.bytes)) return true;
  return memcmp(now, pending.old, pending.bytes) != 0;
}

/// The access that was under way is done. True when it has stopped for it.
bool settle_pending(Turn& turn, const DebugPosition& here) {
  if (!pending.any || here == run.last) return false;
  pending.any = false;
  if (!pending_counts()) return false;
  if (pending.hit.after_call != 0) pending.hit.position = here;
  return meet(turn, pending.hit);
}

/// Breakpoints and watchpoints at `here`. True when it has stopped.
bool meet_points(Turn& turn, const DebugPosition& here) {
  if (flag(wire::kRunIgnorePoints)) return false;
  bool at_start = here == run.start && !flag(wire::kRunNoteHits);
  bool again = run.stepped && here == run.last;  // it has been met already
  if (!at_start && !again && is_breakpoint(here.pc) &&
      meet(turn, {here, StopReason::kBreakpoint, {}, 0, 0, 0, run::total_ticks(turn)}))
    return true;
  if (!has_watchpoints()) return false;
  if (WatchedAccess access = watched_access(turn); access.any) set_pending(turn, access);
  return false;
}

/// The end of a step, or of all. True when it has stopped.
bool finish_step(Turn& turn, const DebugPosition& here) {
  if (run.stepper == 0) return false;
  bool same_thread = turn.thread().number == run.stepper;
  if (same_thread && here.ticks == run.stepping.ticks && here.pc == run.stepping.pc) return false;
  // Another thread has the turn: it is over when the stepping one has it again.
  if (!same_thread && mailbox().run.thread != 0 && run::find_thread(run.stepper) != nullptr) return false;
  const wire::DebugRun& wanted = mailbox().run;
  if (same_thread && here.pc >= wanted.range_begin && here.pc < wanted.range_end) return false;
  run.stepper = 0;
  if (--run.steps_left != 0) return false;
  stop(turn, StopReason::kSteps);
  return true;
}

bool at_limit(const DebugPosition& here) { return flag(wire::kRunToLimit) && here >= mailbox().run.limit; }

// So close to the limit every instruction is stepped, for its predecessor and the trail; and so many events
// before it the last tick before each.
constexpr u64 kTrailTicks = 100, kTrailEvents = 8;

/// How many ticks before the next stop of its own the running thread begins to step; 0: not at all.
u64 step_margin(const DebugPosition& here) {
  if (!flag(wire::kRunNotePrevious)) return 0;
  const DebugPosition& limit = mailbox().run.limit;
  if (here.event == limit.event) return kTrailTicks;
  return here.event < limit.event && here.event + kTrailEvents >= limit.event ? 1 : 0;
}

/// The tick that ends what runs before the limit, as far as is known.
u64 tick_before_limit(Turn& turn, const DebugPosition& here) {
  const DebugPosition& limit = mailbox().run.limit;
  return here.event == limit.event ? limit.ticks : events::next_event(turn).ticks;
}

bool near_limit(Turn& turn, const DebugPosition& here) {
  if (!flag(wire::kRunNotePrevious)) return false;
  if (flag(wire::kRunStepAll)) return true;
  u64 margin = step_margin(here);
  return margin != 0 && here.ticks + margin >= tick_before_limit(turn, here);
}

u64 least(u64 a, u64 b) { return a < b ? a : b; }

/// Up to which tick of its own the running thread may go.
u64 deadline(Turn& turn, const DebugPosition& here) {
  u64 used = here.ticks;
  u64 until = used + kPatience;
  if (run.budget_end != kNone) until = least(until, used + (run.budget_end - run::total_ticks(turn)));
  if (!flag(wire::kRunToLimit)) return until;
  u64 margin = step_margin(here);
  if (margin == 0 && here.event != mailbox().run.limit.event) return until;
  u64 tick = tick_before_limit(turn, here);
  if (tick > used + margin) until = least(until, tick - margin);
  return until;
}

}  // namespace

void start(const wire::Launch& launch, i32 launch_fd) {
  if (launch.debug_offset == 0) return;
  enter_slot(launch_fd, launch.debug_slot);
  attached = true;
}

Plan plan(Turn& turn) {
  static bool begun = false;
  if (!begun) {
    begun = true;
    // An image that is executed while the debugger waits asks it for the points.
    stop(turn, mailbox().command == wire::DebugCommand::kRun ? StopReason::kImage : StopReason::kStart);
  }
  for (;;) {
    DebugPosition here = position(turn);
    if (settle_pending(turn, here)) continue;
    if (finish_step(turn, here)) continue;
    if (at_limit(here)) {
      stop(turn, StopReason::kLimit);
      continue;
    }
    if (meet_points(turn, here)) continue;
    if (__atomic_load_n(&mailbox().interrupt, __ATOMIC_RELAXED) != 0) {
      stop(turn, StopReason::kInterrupted);
      continue;
    }
    if (run.budget_end != kNone && run::total_ticks(turn) >= run.budget_end) {
      stop(turn, StopReason::kBudget);
      continue;
    }
    bool previous = near_limit(turn, here);
    if (previous) {
      u64 total = run::total_ticks(turn);
      mailbox().stop.previous = here;
      mailbox().stop.previous_total_ticks = total;
      extend_trail(turn, here, total);
    }
    const DebugPosition& limit = mailbox().run.limit;
    bool close = flag(wire::kRunToLimit) && here.event == limit.event && here.ticks == limit.ticks;
    bool one_step = steps(turn);
    if (one_step) {
      run.stepper = turn.thread().number;
      run.stepping = here;
    }
    Plan result;
    result.step = one_step || pending.any || previous || close || is_breakpoint(here.pc);
    // It did not get away from here: an access that the filter has caught by mistake.
    result.step = result.step || (has_watchpoints() && here == run.last);
    result.deadline = deadline(turn, here);
    run.stepped = result.step;
    run.last = here;
    return result;
  }
}

void at_signal(Turn& turn, const SignalInfo& info) {
  // A fault prevents the access; another signal comes after it.
  DebugPosition here = position(turn);
  settle_pending(turn, here);
  pending.any = false;
  while (at_limit(position(turn))) stop(turn, StopReason::kLimit);
  if (!is_quiet(info.signo)) meet_signal(turn, info, position(turn));
  step_into_handler(turn);
}

void at_end(Turn& turn, StopReason reason, const char* message) {
  for (;;) {
    while (at_limit(position(turn))) stop(turn, StopReason::kLimit);
    copy_string(mailbox().message, message, sizeof mailbox().message);
    stop(turn, reason);
  }
}

void at_diverted_end(Turn& turn, i32 signal, i32 status) {
  mailbox().stop.signal = signal;
  mailbox().stop.status = status;
  stop(turn, StopReason::kExited);
}

void pass_output(Turn& turn, i32 fd, GuestAddr from, u64 size) {
  wire::DebugMailbox& box = mailbox();
  if (size > wire::kTransferBytes || !read_guest(box.transfer, from, size)) return;
  box.result = static_cast<SysResult>(size);
  box.stop.status = fd;
  box.stop.reason = StopReason::kOutput;
  answer();
  serve_requests(turn);
}

void pass_notice(Turn& turn, const char* text) {
  copy_string(mailbox().message, text, sizeof mailbox().message);
  mailbox().stop.reason = StopReason::kNotice;
  answer();
  serve_requests(turn);
}

void interrupt_soon() { __atomic_store_n(&mailbox().interrupt, 1, __ATOMIC_RELAXED); }

void note_write(Turn& turn, GuestAddr begin, GuestAddr end) {
  if (!has_watchpoints() || flag(wire::kRunIgnorePoints)) return;
  WatchedAccess access = watched_write(begin, end);
  if (!access.any) return;
  set_pending(turn, access);
  pending.hit.after_call = 1;
}

void prepare_exec(i32 launch_fd) {
  // A checkpoint is not the process that was started first, but the new image is to go on as that.
  process().launch->first_pid = static_cast<i32>(raw_syscall(__NR_getpid));
  raw_syscall(__NR_pwrite64, static_cast<u64>(launch_fd), arg(process().launch), sizeof(wire::Launch), 0);
}

}  // namespace detrec::guest::debug
