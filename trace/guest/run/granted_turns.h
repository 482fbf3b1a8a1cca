// Turns of a recorded process with threads: the scheduler in the server decides who is next (docs/core.md,
// trace/wire/turns.h). What a thread says when it gives its turn up is a request on the board; its grant
// comes in its slot.
//
// Begins when a process gets its second thread; until then, and in whatever nobody records, turns come from
// first_come.h. TurnSchedule (turn.h) knows which of the two holds; others ask granting() only.
#pragma once

#include "trace/guest/run/turn.h"

namespace detrec::guest::run {

/// True when the server grants the turns of this process.
bool granting();

/// False when the process cannot have another thread.
bool has_room_on_board();
/// Before a thread is started: gives it a slot, and has the server begin if it is the second one.
void enter_board(Turn& turn, Thread& child);
/// It has been started; the running thread then passes the turn on before it goes on (TurnWhy::kCreated).
void announce_thread(Turn& turn, Thread& child);
/// It could not be started.
void leave_board(Thread& child);
/// In a forked child: nobody grants here any more.
void forget_board();

/// Gives up the turn, whose state has been saved.
void give_up(Thread& thread, TurnWhy why);
/// Blocks until `thread` has the turn.
void await_grant(Thread& thread);
/// True when another thread could use the turn.
bool turn_wanted();

/// How a wait at a futex is slept through: with the kernel's own timeout (man 2 futex).
struct FutexSleep {
  GuestAddr address;
  u32 mask;
  u64 operation;        ///< FUTEX_WAIT or FUTEX_WAIT_BITSET, with or without FUTEX_CLOCK_REALTIME
  const void* timeout;  ///< struct timespec of the engine's; nullptr: none
};
/// Gives up the turn, whose state has been saved, until another thread wakes this one. 0, -ETIMEDOUT, or what
/// signal::raw_syscall_interruptible says of an interrupted call; the turn is back.
SysResult sleep_at_futex(Thread& thread, const FutexSleep& sleep);

/// Wakes up to `count` threads that wait at the futex with a mask that meets `mask`; they come to run when
/// the turn is given up. Returns their number.
u32 wake_at_futex(Turn& turn, GuestAddr address, u32 count, u32 mask);
/// Wakes up to `count` threads and lets up to `move` others wait at `to` instead. Returns the number of both.
u32 requeue_at_futex(Turn& turn, GuestAddr address, u32 count, GuestAddr to, u32 move);

}  // namespace detrec::guest::run
