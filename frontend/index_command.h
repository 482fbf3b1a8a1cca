// `detrec index`: fills the tables that are made from the events of a trace.
#pragma once

#include <string>

#include "frontend/result.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec index` was asked to do.
struct IndexOptions {
  std::string trace;  ///< path; empty: the newest in the directory
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class IndexCommand {
 public:
  explicit IndexCommand(CLI::App& parent);
  Result<IndexOptions> finish();

 private:
  IndexOptions options_;
};

/// Fills the tables and returns detrec's exit status.
int execute(const IndexOptions& options);

}  // namespace detrec::frontend
