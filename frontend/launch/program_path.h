// Which file a command name stands for.
#pragma once

#include <string>
#include <string_view>

#include "frontend/result.h"

namespace detrec::frontend {

/// $PATH, or what execvp(3) takes when it is unset.
std::string search_path_from_environment();

/// Finds the program as a shell does (POSIX.1-2017 XCU 2.9.1.1, 2.8.2): a name with a slash is the path
/// itself, any other is looked up in `search_path` (':'-separated; an empty element is the current
/// directory), where directories do not count and an executable file wins over earlier ones that are not.
/// Does not look into the file. Errors: kExitNotFound, kExitCannotExecute (a directory, no execute
/// permission, an unreadable path).
Result<std::string> resolve_program(const std::string& name, std::string_view search_path);

}  // namespace detrec::frontend
