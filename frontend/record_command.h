// `detrec record`: one program, recorded into a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/numbers.h"
#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec record` was asked to do.
struct RecordOptions {
  std::string trace;  ///< path; empty: <program>-<n>.detrec
  bool quiet = false;
  std::string cpu = "host";  ///< "host", "x86-64-v2", "x86-64-v3" or "x86-64-v4"
  std::optional<Slice> slice;
  bool no_translation_cache = false;
  std::vector<std::string> guest_command;  ///< the program and its arguments; never empty
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class RecordCommand {
 public:
  explicit RecordCommand(CLI::App& parent);

  /// Needs a successful parse. An unreadable number or a missing program is an error.
  Result<RecordOptions> finish(std::vector<std::string> guest_command);

 private:
  std::string trace_;
  bool quiet_ = false;
  std::string cpu_ = "host";
  std::string slice_;
  bool no_translation_cache_ = false;
};

/// Records the program and returns detrec's exit status. Writes to stderr only; stdout belongs to the guest.
int execute(const RecordOptions& options);

}  // namespace detrec::frontend
