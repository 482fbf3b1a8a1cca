// `detrec run`: one program under the engine, nothing recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/numbers.h"
#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec run` was asked to do.
struct RunOptions {
  bool engine_only = false;
  bool print_ticks = false;
  bool print_stats = false;
  std::optional<StopPoint> stop_at;
  std::optional<Slice> slice;
  std::uint64_t translate_limit = 0;  ///< blocks; 0: no limit
  std::uint32_t trace_level = 0;      ///< 0..3
  bool no_translation_cache = false;
  std::vector<std::string> guest_command;  ///< the program and its arguments; never empty
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class RunCommand {
 public:
  explicit RunCommand(CLI::App& parent);

  /// Needs a successful parse. An unreadable number or a missing program is an error.
  Result<RunOptions> finish(std::vector<std::string> guest_command);

 private:
  bool engine_only_ = false;
  bool print_ticks_ = false;
  bool print_stats_ = false;
  bool no_translation_cache_ = false;
  std::string stop_at_;
  std::string slice_;
  std::string translate_limit_;
  std::string trace_level_;
};

/// Runs the program and returns detrec's exit status. Writes to stderr only; stdout belongs to the guest.
int execute(const RunOptions& options);

}  // namespace detrec::frontend
