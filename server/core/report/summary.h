// The run summary and its views (SUM).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/base/log.h"
#include "server/core/report/timeslices.h"
#include "server/core/sched/request.h"

namespace detrec::core {

struct PreemptionText {
  std::string count_line;                  ///< counts changes and epochs
  std::string excerpt;                     ///< without destination: at most 200 characters of the record
  std::optional<std::string> destination;  ///< file name
  std::string comparison() const;
  std::string full() const;
  friend bool operator==(const PreemptionText&, const PreemptionText&) = default;
};

struct RunSummary {
  std::uint64_t scheduler_turns = 0;
  std::uint64_t events_replayed = 0;
  std::uint64_t events_recorded = 0;
  std::uint64_t events_desynced = 0;
  std::optional<std::string> desync_text;
  std::optional<PreemptionText> preemption;
  std::string thread_tree;
  std::uint64_t process_count = 0;
  std::uint64_t thread_count = 0;
  std::optional<std::uint64_t> syscall_count;
  LogicalTime virtual_elapsed;
  LogicalTime virtual_final;
  std::uint64_t host_elapsed_ns = 0;
  TimesliceStats timeslices;
  std::vector<std::pair<ThreadId, TimesliceStats>> thread_timeslices;
  std::optional<std::string> dispatch;  ///< backend statistics: JSON only (SUM-15)

  std::string json() const;             ///< SUM-2, one final newline, SUM-3, SUM-5
  std::string comparison_text() const;  ///< SUM-4: no host fact, no number of replayed events
  std::string full_text() const;        ///< SUM-7
  /// SUM-4, SUM-6: the comparison view as information, then host bookkeeping as debug records.
  void log(LogSink& sink) const;

 private:
  std::string body(bool full) const;
};

}  // namespace detrec::core
