// Robust lists at a group exit or a fatal signal (ROBUST-1 .. ROBUST-13). Guest side: the engine collects the
// futex words whose owners will die and hands them over here; no kernel walks a list.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "server/core/messages.h"

namespace detrec::core {

class RobustBatch {
 public:
  struct Reason {
    bool group_exit = true;
    Signal signal;  ///< when killed
    /// ROBUST-2
    bool matches(WaitStatus status) const { return group_exit ? status.is_exit() : status.killed_by(signal); }
  };
  /// An owner without wakes is a member all the same.
  RobustBatch(Reason reason, std::map<ThreadId, std::vector<FutexKey>> wakes);

  bool member(ThreadId tid) const { return wakes_.contains(tid); }
  /// Whether `tid`, which exited with `status`, has to send its empty RobustWakes message first (ROBUST-3).
  bool sends_empty(ThreadId tid, WaitStatus status) const;
  /// The empty message was answered; only acceptance counts (ROBUST-4). The last member gets the one wake
  /// message.
  std::optional<RobustWakes> answered(ThreadId tid, bool accepted, LogicalTime clock);
  bool released() const { return released_; }

 private:
  Reason reason_;
  std::map<ThreadId, std::vector<FutexKey>> wakes_;
  std::set<ThreadId> completed_;
  LogicalTime latest_;
  bool released_ = false;
};

/// The exit callback of one owner (ROBUST-8, ROBUST-9): empty message, wake message of the last member,
/// deregistration; who is outside the batch only deregisters. `send` delivers a request at once and tells
/// whether it was accepted.
template <class Send>
void run_exit_callback(RobustBatch* batch, ThreadId tid, WaitStatus status, LogicalTime clock, Send&& send,
                       const Deregister& leaving) {
  if (batch != nullptr && batch->sends_empty(tid, status)) {
    const bool accepted = send(Request(RobustWakes{}));
    if (auto wakes = batch->answered(tid, accepted, clock)) send(Request(*wakes));
  }
  send(Request(leaving));
}

/// The registered list head of a thread (ROBUST-13).
class RobustHead {
 public:
  void set(std::uint64_t head) { head_ = head; }
  std::uint64_t head() const { return head_; }
  void begin_exec() { saved_ = std::exchange(head_, 0); }  ///< the candidate image starts without list
  void exec_failed() { head_ = saved_; }

 private:
  std::uint64_t head_ = 0;
  std::uint64_t saved_ = 0;
};

}  // namespace detrec::core
