// Of the engine's base/, what the rules need that the C library does not have.
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace detrec::guest {

std::size_t copy_string(char* to, const char* from, std::size_t size) {
  std::snprintf(to, size, "%s", from);
  return std::strlen(from);
}

bool starts_with(const char* s, const char* prefix) {
  return std::strncmp(s, prefix, std::strlen(prefix)) == 0;
}

__attribute__((format(printf, 3, 4))) std::size_t format(char* to, std::size_t size, const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int n = std::vsnprintf(to, size, fmt, args);
  va_end(args);
  if (size == 0) return 0;
  return static_cast<std::size_t>(n) < size ? static_cast<std::size_t>(n) : size - 1;
}

}  // namespace detrec::guest
