#include "server/core/report/summary.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace detrec::core {
namespace {

nlohmann::ordered_json stats_json(const TimesliceStats& s) {
  return {{"count", s.count}, {"sum_ns", s.sum_ns}, {"min_ns", s.min_ns}, {"max_ns", s.max_ns}};
}

std::string stats_text(const TimesliceStats& s) {
  return fmt::format("count {}, sum {}, min {}, max {}, mean {}", s.count, to_string(LogicalTime{s.sum_ns}),
                     to_string(LogicalTime{s.min_ns}), to_string(LogicalTime{s.max_ns}),
                     to_string(LogicalTime{s.mean_ns()}));
}

}  // namespace

std::string PreemptionText::comparison() const {
  return count_line + (excerpt.empty() ? "" : "\n" + excerpt);
}

std::string PreemptionText::full() const {
  return destination ? fmt::format("{}\nwritten to {}", count_line, *destination) : comparison();
}

std::string RunSummary::json() const {  // SUM-1
  nlohmann::ordered_json j;
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  j["scheduler_turns"] = scheduler_turns;
  j["events_replayed"] = events_replayed;
  j["events_recorded"] = events_recorded;
  j["events_desynced"] = events_desynced;
  j["desync_text"] = or_null(desync_text);
  j["preemption_text"] =
      preemption ? nlohmann::ordered_json(preemption->full()) : nlohmann::ordered_json(nullptr);
  j["thread_tree"] = thread_tree;
  j["process_count"] = process_count;
  j["thread_count"] = thread_count;
  j["syscall_count"] = or_null(syscall_count);
  j["virtual_elapsed_ns"] = virtual_elapsed.ns;
  j["virtual_final_ns"] = virtual_final.ns;
  j["host_elapsed_ns"] = host_elapsed_ns;
  j["timeslices"] = stats_json(timeslices);
  j["thread_timeslices"] = nlohmann::ordered_json::array();
  for (const auto& [tid, s] : thread_timeslices) j["thread_timeslices"].push_back({tid.value, stats_json(s)});
  j["dispatch"] = or_null(dispatch);
  return j.dump(2) + "\n";
}

std::string RunSummary::body(bool full) const {
  std::string out = fmt::format("threads {}\n{} process{} of {} thread{}", thread_tree, process_count,
                                process_count == 1 ? "" : "es", thread_count, thread_count == 1 ? "" : "s");
  if (syscall_count) out += fmt::format(", {} syscalls", *syscall_count);
  out += fmt::format("\n{} turns, {} events recorded ({} desynchronised)", scheduler_turns, events_recorded,
                     events_desynced);
  if (desync_text) out += "\nmismatches: " + *desync_text;
  if (preemption) out += "\n" + (full ? preemption->full() : preemption->comparison());
  out += fmt::format("\nvirtual time elapsed {}, final {}", to_string(virtual_elapsed),
                     to_string(virtual_final));
  out += "\ntimeslices: " + stats_text(timeslices);
  if (thread_timeslices.size() > 1) {
    for (const auto& [tid, s] : thread_timeslices)
      out += fmt::format("\n  thread {}: {}", tid.value, stats_text(s));
  }
  return out;
}

std::string RunSummary::comparison_text() const { return body(false); }
std::string RunSummary::full_text() const { return "==== detrec run summary ====\n" + body(true) + "\n"; }

void RunSummary::log(LogSink& sink) const {
  sink.line(LogLevel::kInfo, comparison_text());
  std::string host = fmt::format("events replayed {}", events_replayed);
  if (preemption && preemption->destination) host += ", preemptions written to " + *preemption->destination;
  sink.line(LogLevel::kDebug, host);
  sink.line(LogLevel::kDebug, fmt::format("host time elapsed {}ns", host_elapsed_ns));
}

}  // namespace detrec::core
