// `detrec replay`: a recorded run, again.
#pragma once

#include <cstdint>
#include <string>

#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec replay` was asked to do.
struct ReplayOptions {
  std::string trace;  ///< path; empty: the newest in the directory
  bool autopilot = false;
  bool gdb = false;    ///< start gdb
  bool stdio = false;  ///< serve gdb on stdin and stdout
  std::uint16_t port = 1234;
  std::string listen = "127.0.0.1";
  bool no_translation_cache = false;
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class ReplayCommand {
 public:
  explicit ReplayCommand(CLI::App& parent);
  Result<ReplayOptions> finish();

 private:
  ReplayOptions options_;
};

/// Replays and returns detrec's exit status.
int execute(const ReplayOptions& options);

}  // namespace detrec::frontend
