// A clock_gettime that has succeeded, as the ring carries it: what matters of its kSyscall record, in one
// cache line.
//
// Programs ask for the time more often than for anything else, and what such a record costs is mostly its way
// from one processor to the other. Both sides turn it into the kSyscall record that it stands for; traces
// know only that.
#pragma once

#include "trace/wire/event.h"

namespace detrec::wire {

/// No kind of event: in a ring only.
inline constexpr EventKind kClockRecord = static_cast<EventKind>(0x40);
inline constexpr std::int32_t kClockGettime = 228;

struct ClockRecord {
  EventHeader header;
  std::uint64_t clock, address;  ///< the arguments
  std::int64_t seconds, nanoseconds;
};
static_assert(sizeof(ClockRecord) == 64);

/// The kSyscall record.
struct ClockCall {
  EventHeader header;
  SyscallBody body;
  RangeHeader range;
  std::int64_t seconds, nanoseconds;
};
static_assert(sizeof(ClockCall) == 144);

inline void expand(const ClockRecord& record, ClockCall& call) {
  call.body = {};
  call.header = record.header;
  call.header.size = sizeof call;
  call.header.kind = EventKind::kSyscall;
  call.body.number = kClockGettime;
  call.body.range_count = 1;
  call.body.args[0] = record.clock;
  call.body.args[1] = record.address;
  call.range = {record.address, 2 * sizeof record.seconds, Direction::kIn};
  call.seconds = record.seconds;
  call.nanoseconds = record.nanoseconds;
}

/// True when `event`, a valid record, is what expand() would make of `to`, which is filled in.
inline bool shorten(const EventHeader& event, ClockRecord& to) {
  if (event.kind != EventKind::kSyscall || event.size != sizeof(ClockCall) || event.flags != 0) return false;
  const auto& call = reinterpret_cast<const ClockCall&>(event);
  const SyscallBody& body = call.body;
  const bool plain = body.number == kClockGettime && body.range_count == 1 && body.args[2] == 0 &&
                     body.args[3] == 0 && body.args[4] == 0 && body.args[5] == 0 && body.result == 0 &&
                     body.input_hash == 0 && body.duration_ns == 0 && call.range.address == body.args[1] &&
                     call.range.size == 2 * sizeof call.seconds && call.range.direction == Direction::kIn;
  if (!plain) return false;
  to = {event, body.args[0], body.args[1], call.seconds, call.nanoseconds};
  to.header.size = sizeof to;
  to.header.kind = kClockRecord;
  return true;
}

}  // namespace detrec::wire
