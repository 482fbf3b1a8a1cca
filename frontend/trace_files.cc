#include "frontend/trace_files.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace detrec::frontend {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSuffix = ".detrec";

/// n of "<stem>-<n>.detrec"; 0: another name.
std::uint64_t number_in(const std::string& name, const std::string& stem) {
  if (!name.starts_with(stem + "-") || !name.ends_with(kSuffix)) return 0;
  const char* begin = name.data() + stem.size() + 1;
  const char* end = name.data() + name.size() - kSuffix.size();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(begin, end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? number : 0;
}

template <typename Visit>
void for_each_entry(Visit&& visit) {
  std::error_code error;
  for (fs::directory_iterator at(".", error), end; !error && at != end; at.increment(error)) visit(*at);
}

}  // namespace

fs::path new_trace_path(const std::string& program) {
  const std::string stem = fs::path(program).filename().string();
  std::uint64_t highest = 0;
  for_each_entry([&](const fs::directory_entry& entry) {
    highest = std::max(highest, number_in(entry.path().filename().string(), stem));
  });
  return stem + "-" + std::to_string(highest + 1) + std::string(kSuffix);
}

std::vector<fs::path> trace_files() {
  struct Found {
    fs::file_time_type time;
    fs::path path;
  };
  std::vector<Found> found;
  for_each_entry([&](const fs::directory_entry& entry) {
    std::error_code error;
    if (entry.path().extension() != kSuffix || !entry.is_regular_file(error)) return;
    const auto time = entry.last_write_time(error);
    if (!error) found.push_back({time, entry.path().filename()});
  });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.time != b.time ? a.time > b.time : a.path > b.path;
  });
  std::vector<fs::path> paths;
  for (Found& f : found) paths.push_back(std::move(f.path));
  return paths;
}

Result<fs::path> newest_trace() {
  auto all = trace_files();
  if (all.empty()) return Error{kExitOwnFailure, "there is no trace in this directory", {}};
  return std::move(all.front());
}

}  // namespace detrec::frontend
