// From argv to what the user asked for. Pure: nothing is printed, nothing is started.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "frontend/dump_command.h"
#include "frontend/index_command.h"
#include "frontend/info_command.h"
#include "frontend/ls_command.h"
#include "frontend/record_command.h"
#include "frontend/replay_command.h"
#include "frontend/result.h"
#include "frontend/run_command.h"

namespace detrec::frontend {

/// `--help` and `--version`: text for stdout, status 0.
struct PrintText {
  std::string text;
};

using Invocation = std::variant<PrintText, RunOptions, RecordOptions, ReplayOptions, InfoOptions, LsOptions,
                                DumpOptions, IndexOptions>;

/// Parses the words after argv[0]. Options of detrec end at the first word that is not one (the guest
/// program) or at
/// "--"; everything after that belongs to the guest, whatever it looks like. Errors carry kExitOwnFailure.
Result<Invocation> parse_command_line(const std::vector<std::string>& words);

}  // namespace detrec::frontend
