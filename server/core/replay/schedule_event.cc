#include "server/core/replay/schedule_event.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace detrec::core {

bool ScheduleEvent::consistent(const ScheduleEvent& seen) const {
  return tid == seen.tid && op == seen.op && (!start || start == seen.start) && (!end || end == seen.end);
}

bool ScheduleEvent::matches(const ScheduleEvent& seen) const {
  return consistent(seen) && count == seen.count && (!end_time || end_time == seen.end_time);
}

std::string ScheduleEvent::text() const {
  static constexpr const char* kKinds[] = {"ticks", "rdtsc",  "cpuid",    "syscall",
                                           "other", "signal", "post-exit"};
  static constexpr const char* kPhases[] = {"pre", "polling", "post"};
  std::string out = fmt::format("thread {} {} x{}", tid.value, kKinds[static_cast<int>(op.kind)], count);
  if (op.kind == OperationKind::kSyscall)
    out += fmt::format(" {} {}", op.number, kPhases[static_cast<int>(op.phase)]);
  if (op.kind == OperationKind::kSignal) out += fmt::format(" {}", op.number);
  const char* mark = bootstrap ? "host:" : "";
  if (start) out += fmt::format(" from {}{:#x}", mark, *start);
  if (end) out += fmt::format(" to {}{:#x}", mark, *end);
  if (end_time) out += fmt::format(" at {}", to_string(*end_time));
  return out;
}

std::string ScheduleEvent::serialised() const {
  nlohmann::json j = {{"tid", tid.value},
                      {"op", static_cast<int>(op.kind)},
                      {"number", op.number},
                      {"phase", static_cast<int>(op.phase)},
                      {"count", count}};
  if (start) j["start"] = *start;
  if (end) j["end"] = *end;
  if (end_time) j["end_time"] = end_time->ns;
  return j.dump();
}

std::optional<ScheduleEvent> ScheduleEvent::parse(const std::string& text) {
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("tid") || !j.contains("op")) return std::nullopt;
  const auto number = [&j](const char* key, std::int64_t missing) {
    const auto it = j.find(key);
    return it != j.end() && it->is_number_integer() ? it->get<std::int64_t>() : missing;
  };
  const auto kind = number("op", -1);
  const auto phase = number("phase", 0);
  if (kind < 0 || kind > static_cast<int>(OperationKind::kPostExit) || phase < 0 || phase > 2)
    return std::nullopt;
  ScheduleEvent e;
  e.tid = {static_cast<std::int32_t>(number("tid", 0))};
  e.op = {static_cast<OperationKind>(kind), static_cast<std::int32_t>(number("number", 0)),
          static_cast<SyscallPhase>(phase)};
  if (j.contains("count") && j["count"].is_number_unsigned()) e.count = j["count"].get<std::uint64_t>();
  if (j.contains("start") && j["start"].is_number_unsigned()) e.start = j["start"].get<std::uint64_t>();
  if (j.contains("end") && j["end"].is_number_unsigned()) e.end = j["end"].get<std::uint64_t>();
  if (j.contains("end_time") && j["end_time"].is_number_unsigned())
    e.end_time = LogicalTime{j["end_time"].get<std::uint64_t>()};
  return e;
}

}  // namespace detrec::core
