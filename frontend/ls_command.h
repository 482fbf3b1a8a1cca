// `detrec ls`: the traces in this directory.
#pragma once

#include <string>

#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec ls` was asked to do.
struct LsOptions {
  bool json = false;
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class LsCommand {
 public:
  explicit LsCommand(CLI::App& parent);
  Result<LsOptions> finish();

 private:
  LsOptions options_;
};

/// Prints and returns detrec's exit status.
int execute(const LsOptions& options);

}  // namespace detrec::frontend
