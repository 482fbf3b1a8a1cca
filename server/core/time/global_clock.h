// The run-wide clock: every piece of guest work once, inherited history never (TIME-14 .. TIME-20).
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "server/core/base/ids.h"
#include "server/core/time/thread_clock.h"

namespace detrec::core {

class GlobalClock {
 public:
  struct Entry {
    LogicalTime elapsed;
    LogicalTime inherited;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  explicit GlobalClock(LogicalTime origin = kDefaultEpoch, Factor multiplier = {})
      : origin_(origin), turn_cost_{multiplier.scale(kNanosPerTurn)} {}

  LogicalTime origin() const { return origin_; }
  LogicalTime extra() const { return extra_; }
  LogicalTime value() const { return origin_ + work_ + extra_; }
  bool contains(ThreadId tid) const { return entries_.contains(tid); }
  /// The thread's absolute time; a thread that never reported is fatal (TIME-18).
  LogicalTime time_of(ThreadId tid) const;
  std::optional<Entry> entry(ThreadId tid) const;

  /// Accounts a report (TIME-15 .. TIME-17). Going backwards is fatal and names the thread.
  void report(ThreadId tid, LogicalTime value, LogicalTime inherited);
  void report(ThreadId tid, const ThreadClock& clock) { report(tid, clock.value(), clock.inherited()); }
  void charge_turn() { extra_ += turn_cost_; }
  void add_extra(LogicalTime d) { extra_ += d; }
  /// Moves the component of an exec's caller to its leader (TIME-20).
  void move_component(ThreadId worker, ThreadId leader);

  friend bool operator==(const GlobalClock&, const GlobalClock&) = default;

 private:
  LogicalTime origin_;
  LogicalTime turn_cost_;
  LogicalTime work_;
  LogicalTime extra_;
  std::unordered_map<ThreadId, Entry> entries_;
};

}  // namespace detrec::core
