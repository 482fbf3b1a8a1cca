#include "trace/guest/debug/debugger.h"

#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/mailbox.h"
#include "trace/guest/debug/points.h"
#include "trace/guest/debug/requests.h"
#include "trace/guest/events/divergence.h"
#include "trace/guest/process.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/ticks.h"

namespace detrec::guest::debug {
namespace {

using wire::DebugPosition;
using wire::StopReason;

constexpr u64 kNone = ~0ull;
/// A thread that computes looks after so many ticks whether it is to stop.
constexpr u64 kPatience = 2'000'000;

/// Of the request being served; the rest of it is in the mailbox.
struct Run {
  DebugPosition start{};   ///< what is there does not stop it
  DebugPosition last{};    ///< where the plan before this one was made
  u64 budget_end = kNone;  ///< total ticks
  u64 steps_left = 0;
  bool stepped = false;        ///< the plan before this one was to step
  bool watch_pending = false;  ///< the instruction that is being stepped accesses what is watched
  wire::DebugHit pending{};
};
constinit Run run{};

bool same(const DebugPosition& a, const DebugPosition& b) {
  return a.event == b.event && a.ticks == b.ticks && a.pc == b.pc;
}
bool before(const DebugPosition& a, const DebugPosition& b) {
  if (a.event != b.event) return a.event < b.event;
  if (a.ticks != b.ticks) return a.ticks < b.ticks;
  return a.pc < b.pc;
}

DebugPosition position(Turn& turn) { return {process().launch->events_taken, turn.ticks(), turn.regs().pc}; }

u64 total_ticks(Turn& turn) {
  u64 sum = process().launch->ended_ticks;
  for (const Thread* t = process().threads; t != nullptr; t = t->next)
    sum += t == &turn.thread() ? turn.ticks() : t->saved_tick_base;
  return sum;
}

bool flag(u32 f) { return (mailbox().run.flags & f) != 0; }

/// What a new request to run starts from.
void begin_run(Turn& turn) {
  wire::DebugMailbox& box = mailbox();
  run = Run{};
  run.start = run.last = position(turn);
  run.steps_left = box.run.steps;
  run.budget_end = box.run.budget != 0 ? total_ticks(turn) + box.run.budget : kNone;
  box.stop.hit.position.event = kNone;
  box.stop.previous.event = kNone;
}

/// Stands still, says why, and returns when it is to run again.
void stop(Turn& turn, StopReason reason) {
  wire::DebugStop& s = mailbox().stop;
  s.reason = reason;
  s.thread = turn.thread().number;
  s.tid = turn.thread().tid;
  s.pid = turn.thread().pid;
  s.position = position(turn);
  s.total_ticks = total_ticks(turn);
  mailbox().interrupt = 0;
  run::settle_flags(turn.regs());
  answer();
  serve_requests(turn);
  begin_run(turn);
}

wire::DebugHit hit_here(Turn& turn, StopReason reason, const WatchedAccess& access) {
  return {position(turn), reason, access.kind, access.address, total_ticks(turn)};
}

/// Breakpoints and watchpoints at `here`. True when it has stopped.
bool meet_points(Turn& turn, const DebugPosition& here) {
  wire::DebugStop& s = mailbox().stop;
  if (run.watch_pending && !same(here, run.last)) {
    run.watch_pending = false;
    s.hit = run.pending;
    stop(turn, StopReason::kWatch);
    return true;
  }
  bool at_start = same(here, run.start) && !flag(wire::kRunNoteHits);
  if (!at_start && is_breakpoint(here.pc)) {
    s.hit = hit_here(turn, StopReason::kBreakpoint, {});
    if (!flag(wire::kRunNoteHits)) {
      stop(turn, StopReason::kBreakpoint);
      return true;
    }
  }
  if (!has_watchpoints()) return false;
  WatchedAccess access = watched_access(turn);
  if (!access.any) return false;
  wire::DebugHit hit = hit_here(turn, StopReason::kWatch, access);
  if (flag(wire::kRunNoteHits)) {
    s.hit = hit;
  } else {
    run.pending = hit;
    run.watch_pending = true;
  }
  return false;
}

bool at_limit(const DebugPosition& here) {
  return flag(wire::kRunToLimit) && !before(here, mailbox().run.limit);
}

/// The last tick before the limit, and the last before the event that leads up to it, are stepped through to
/// see which position is the limit's predecessor.
bool near_limit(Turn& turn, const DebugPosition& here) {
  if (flag(wire::kRunStepAll)) return true;
  const DebugPosition& limit = mailbox().run.limit;
  if (here.event == limit.event) return here.ticks + 1 >= limit.ticks;
  return here.event + 1 == limit.event && here.ticks + 1 >= events::next_event(turn).ticks;
}

u64 least(u64 a, u64 b) { return a < b ? a : b; }

/// Up to which tick of its own the running thread may go.
u64 deadline(Turn& turn, const DebugPosition& here) {
  u64 used = here.ticks;
  u64 until = used + kPatience;
  if (run.budget_end != kNone) until = least(until, used + (run.budget_end - total_ticks(turn)));
  if (!flag(wire::kRunToLimit)) return until;
  const DebugPosition& limit = mailbox().run.limit;
  u64 margin = flag(wire::kRunNotePrevious) ? 1 : 0;
  if (here.event == limit.event && limit.ticks > used + margin) until = least(until, limit.ticks - margin);
  if (margin != 0 && here.event + 1 == limit.event) {
    u64 next = events::next_event(turn).ticks;
    if (next > used + margin) until = least(until, next - margin);
  }
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
    wire::DebugMailbox& box = mailbox();
    // An image that was executed while the debugger waits goes on with the request.
    if (box.command != wire::DebugCommand::kRun) {
      stop(turn, StopReason::kStart);
    } else {
      begin_run(turn);
    }
  }
  for (;;) {
    DebugPosition here = position(turn);
    if (run.stepped && !same(here, run.last) && run.steps_left != 0 && --run.steps_left == 0) {
      run.stepped = false;
      stop(turn, StopReason::kSteps);
      continue;
    }
    run.stepped = false;
    if (at_limit(here)) {
      stop(turn, StopReason::kLimit);
      continue;
    }
    if (meet_points(turn, here)) continue;
    if (__atomic_load_n(&mailbox().interrupt, __ATOMIC_RELAXED) != 0) {
      stop(turn, StopReason::kInterrupted);
      continue;
    }
    if (run.budget_end != kNone && total_ticks(turn) >= run.budget_end) {
      stop(turn, StopReason::kBudget);
      continue;
    }
    bool previous = flag(wire::kRunNotePrevious) && near_limit(turn, here);
    if (previous) {
      mailbox().stop.previous = here;
      mailbox().stop.previous_total_ticks = total_ticks(turn);
    }
    const DebugPosition& limit = mailbox().run.limit;
    bool close = flag(wire::kRunToLimit) && here.event == limit.event && here.ticks == limit.ticks;
    Plan result;
    result.step = run.steps_left != 0 || run.watch_pending || previous || close || is_breakpoint(here.pc);
    // It did not get away from here: an access that the filter has caught by mistake.
    result.step = result.step || (has_watchpoints() && same(here, run.last));
    result.deadline = deadline(turn, here);
    run.stepped = result.step;
    run.last = here;
    return result;
  }
}

void at_signal(Turn& turn, const SignalInfo& info) {
  while (at_limit(position(turn))) stop(turn, StopReason::kLimit);
  if (flag(wire::kRunPassSignals)) return;
  wire::DebugStop& s = mailbox().stop;
  s.signal = info.signo;
  memcpy(s.siginfo, &info, sizeof s.siginfo);
  stop(turn, StopReason::kSignal);
}

void at_end(Turn& turn, StopReason reason, const char* message) {
  for (;;) {
    while (reason == StopReason::kEnd && at_limit(position(turn))) stop(turn, StopReason::kLimit);
    copy_string(mailbox().message, message, sizeof mailbox().message);
    stop(turn, reason);
  }
}

void note_write(Turn& turn, GuestAddr begin, GuestAddr end) {
  if (!has_watchpoints()) return;
  WatchedAccess access = watched_write(begin, end);
  if (!access.any) return;
  constexpr u64 kSyscallLength = 2;
  wire::DebugHit hit = hit_here(turn, StopReason::kWatch, access);
  hit.position.pc -= kSyscallLength;  // the call's own position
  if (flag(wire::kRunNoteHits)) {
    mailbox().stop.hit = hit;
  } else {
    run.pending = hit;
    run.watch_pending = true;
  }
}

void prepare_exec(i32 launch_fd) {
  raw_syscall(__NR_pwrite64, static_cast<u64>(launch_fd), arg(process().launch), sizeof(wire::Launch), 0);
}

}  // namespace detrec::guest::debug
