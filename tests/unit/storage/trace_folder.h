// A folder for the traces of a test, traces to put there, and SQL on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/trace_reader.h"
#include "storage/trace_writer.h"
#include "trace/event/record_builder.h"

namespace detrec::storage::testing {

class TraceFolder {
 public:
  TraceFolder();
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  std::filesystem::path path(std::string_view name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

RecordingInfo sample_info();

/// Adds every record of `records`, 1 ms apart from `start_ns` on; fails the test when one is refused.
void add_all(TraceWriter& writer, std::span<const std::byte> records,
             std::uint64_t start_ns = 1'700'000'000'000'000'000);

/// A finished trace with the given records.
void write_trace(const std::filesystem::path& path, std::span<const std::byte> records,
                 WriterOptions options = {});

/// All records of a trace from an event on; fails the test on errors.
std::vector<std::byte> read_records(const std::filesystem::path& path, EventNumber from = {1});

/// Rows of a query as "a|b|c", as the sqlite3 shell prints them; the error message as the only row.
std::vector<std::string> query(const std::filesystem::path& path, const std::string& sql);

std::vector<std::byte> bytes_of_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

bool same(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace detrec::storage::testing
