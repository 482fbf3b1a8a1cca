// `detrec dump`: the events of a trace as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "frontend/result.h"
#include "trace/event/position.h"

namespace CLI {
class App;
}

namespace detrec::frontend {

/// What `detrec dump` was asked to do.
struct DumpOptions {
  std::string trace;                   ///< path; empty: the newest in the directory
  event::Position from{{1}, {}, {}};   ///< its event is the first one shown
  std::optional<std::uint64_t> limit;  ///< events
  bool json = false;
};

/// Declares the subcommand on `parent`; after a parse, finish() turns what CLI11 collected into options.
class DumpCommand {
 public:
  explicit DumpCommand(CLI::App& parent);
  Result<DumpOptions> finish();

 private:
  DumpOptions options_;
  std::string from_;
  std::string limit_;
};

/// Prints and returns detrec's exit status.
int execute(const DumpOptions& options);

}  // namespace detrec::frontend
