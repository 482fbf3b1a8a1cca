// Grants turns to the threads of a recorded process: what they say on the board (trace/wire/turns.h) becomes
// messages to the deterministic core, its grants become words in their slots.
//
// No I/O and no waiting: serve() does what there is to do now. One thread. TurnServer calls it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/core/core.h"
#include "server/core/helper/guest_thread.h"
#include "trace/wire/futex_counts.h"
#include "trace/wire/turns.h"

namespace detrec::server {

class TurnScheduler {
 public:
  /// `wake(word)` wakes whoever sleeps on a word of the board (man 2 futex).
  TurnScheduler(wire::TurnBoard& board, void (*wake)(std::uint32_t& word))
      : board_(board), counts_(board.futexes), wake_(wake) {}

  /// Consumes all requests, and grants the next turn if it is free and somebody can run.
  void serve();
  /// True when serve() would have something to do.
  bool has_work() const;
  /// Why nothing is granted any more: the board's content makes no sense. A guest can write it.
  const std::optional<std::string>& damage() const { return damage_; }

 private:
  struct Guest {
    enum class State { kRuns, kQueued, kOutside, kWaits };
    core::GuestThread thread;
    State state = State::kQueued;
    core::CallId awaited = 0;      ///< whose reply is its next turn
    std::uint64_t operations = 0;  ///< outside, so far
    std::uint64_t ticks = 0;
    bool continues = false;  ///< it has created a thread and will end this turn with kContinue
  };

  void refuse(std::string what);
  bool take_requests();
  void apply(const wire::TurnRequest& request);
  void begin(const wire::TurnRequest& request);
  void create(Guest& creator, const wire::TurnRequest& request);
  void wake_waiters(Guest& guest, const wire::TurnRequest& request);
  void requeue(Guest& guest, const wire::TurnRequest& request);
  void end_turn(Guest& guest, const wire::TurnRequest& request);
  void wait(Guest& guest, const wire::TurnRequest& request);
  void go_outside(Guest& guest);
  void end(Guest& guest, const wire::TurnRequest& request);

  void take_reports();
  void apply_report(std::uint32_t slot);
  bool take_left_turn(std::uint32_t word);
  void grant_next();
  void grant(Guest& guest, const core::Reply& reply);

  Guest* guest_at(std::uint32_t slot);
  core::CallId send(Guest& guest, core::Request request);
  /// The answers that are due; the last one of the type A.
  template <class A>
  std::optional<A> answer_to(core::CallId call);
  core::FutexKey key_of(std::uint64_t address) const;

  wire::TurnBoard& board_;
  wire::FutexCounts counts_;
  void (*wake_)(std::uint32_t& word);
  std::unique_ptr<core::Core> core_;  ///< of the image; each begins anew
  core::ProcessId process_;
  core::AddressSpaceId space_;
  std::unordered_map<std::uint32_t, Guest> guests_;  ///< by slot
  std::unordered_map<core::ThreadId, std::uint32_t> slots_;
  std::uint32_t running_ = 0;      ///< slot of the holder
  std::uint32_t last_thread_ = 0;  ///< numbers count up
  std::uint64_t taken_ = 0;
  std::optional<std::string> damage_;
};

}  // namespace detrec::server
