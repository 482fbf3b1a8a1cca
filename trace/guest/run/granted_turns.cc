#include "trace/guest/run/granted_turns.h"

#include <asm/errno.h>
#include <linux/futex.h>
#include <linux/mman.h>

#include "trace/guest/base/layout.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/process.h"
#include "trace/guest/run/threads.h"
#include "trace/guest/run/ticks.h"
#include "trace/guest/signal/signals.h"
#include "trace/wire/futex_counts.h"
#include "trace/wire/turns.h"

namespace detrec::guest::run {
namespace {

using wire::TurnRequest;
using wire::TurnRequestKind;
using wire::TurnState;

wire::TurnBoard* board = nullptr;  ///< nullptr: nobody grants
bool mapped = false;

/// The slots that are not in use. Changed under the turn.
struct FreeSlots {
  u16 returned[wire::kTurnSlots];
  u32 count;
  u32 fresh;  ///< from here on none has been used
};
FreeSlots free_slots{};

u32 take_free_slot() {
  if (free_slots.count != 0) return free_slots.returned[--free_slots.count];
  return free_slots.fresh < wire::kTurnSlots ? free_slots.fresh++ : kNoTurnSlot;
}

void give_slot_back(KernelThread& thread) {
  free_slots.returned[free_slots.count++] = static_cast<u16>(thread.turn_slot);
  thread.turn_slot = kNoTurnSlot;
}

wire::ThreadSlot& slot_of(const KernelThread& thread) { return board->slots[thread.turn_slot]; }

void map_board() {
  if (mapped) return;
  constexpr u64 kBytes = (sizeof(wire::TurnBoard) + kPageSize - 1) & ~u64{kPageSize - 1};
  SysResult r = raw_syscall(__NR_mmap, kTurnBoardAddress, kBytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED_NOREPLACE, static_cast<u64>(process().own_fds[kLaunchFd]),
                            process().launch->turns_offset);
  if (static_cast<u64>(r) != kTurnBoardAddress) DETREC_PANIC("cannot map the board of turns: error %ld", -r);
  mapped = true;
}

/// The server, if it sleeps, looks at the board.
void ring_doorbell() {
  if (__atomic_exchange_n(&board->server_sleeps, 0, __ATOMIC_SEQ_CST) != 0)
    raw_syscall(__NR_futex, arg(&board->server_sleeps), FUTEX_WAKE, 1);
}

void wait_for_room() {
  const i64 nap[2] = {0, 2'000'000};  // struct timespec
  while (board->posted - __atomic_load_n(&board->taken, __ATOMIC_ACQUIRE) >= wire::kTurnRequests) {
    __atomic_store_n(&board->post_waits, 1, __ATOMIC_SEQ_CST);
    ring_doorbell();
    raw_syscall(__NR_futex, arg(&board->post_waits), FUTEX_WAIT, 1, arg(nap));
    __atomic_store_n(&board->post_waits, 0, __ATOMIC_RELAXED);
  }
}

/// The holder says something.
void post(const KernelThread& thread, u64 ticks, TurnRequest request) {
  wait_for_room();
  request.slot = thread.turn_slot;
  request.thread = thread.number;
  request.ticks = ticks;
  board->requests[board->posted & (wire::kTurnRequests - 1)] = request;
  __atomic_store_n(&board->posted, board->posted + 1, __ATOMIC_RELEASE);
}

void post_running(Turn& turn, const TurnRequest& request) {
  post(kernel_thread(turn.thread()), turn.ticks(), request);
}

TurnRequest request_of(TurnRequestKind kind) {
  TurnRequest request{};
  request.kind = kind;
  return request;
}

TurnRequestKind kind_of(TurnWhy why) {
  switch (why) {
    case TurnWhy::kOutside:
      return TurnRequestKind::kOutside;
    case TurnWhy::kSlice:
      return TurnRequestKind::kSlice;
    case TurnWhy::kYield:
      return TurnRequestKind::kYield;
    case TurnWhy::kCreated:
      return TurnRequestKind::kContinue;
    case TurnWhy::kEnds:
      return TurnRequestKind::kEnd;
  }
  __builtin_unreachable();
}

/// The last word of a turn that has been given up: from here on others change the board. Nobody has to look
/// at once when nobody can run: a thread that comes back later finds the turn free and rings itself.
void free_turn(u32 slot, bool can_run) {
  __atomic_store_n(&board->turn, wire::turn_word(TurnState::kFree, slot), __ATOMIC_SEQ_CST);
  if (can_run || turn_wanted()) ring_doorbell();
}

/// True when nobody else wants the turn: then `thread` may take it back as it left it.
bool leave_unwanted(const KernelThread& thread) {
  if (turn_wanted()) return false;
  u32 left = wire::turn_word(TurnState::kLeft, thread.turn_slot);
  __atomic_store_n(&board->turn, left, __ATOMIC_SEQ_CST);
  if (!turn_wanted()) return true;
  // Somebody has come back meanwhile and perhaps seen the turn still held. If the server has the turn
  // already, it knows what to do.
  return !__atomic_compare_exchange_n(&board->turn, &left,
                                      wire::turn_word(TurnState::kHeld, thread.turn_slot), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool take_back(const KernelThread& thread) {
  u32 left = wire::turn_word(TurnState::kLeft, thread.turn_slot);
  return __atomic_compare_exchange_n(&board->turn, &left, wire::turn_word(TurnState::kHeld, thread.turn_slot),
                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// A thread without the turn says something.
void report(const KernelThread& thread, wire::SlotReport what) {
  u32 slot = thread.turn_slot;
  slot_of(thread).report = what;
  slot_of(thread).reported_at = __atomic_fetch_add(&board->reports, 1, __ATOMIC_RELAXED);
  __atomic_or_fetch(&board->returned_bits[slot / 64], u64{1} << (slot % 64), __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&board->returned, 1, __ATOMIC_SEQ_CST);
  // While somebody holds the turn, the server has nothing to do about it.
  u32 turn = __atomic_load_n(&board->turn, __ATOMIC_SEQ_CST);
  if (wire::state_of_turn(turn) != TurnState::kHeld) ring_doorbell();
}

/// With the turn: what the thread has reported too late means nothing any more.
void take_report_back(const KernelThread& thread) {
  u32 slot = thread.turn_slot;
  u64 bit = u64{1} << (slot % 64);
  u64 before = __atomic_fetch_and(&board->returned_bits[slot / 64], ~bit, __ATOMIC_SEQ_CST);
  if ((before & bit) != 0) __atomic_sub_fetch(&board->returned, 1, __ATOMIC_SEQ_CST);
}

bool is_granted(const wire::ThreadSlot& slot) {
  return __atomic_load_n(&slot.granted, __ATOMIC_ACQUIRE) != 0;
}

void sleep_until_granted(wire::ThreadSlot& slot) {
  while (!is_granted(slot)) raw_syscall(__NR_futex, arg(&slot.granted), FUTEX_WAIT, 0);
  slot.granted = 0;
}

void begin(Turn& turn) {
  map_board();
  board = reinterpret_cast<wire::TurnBoard*>(kTurnBoardAddress);
  KernelThread& first = kernel_thread(turn.thread());
  free_slots.count = free_slots.fresh = 0;
  first.turn_slot = take_free_slot();
  // An image before this one, whose threads are dead, has left things behind.
  for (u64& bits : board->returned_bits) bits = 0;
  for (wire::FutexCount& count : board->futexes) count = {};
  board->returned = 0;
  board->wanting = 0;
  slot_of(first).granted = 0;
  __atomic_store_n(&board->turn, wire::turn_word(TurnState::kHeld, first.turn_slot), __ATOMIC_SEQ_CST);
  post_running(turn, request_of(TurnRequestKind::kBegin));
}

}  // namespace

bool granting() { return board != nullptr; }

bool has_room_on_board() {
  return board == nullptr || free_slots.count != 0 || free_slots.fresh < wire::kTurnSlots;
}

void enter_board(Turn& turn, Thread& child) {
  if (!events::recording() || process().launch->turns_offset == 0) return;
  if (board == nullptr) begin(turn);
  KernelThread& kernel = kernel_thread(child);
  kernel.turn_slot = take_free_slot();
  slot_of(kernel).granted = 0;
}

void announce_thread(Turn& turn, Thread& child) {
  if (board == nullptr) return;
  TurnRequest request = request_of(TurnRequestKind::kCreate);
  request.other_slot = kernel_thread(child).turn_slot;
  request.other_thread = child.number;
  post_running(turn, request);
  __atomic_add_fetch(&board->wanting, 1, __ATOMIC_RELAXED);
  kernel_thread(turn.thread()).has_created = true;
}

void leave_board(Thread& child) {
  KernelThread& kernel = kernel_thread(child);
  if (board != nullptr && kernel.turn_slot != kNoTurnSlot) give_slot_back(kernel);
}

void forget_board() {
  if (mapped) raw_syscall(__NR_munmap, kTurnBoardAddress, sizeof(wire::TurnBoard));
  board = nullptr;
  mapped = false;
}

bool turn_wanted() {
  return __atomic_load_n(&board->wanting, __ATOMIC_SEQ_CST) != 0 ||
         __atomic_load_n(&board->returned, __ATOMIC_SEQ_CST) != 0;
}

void give_up(Thread& thread, TurnWhy why) {
  KernelThread& self = kernel_thread(thread);
  self.has_created = false;
  self.is_outside = why == TurnWhy::kOutside;
  if (self.is_outside && leave_unwanted(self)) return;
  post(self, self.saved_tick_base, request_of(kind_of(why)));
  u32 slot = self.turn_slot;
  bool ends = why == TurnWhy::kEnds;
  if (ends) give_slot_back(self);
  free_turn(slot, !ends && !self.is_outside);
}

void await_grant(Thread& thread) {
  KernelThread& self = kernel_thread(thread);
  bool outside = self.is_outside;
  self.is_outside = false;
  if (outside && take_back(self)) return;
  if (outside) report(self, wire::SlotReport::kDone);
  sleep_until_granted(slot_of(self));
  if (outside) take_report_back(self);
}

SysResult sleep_at_futex(Thread& thread, const FutexSleep& sleep) {
  KernelThread& self = kernel_thread(thread);
  wire::ThreadSlot& slot = slot_of(self);
  TurnRequest request = request_of(TurnRequestKind::kWait);
  request.address = sleep.address;
  request.mask = sleep.mask;
  post(self, self.saved_tick_base, request);
  wire::FutexCounts(board->futexes).add(sleep.address, 1);
  free_turn(self.turn_slot, false);

  SysResult r;
  do {
    r = signal::raw_syscall_interruptible(thread, __NR_futex, arg(&slot.granted), sleep.operation, 0,
                                          arg(sleep.timeout), 0, FUTEX_BITSET_MATCH_ANY);
  } while (r == 0 && !is_granted(slot));
  bool reports = !is_granted(slot);
  if (reports) report(self, r == -ETIMEDOUT ? wire::SlotReport::kExpired : wire::SlotReport::kInterrupted);
  sleep_until_granted(slot);
  if (reports) take_report_back(self);
  switch (slot.outcome) {
    case wire::TurnOutcome::kTimedOut:
      return -ETIMEDOUT;
    case wire::TurnOutcome::kInterrupted:
      return r;
    case wire::TurnOutcome::kGo:
      return 0;
  }
  return 0;
}

namespace {

/// The server knows the waiters' masks.
u32 ask_for_wakes(Turn& turn, TurnRequest request) {
  wire::ThreadSlot& slot = slot_of(kernel_thread(turn.thread()));
  __atomic_store_n(&slot.answered, 0, __ATOMIC_RELAXED);
  request.expected = wire::kAnswerWanted;
  post_running(turn, request);
  ring_doorbell();
  while (__atomic_load_n(&slot.answered, __ATOMIC_ACQUIRE) == 0)
    raw_syscall(__NR_futex, arg(&slot.answered), FUTEX_WAIT, 0);
  return slot.answer;
}

}  // namespace

u32 wake_at_futex(Turn& turn, GuestAddr address, u32 count, u32 mask) {
  wire::FutexCounts counts(board->futexes);
  auto waiters = static_cast<u32>(counts.at(address));
  if (waiters == 0) return 0;
  TurnRequest request = request_of(TurnRequestKind::kWake);
  request.address = address;
  request.count = count;
  request.mask = mask;
  request.expected = waiters < count ? waiters : count;
  u32 woken = request.expected;
  if (mask == FUTEX_BITSET_MATCH_ANY) {
    post_running(turn, request);
  } else {
    woken = ask_for_wakes(turn, request);
  }
  counts.subtract(address, woken);
  __atomic_add_fetch(&board->wanting, woken, __ATOMIC_RELAXED);
  return woken;
}

u32 requeue_at_futex(Turn& turn, GuestAddr address, u32 count, GuestAddr to, u32 move) {
  wire::FutexCounts counts(board->futexes);
  auto waiters = static_cast<u32>(counts.at(address));
  if (waiters == 0) return 0;
  TurnRequest request = request_of(TurnRequestKind::kRequeue);
  request.address = address;
  request.other_address = to;
  request.count = count;
  request.other_count = move;
  request.expected = waiters < count ? waiters : count;
  u32 left = waiters - request.expected;
  request.other_expected = left < move ? left : move;
  post_running(turn, request);
  counts.subtract(address, request.expected + request.other_expected);
  counts.add(to, request.other_expected);
  __atomic_add_fetch(&board->wanting, request.expected, __ATOMIC_RELAXED);
  return request.expected + request.other_expected;
}

}  // namespace detrec::guest::run
