// clock_gettime by the short way of run/exits.S: programs ask for the time more often than for anything else.
#include "trace/guest/divert/clocks.h"
#include "trace/guest/events/calls.h"
#include "trace/guest/events/record.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/ticks.h"
#include "trace/wire/clock_record.h"

namespace detrec::guest::events {
namespace {

/// A call that failed has no memory to show.
void record_failure(Turn& turn, u64 clock, GuestAddr to, SysResult result, u64 ticks) {
  Record record(wire::EventKind::kSyscall, turn.thread().number, ticks, turn.regs().pc);
  auto& body = record.append<wire::SyscallBody>();
  body.number = wire::kClockGettime;
  body.args[0] = clock;
  body.args[1] = to;
  body.result = result;
  record.commit();
}

/// True when `event` is what is recorded of this call, made here.
bool is_expected(const wire::ClockRecord& event, const Context& c, u64 ticks, u64 clock, GuestAddr to) {
  const wire::EventHeader& header = event.header;
  return header.kind == wire::kClockRecord && header.thread == c.thread->number && header.ticks == ticks &&
         header.pc == c.regs.pc && event.clock == clock && event.address == to;
}

}  // namespace

void record_clock(Turn& turn, u64 clock, GuestAddr to, SysResult result, const syscall::Timespec& now) {
  Context& c = context();
  u64 ticks = run::ticks_used_in_guest(c);
  if (result != 0) return record_failure(turn, clock, to, result, ticks);
  auto* record = reinterpret_cast<wire::ClockRecord*>(reserve_record());
  record->header = {sizeof *record, wire::kClockRecord, 0, turn.thread().number, 0, ticks, c.regs.pc};
  record->clock = clock;
  record->address = to;
  record->seconds = now.seconds;
  record->nanoseconds = now.nanoseconds;
  commit_record(sizeof *record);
}

bool replay_clock(Turn& turn, u64 clock, GuestAddr to) {
  const wire::EventHeader* next = nullptr;
  const wire::EventHeader* first = ready_record(next);
  if (first == nullptr || next == nullptr) return false;
  Context& c = context();
  u64 ticks = run::ticks_used(c);
  const auto& event = *reinterpret_cast<const wire::ClockRecord*>(first);
  if (!is_expected(event, c, ticks, clock, to) || !run::goes_on_to(*next, ticks)) return false;
  // As it was recorded, this is a store of the engine's.
  if (!memory::write_guest(turn, to, syscall::Timespec{event.seconds, event.nanoseconds})) return false;
  divert::note_clock(clock, {event.seconds, event.nanoseconds});
  ++process().launch->events_taken;
  consume_record();
  return true;
}

}  // namespace detrec::guest::events
