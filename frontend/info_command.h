// `detrec info`: what a trace is a recording of.
#pragma once

#include <string>

#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec info` was asked to do.
struct InfoOptions {
  std::string trace;  ///< path; empty: the newest in the directory
  bool json = false;
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class InfoCommand {
 public:
  explicit InfoCommand(CLI::App& parent);
  Result<InfoOptions> finish();

 private:
  InfoOptions options_;
};

/// Prints and returns detrec's exit status.
int execute(const InfoOptions& options);

}  // namespace detrec::frontend
