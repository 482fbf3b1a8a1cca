// What is said about a trace: by `detrec info` and `detrec ls`.
#pragma once

#include <cstdint>
#include <string>

#include "storage/trace_reader.h"

namespace detrec::frontend {

/// A trace as far as it could be looked at.
struct TraceSummary {
  std::string path;
  std::uint64_t file_bytes = 0;
  std::int32_t used_by =
      0;              ///< a process that has it open: its recorder, or somebody who looks at it; 0: none
  std::string error;  ///< why it could not be read; then the rest is empty
  storage::RecordingTable recording;
  std::uint64_t first_event = 0, last_event = 0;
  storage::TraceStatistics statistics;
};

/// Opens and looks. `with_statistics`: also what takes time in a large trace.
TraceSummary summarize_trace(const std::string& path, bool with_statistics);

/// Several lines, each ending in a newline.
std::string format_info(const TraceSummary& summary);
/// One line for a list, ending in a newline, and the line above the first.
std::string format_list_line(const TraceSummary& summary);
std::string list_heading();
/// A JSON object on one line, without a newline.
std::string format_json(const TraceSummary& summary);

/// "12 KiB".
std::string format_bytes(std::uint64_t bytes);

}  // namespace detrec::frontend
