// System calls: recorded with their result and the memory they wrote, replayed without asking the kernel.
//
// A replayed call takes everything from its event, but for the calls that change what the engine keeps itself
// (mappings, dispositions, masks, threads): those are served again, and must have the recorded result.
#pragma once

#include "trace/guest/events/mode.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/host_clock.h"
#include "trace/syscalls/memory.h"
#include "trace/wire/event.h"

namespace detrec::guest::events {

/// The arguments that a call has; what else the registers hold is 0.
syscall::Args known_arguments(Turn& turn, i32 number);

/// Around a call that is being recorded: made before it, finish() after it.
class RecordedCall {
 public:
  RecordedCall(Turn& turn, i32 number);
  void finish(Turn& turn, SysResult result);

 private:
  i32 number_;
  u32 input_hash_;
  syscall::Args args_;
  syscalls::Before before_;
  u64 begun_;  ///< in cycles (duration.h)
};

/// The result of a call in a replay; its effects on memory are done. `serve` serves a call as without
/// recording.
SysResult replay_call(Turn& turn, i32 number, SysResult (*serve)(Turn& turn, i32 number));

/// Recording: clock_gettime(clock, to) has been answered, by the short way of run/exits.S.
void record_clock(Turn& turn, u64 clock, GuestAddr to, SysResult result, const syscall::Timespec& now);
/// Replay: clock_gettime(clock, to) by the same way, without leaving for a stop. False: the common way is
/// needed, and nothing has been done.
bool replay_clock(Turn& turn, u64 clock, GuestAddr to);

/// rt_sigreturn, before it is done: it changes the pc, so it is an event.
void exchange_sigreturn(Turn& turn);

/// Which of the guest's outputs, as they were at the start, a descriptor leads to; kIn: none.
wire::Direction output_of(Turn& turn, u64 fd);
/// Recording: true for a call that would move data to the program's output within the kernel, unseen.
/// Programs that use such calls can do without.
bool writes_output_unseen(Turn& turn, i32 number);
/// Remembers what stdout and stderr are.
void start_outputs();

}  // namespace detrec::guest::events
