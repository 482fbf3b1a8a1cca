// The board on which the threads of a recorded process ask the server for turns (docs/wire-layout.md).
//
// There as soon as a process has a second thread; a lone thread never touches it. Who holds the turn appends
// requests; the server consumes them, grants turns through the threads' slots, and sleeps while somebody
// holds the turn. A thread that waits outside comes back by a bit of its own. A guest can write all of this:
// the server checks what it reads.
#pragma once

#include <cstdint>

namespace detrec::wire {

/// Threads that a process can have at a time while it is recorded.
inline constexpr std::uint32_t kTurnSlots = 4096;
/// Requests that fit; a power of two.
inline constexpr std::uint32_t kTurnRequests = 1024;

/// The low byte of TurnBoard::turn; the rest is the holder's slot.
enum class TurnState : std::uint32_t {
  kHeld = 0,  ///< a thread runs; the server only listens
  kLeft = 1,  ///< the holder waits outside, and nobody else wanted the turn: it takes the turn back without a
              ///< word, unless the server was quicker to make it kFree
  kFree = 2,  ///< given up by a request: the server grants the next turn
  kIdle = 3,  ///< the server has looked: nobody can run until one comes back
};
constexpr std::uint32_t turn_word(TurnState state, std::uint32_t slot) {
  return static_cast<std::uint32_t>(state) | slot << 8;
}
constexpr TurnState state_of_turn(std::uint32_t word) { return static_cast<TurnState>(word & 0xff); }
constexpr std::uint32_t slot_of_turn(std::uint32_t word) { return word >> 8; }

enum class TurnRequestKind : std::uint32_t {
  kBegin = 1,  ///< an image's first thread, which holds the turn: forget the image before
  kCreate,     ///< a thread was created (other_slot, other_thread); kContinue follows in the same turn
  kWake,       ///< futex: wake `count` of `address` with `mask`; the result has to be `expected`
  kRequeue,    ///< futex: wake `count`, move `other_count` to `other_address`; results have to be `expected`,
               ///< `other_expected`
  // The turn ends.
  kContinue,  ///< after kCreate
  kSlice,     ///< the timeslice is used up
  kYield,     ///< sched_yield
  kOutside,   ///< waits for something outside; reported by SlotReport::kDone
  kWait,      ///< futex: waits at `address` with `mask`
  kEnd,       ///< the thread ends
};

/// `expected` of a wake-up whose result the thread does not know: it waits for ThreadSlot::answer.
inline constexpr std::uint32_t kAnswerWanted = ~std::uint32_t{0};

struct TurnRequest {
  TurnRequestKind kind = {};
  std::uint32_t slot = 0;    ///< of the holder
  std::uint32_t thread = 0;  ///< its number
  std::uint32_t other_slot = 0, other_thread = 0;
  std::uint32_t mask = 0;
  std::uint32_t count = 0, other_count = 0;
  std::uint32_t expected = 0, other_expected = 0;
  std::uint64_t ticks = 0;  ///< of the holder, so far
  std::uint64_t address = 0, other_address = 0;
};
static_assert(sizeof(TurnRequest) == 64);

/// What a thread that does not hold the turn tells by its bit.
enum class SlotReport : std::uint32_t {
  kDone = 1,     ///< what it waited for outside is over
  kExpired,      ///< its wait at a futex has timed out
  kInterrupted,  ///< a signal has come during its wait at a futex
};

enum class TurnOutcome : std::uint32_t { kGo = 0, kTimedOut, kInterrupted };

struct ThreadSlot {
  alignas(64) std::uint32_t granted;  ///< futex: 1 when the turn is the thread's; the thread makes it 0 again
  TurnOutcome outcome;                ///< set before `granted`
  SlotReport report;                  ///< set before the slot's bit
  std::uint32_t answered;             ///< futex: 1 when `answer` is there
  std::uint32_t answer;
  std::uint64_t reported_at;  ///< of TurnBoard::reports, set before the slot's bit
};

/// How many threads wait at the futex `address`; 0: no entry.
struct FutexCount {
  std::uint64_t address;
  std::uint64_t waiters;
};
/// Twice as many as there can be waiters: never full.
inline constexpr std::uint32_t kFutexCounts = 2 * kTurnSlots;

struct TurnBoard {
  alignas(64) std::uint64_t posted;  ///< end of the requests; positions count up and never wrap
  std::uint32_t post_waits;          ///< futex: 1 while the holder waits for `taken` to move
  alignas(64) std::uint64_t taken;   ///< begin of the requests not consumed
  std::uint32_t server_sleeps;       ///< futex: the doorbell; 1 while the server sleeps
  alignas(64) std::uint32_t turn;    ///< turn_word()
  std::uint32_t wanting;   ///< threads that could run if they had the turn; the holder not among them
  std::uint32_t returned;  ///< bits that are set
  std::uint64_t reports;   ///< counts reports: who reports first is to run first
  alignas(64) std::uint64_t returned_bits[kTurnSlots / 64];
  TurnRequest requests[kTurnRequests];
  FutexCount
      futexes[kFutexCounts];  ///< futex_counts.h; of whoever holds the turn, or the server when it is free
  ThreadSlot slots[kTurnSlots];
};

}  // namespace detrec::wire
