#include "frontend/report_trace.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "trace/event/render/render.h"

namespace detrec::frontend {
namespace {

constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
constexpr std::size_t kMaxText = 4096;

/// Text out of a trace, safe for a terminal.
std::string safe(std::string_view text) {
  const std::string quoted = event::quoted(std::as_bytes(std::span(text.data(), text.size())), kMaxText);
  const bool plain = quoted.size() == text.size() + 2 && text.find(' ') == std::string_view::npos;
  return plain && !text.empty() ? std::string(text) : quoted;
}

std::string command_text(const storage::RecordingTable& recording) {
  std::string text;
  for (const std::string& word : recording.command()) text += (text.empty() ? "" : " ") + safe(word);
  return text;
}

std::string time_text(std::uint64_t ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(ns / kNanosPerSecond)));
}

std::string duration_text(const storage::RecordingTable& recording) {
  const std::uint64_t begin = recording.number("started_ns");
  const std::uint64_t end = recording.number("ended_ns");
  if (end < begin) return "unknown";
  return fmt::format("{:.3f} s", static_cast<double>(end - begin) / 1e9);
}

std::string end_text(const TraceSummary& summary) {
  const auto& recording = summary.recording;
  if (!recording.complete() && summary.used_by != 0)
    return fmt::format("not yet: being recorded, or cut off and open in another process (process {})",
                       summary.used_by);
  if (!recording.complete())
    return "cut off (the recorder was ended or could not write); readable to the last event";
  return fmt::format("{}, status {}", safe(recording.text("end_reason")), recording.number("exit_status"));
}

std::string_view state_text(const TraceSummary& summary) {
  if (summary.recording.complete()) return "complete";
  return summary.used_by != 0 ? "open" : "cut off";
}

std::string line(std::string_view name, std::string_view value) {
  return fmt::format("{:<11}{}\n", name, value);
}

std::string kind_table(const storage::TraceStatistics& statistics) {
  std::string text =
      fmt::format("\n{:<12}{:>12}{:>16}{:>16}\n", "kind", "records", "coded bytes", "payload bytes");
  for (const auto& kind : statistics.kinds) {
    text += fmt::format("{:<12}{:>12}{:>16}{:>16}\n", safe(kind.name), kind.records, kind.coded_bytes,
                        kind.payload_bytes);
  }
  return text;
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

TraceSummary summarize_trace(const std::string& path, bool with_statistics) {
  TraceSummary summary;
  summary.path = path;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  if (!ignored) summary.file_bytes = size;
  summary.used_by = storage::process_using(path);
  const auto reader = storage::TraceReader::open(path);
  if (!reader) {
    summary.error = to_string(reader.error());
    return summary;
  }
  summary.recording = reader.value()->recording();
  summary.first_event = reader.value()->first_event().value;
  summary.last_event = reader.value()->last_event().value;
  if (!with_statistics) return summary;
  auto statistics = reader.value()->statistics();
  if (statistics) {
    summary.statistics = std::move(statistics.value());
  } else {
    summary.error = to_string(statistics.error());
  }
  return summary;
}

std::string format_info(const TraceSummary& summary) {
  const auto& recording = summary.recording;
  const auto& statistics = summary.statistics;
  const bool indexed = recording.text("syscall_rows") == "complete";
  std::string text;
  text += line("trace", fmt::format("{} ({})", summary.path, format_bytes(summary.file_bytes)));
  text += line("command", command_text(recording));
  text += line("directory", safe(recording.text("directory")));
  text += line("host", fmt::format("{}, {}", safe(recording.text("host")), safe(recording.text("kernel"))));
  text += line("cpu model", safe(recording.text("cpu_model")));
  text += line("recorded", fmt::format("{} UTC, {}, by detrec {}", time_text(recording.number("started_ns")),
                                       duration_text(recording), safe(recording.text("detrec_version"))));
  text += line("ended", end_text(summary));
  text += line("events", fmt::format("{} to {}", summary.first_event, summary.last_event));
  text += line("ticks", recording.complete() ? fmt::format("{}", recording.number("ticks")) : "unknown");
  text += line("processes", fmt::format("{}, with {} threads; {} signals", statistics.processes,
                                        statistics.threads, statistics.signals));
  text += line("chunks", fmt::format("{} ({})", statistics.chunks, format_bytes(statistics.chunk_bytes)));
  text += line("captures",
               fmt::format("{} of {} files ({}, stored in {})", statistics.captures, statistics.files,
                           format_bytes(statistics.file_bytes), format_bytes(statistics.file_stored_bytes)));
  text += line("SQL tables", indexed ? "all filled" : "syscall is empty: detrec index fills it");
  return text + kind_table(statistics);
}

std::string list_heading() {
  return fmt::format("{:<19}  {:>10}  {:>12}  {:<9}  {}\n", "recorded (UTC)", "size", "events", "state",
                     "trace: command");
}

std::string format_list_line(const TraceSummary& summary) {
  const std::string size = format_bytes(summary.file_bytes);
  if (!summary.error.empty())
    return fmt::format("{:<19}  {:>10}  {:>12}  {:<9}  {}\n", "-", size, "-", "damaged", summary.error);
  return fmt::format("{:<19}  {:>10}  {:>12}  {:<9}  {}: {}\n",
                     time_text(summary.recording.number("started_ns")), size, summary.last_event,
                     state_text(summary), safe(summary.path), command_text(summary.recording));
}

std::string format_json(const TraceSummary& summary) {
  using Json = nlohmann::ordered_json;
  Json json = {{"path", summary.path}, {"file_bytes", summary.file_bytes}};
  if (!summary.error.empty()) json["error"] = summary.error;
  json["complete"] = summary.recording.complete();
  if (summary.used_by != 0) json["used_by"] = summary.used_by;
  json["command"] = summary.recording.command();
  json["first_event"] = summary.first_event;
  json["last_event"] = summary.last_event;
  for (const auto& [key, value] : summary.recording.all()) json["recording"][key] = value;
  const auto& statistics = summary.statistics;
  if (!statistics.kinds.empty()) {
    json["statistics"] = {{"processes", statistics.processes},
                          {"threads", statistics.threads},
                          {"signals", statistics.signals},
                          {"chunks", statistics.chunks},
                          {"chunk_bytes", statistics.chunk_bytes},
                          {"captures", statistics.captures},
                          {"files", statistics.files},
                          {"file_bytes", statistics.file_bytes},
                          {"file_stored_bytes", statistics.file_stored_bytes}};
    for (const auto& kind : statistics.kinds) {
      json["statistics"]["kinds"].push_back({{"name", kind.name},
                                             {"records", kind.records},
                                             {"coded_bytes", kind.coded_bytes},
                                             {"payload_bytes", kind.payload_bytes}});
    }
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace detrec::frontend
