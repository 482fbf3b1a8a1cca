// A value or the reason why there is none.
#pragma once

#include <string>

#include "trace/event/result.h"

namespace detrec::frontend {

/// Exit statuses of detrec itself; every other status is the guest's.
inline constexpr int kExitOwnFailure = 125;     ///< usage, I/O, engine failure
inline constexpr int kExitCannotExecute = 126;  ///< the program exists and cannot be run
inline constexpr int kExitNotFound = 127;       ///< the program does not exist

/// An error somebody can act on. `code` is the exit status it leads to; `context` names the thing concerned
/// (an option, a path) and may be empty.
struct Error {
  int code = kExitOwnFailure;
  std::string message;
  std::string context;
};

/// The error as one line, without the leading "detrec: ".
inline std::string to_string(const Error& error) {
  return error.context.empty() ? error.message : error.context + ": " + error.message;
}

template <typename T>
using Result = event::BasicResult<T, Error>;

}  // namespace detrec::frontend
