#include "trace/guest/events/divergence.h"

#include <cstdarg>

#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/events/ring.h"
#include "trace/guest/process.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/ticks.h"
#include "trace/syscalls/table.h"

namespace detrec::guest::events {
namespace {

[[noreturn]] void leave(Turn& turn, wire::LaunchPhase phase) {
  bool diverged = phase == wire::LaunchPhase::kDiverged;
  if (debug::attached)
    debug::at_end(turn, diverged ? wire::StopReason::kDiverged : wire::StopReason::kEnd,
                  process().launch->message);
  process().launch->phase = phase;
  raw_syscall(__NR_exit_group, 0);
  __builtin_unreachable();
}

void describe_state(Turn& turn) {
  wire::Divergence& d = process().launch->divergence;
  run::settle_flags(turn.regs());
  const Registers& regs = turn.regs();
  d.event = process().launch->events_taken;
  d.ticks = turn.ticks();
  d.pc = regs.pc;
  d.thread = turn.thread().number;
  for (int i = 0; i < 16; ++i) d.gpr[i] = regs.gpr[i];
  d.rflags = regs.rflags;
  read_guest(d.code, regs.pc, sizeof d.code);
}

/// What the program is doing, when that is a system call.
void add_call(Turn& turn, char* text, u64 size) {
  if (!turn.thread().in_call) return;
  auto number = static_cast<i32>(turn.thread().signals.syscall_nr);
  const syscalls::SyscallRow* row = syscalls::find(number);
  u64 used = strlen(text);
  format(text + used, size - used, "; doing: %s(", row != nullptr ? row->name : "unknown");
  int count = row != nullptr ? row->arg_count : 6;
  for (int i = 0; i < count; ++i) {
    used = strlen(text);
    format(text + used, size - used, i == 0 ? "0x%lx" : ", 0x%lx", turn.arg(i));
  }
  used = strlen(text);
  format(text + used, size - used, ")");
}

}  // namespace

const char* kind_name(wire::EventKind kind) {
  switch (kind) {
    case wire::EventKind::kStart:
      return "start";
    case wire::EventKind::kMapping:
      return "mapping";
    case wire::EventKind::kSyscall:
      return "system call";
    case wire::EventKind::kInstruction:
      return "instruction";
    case wire::EventKind::kSignal:
      return "signal";
    case wire::EventKind::kTurn:
      return "turn";
    case wire::EventKind::kThread:
      return "new thread";
    case wire::EventKind::kExit:
      return "exit";
    case wire::EventKind::kData:
      return "data";
  }
  return "unknown event";
}

const wire::EventHeader& next_event(Turn& turn) {
  const wire::EventHeader* event = peek_record();
  if (event != nullptr) return *event;
  describe_state(turn);
  format(process().launch->message, sizeof process().launch->message,
         "the recording ends here: it was cut off before the program's end");
  leave(turn, wire::LaunchPhase::kReplayed);
}

bool is_kill(const wire::EventHeader& event) {
  return event.kind == wire::EventKind::kExit &&
         body_of<wire::ExitBody>(event).cause == wire::ExitCause::kKilled &&
         run::ticks_used(context()) >= event.ticks;
}

void end_killed(Turn& turn, const wire::EventHeader& event) {
  process().launch->replayed_end = {1, body_of<wire::ExitBody>(event).status};
  take_event();
  describe_state(turn);
  leave(turn, wire::LaunchPhase::kReplayed);
}

void take_event() {
  if (peek_record()->kind != wire::EventKind::kData) ++process().launch->events_taken;
  consume_record();
}

const wire::EventHeader& expect_event(Turn& turn, wire::EventKind kind) {
  const wire::EventHeader& event = next_event(turn);
  // Killed in the middle of what it does here.
  if (event.kind == wire::EventKind::kExit &&
      body_of<wire::ExitBody>(event).cause == wire::ExitCause::kKilled)
    end_killed(turn, event);
  if (event.kind != kind)
    diverge(turn, "the program does: %s; recorded: %s", kind_name(kind), kind_name(event.kind));
  if (event.thread != turn.thread().number)
    diverge(turn, "%s by thread %u; recorded: by thread %u", kind_name(kind), turn.thread().number,
            event.thread);
  u64 ticks = turn.ticks();
  if (event.ticks != ticks)
    diverge(turn, "%s at %lu ticks; recorded: at %lu", kind_name(kind), ticks, event.ticks);
  if (event.pc != turn.regs().pc)
    diverge(turn, "%s at pc 0x%lx; recorded: at 0x%lx", kind_name(kind), turn.regs().pc, event.pc);
  return event;
}

void diverge(Turn& turn, const char* message, ...) {
  va_list args;
  va_start(args, message);
  format_v(process().launch->message, sizeof process().launch->message, message, args);
  va_end(args);
  add_call(turn, process().launch->message, sizeof process().launch->message);
  describe_state(turn);
  leave(turn, wire::LaunchPhase::kDiverged);
}

}  // namespace detrec::guest::events
