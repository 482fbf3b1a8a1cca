#include "frontend/complain.h"

#include <fmt/format.h>

#include <cstdio>

namespace detrec::frontend {

int complain(const Error& error) {
  std::fputs(fmt::format("detrec: {}\n", to_string(error)).c_str(), stderr);
  return error.code;
}

int complain(const event::Error& error) { return complain(Error{kExitOwnFailure, to_string(error), {}}); }

}  // namespace detrec::frontend
