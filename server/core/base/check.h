// Fatal checks: a broken invariant of the core ends the run with a diagnostic (specification, section 0
// "fatal").
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace detrec::core {

/// Prints "detrec core: <what>" on standard error and aborts. Never turned into a guest-visible result.
[[noreturn]] void fatal_text(std::string_view what);

template <class... Args>
[[noreturn]] void fatal(fmt::format_string<Args...> format, Args&&... args) {
  fatal_text(fmt::format(format, std::forward<Args>(args)...));
}

/// Stays on in release builds.
inline void check(bool holds, std::string_view what) {
  if (!holds) [[unlikely]]
    fatal_text(what);
}

}  // namespace detrec::core
