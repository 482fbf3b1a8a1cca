#include "frontend/trace_command.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "frontend/complain.h"
#include "frontend/trace_files.h"

namespace detrec::frontend {

void add_trace_argument(CLI::App& command, std::string& to) {
  command.add_option("TRACE", to, "The trace; default: the newest in this directory")->type_name("");
}

Result<std::string> trace_or_newest(const std::string& named) {
  if (!named.empty()) return named;
  const auto newest = newest_trace();
  if (!newest) return newest.error();
  return newest.value().string();
}

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::ferror(stdout) == 0 && std::fflush(stdout) == 0) return 0;
  return complain({kExitOwnFailure, std::strerror(errno), "standard output"});
}

}  // namespace detrec::frontend
