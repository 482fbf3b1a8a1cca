// How detrec says that something went wrong.
#pragma once

#include "frontend/result.h"
#include "trace/event/result.h"

namespace detrec::frontend {

/// Prints "detrec: ..." on stderr; returns the exit status that the error leads to.
int complain(const Error& error);
/// The same for an error from below the command line: kExitOwnFailure.
int complain(const event::Error& error);

}  // namespace detrec::frontend
