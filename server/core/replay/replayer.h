// Guides a run by a recorded list of schedule events (TRACE-10 .. TRACE-22).
#pragma once

#include <map>
#include <vector>

#include "server/core/replay/schedule_event.h"

namespace detrec::core {

enum class ReplayStop : std::uint8_t {
  kNever,   ///< mismatches are counted
  kOnHard,  ///< "die on desync"
  kOnAny,   ///< --strict, and the replay of a recording
};

struct MismatchCounts {
  std::uint64_t soft = 0, hard = 0, at_switch = 0, deletion_resyncs = 0, insertion_resyncs = 0,
                fast_forwards = 0;
};

class Replayer {
 public:
  enum class Match : std::uint8_t { kMatch, kSoft, kHard };
  enum class Switch : std::uint8_t { kNone, kImmediate, kAfterBlock };
  struct Advice {
    Match match = Match::kMatch;
    Switch change = Switch::kNone;
    ThreadId next;                     ///< of a switch
    std::optional<LogicalTime> slice;  ///< TRACE-20, for the thread that goes on
    bool stop = false;
    std::optional<std::uint64_t> recorded;  ///< number of the recorded event that was consumed
    bool guided = true;                     ///< false: the expected events are exhausted
  };
  Replayer(std::vector<ScheduleEvent> expected, ReplayStop stop, bool stop_when_exhausted)
      : expected_(std::move(expected)), stop_(stop), stop_when_exhausted_(stop_when_exhausted) {}

  Advice observe(const ScheduleEvent& seen);
  /// Slice of the batch that comes next, if its end is worth a preemption (TRACE-20).
  std::optional<LogicalTime> next_slice() const;
  const ScheduleEvent* next() const { return cursor_ < expected_.size() ? &expected_[cursor_] : nullptr; }
  std::uint64_t consumed() const { return consumed_; }
  bool last_mismatched() const { return last_mismatched_; }
  const MismatchCounts& total() const { return total_; }
  const MismatchCounts& of(ThreadId tid) { return per_thread_[tid]; }
  std::uint64_t desynced() const { return total_.soft + total_.hard; }
  std::string describe() const;  ///< TRACE-27

 private:
  std::vector<ScheduleEvent> expected_;
  ReplayStop stop_;
  bool stop_when_exhausted_;
  std::size_t cursor_ = 0;
  std::uint64_t consumed_ = 0;
  bool last_mismatched_ = false;
  MismatchCounts total_;
  std::map<ThreadId, MismatchCounts> per_thread_;
};

}  // namespace detrec::core
