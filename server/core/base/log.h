// Where the core's lines go. The core itself writes nowhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace detrec::core {

/// kInfo and kWarning lines are deterministic: equal runs give equal lines. kDebug holds host bookkeeping.
enum class LogLevel { kDebug, kInfo, kWarning };

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void line(LogLevel level, std::string_view text) = 0;
};

/// Keeps the lines.
class LogBuffer : public LogSink {
 public:
  void line(LogLevel level, std::string_view text) override { lines.emplace_back(level, std::string(text)); }
  int count(std::string_view part) const {
    int found = 0;
    for (const auto& [level, text] : lines) found += text.find(part) != std::string::npos;
    return found;
  }
  std::vector<std::pair<LogLevel, std::string>> lines;
};

}  // namespace detrec::core
