// Messages to the user's stderr, panics and checks. Formatting is a small subset of printf:
// %s %c %d %u %x (32 bit), %ld %lu %lx (64 bit), %p (a pointer).
#pragma once

#include <cstdarg>

#include "trace/guest/base/types.h"

namespace detrec::guest {

/// Formats into `to` (always terminated); returns the length written.
std::size_t format(char* to, std::size_t size, const char* fmt, ...) __attribute__((format(printf, 3, 4)));
std::size_t format_v(char* to, std::size_t size, const char* fmt, va_list args);

/// One line "detrec: ..." on descriptor 2.
void warn(const char* fmt, ...) __attribute__((format(printf, 1, 2)));

/// Prints file, line, message and guest state, records the failure in the launch page and ends the process
/// group of threads with status 125.
[[noreturn]] void panic(const char* file, int line, const char* fmt, ...)
    __attribute__((format(printf, 3, 4)));

}  // namespace detrec::guest

#define DETREC_PANIC(...) ::detrec::guest::panic(__FILE__, __LINE__, __VA_ARGS__)
#define DETREC_CHECK(cond)                                \
  do {                                                    \
    if (!(cond)) DETREC_PANIC("check failed: %s", #cond); \
  } while (0)
