#include "trace/guest/base/string.h"

extern "C" {

// `rep movsb` and `rep stosb` need no vector registers, which belong to the guest.
void* memcpy(void* to, const void* from, std::size_t n) {
  void* ret = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  return ret;
}

void* memmove(void* to, const void* from, std::size_t n) {
  auto* d = static_cast<unsigned char*>(to);
  auto* s = static_cast<const unsigned char*>(from);
  if (d <= s || d >= s + n) return memcpy(to, from, n);
  while (n-- > 0) {
    d[n] = s[n];
    asm volatile("" : : : "memory");
  }
  return to;
}

void* memset(void* to, int value, std::size_t n) {
  void* ret = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
  return ret;
}

int memcmp(const void* a, const void* b, std::size_t n) {
  auto* x = static_cast<const unsigned char*>(a);
  auto* y = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}

std::size_t strlen(const char* s) {
  std::size_t n = 0;
  while (s[n] != 0) {
    ++n;
    asm volatile("");  // keeps the compiler from turning the loop into a call of itself
  }
  return n;
}

int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

int strncmp(const char* a, const char* b, std::size_t n) {
  for (; n > 0; --n, ++a, ++b) {
    if (*a != *b) return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
    if (*a == 0) break;
  }
  return 0;
}

char* strchr(const char* s, int c) {
  for (;; ++s) {
    if (*s == static_cast<char>(c)) return const_cast<char*>(s);
    if (*s == 0) return nullptr;
  }
}

char* strrchr(const char* s, int c) {
  const char* found = nullptr;
  for (;; ++s) {
    if (*s == static_cast<char>(c)) found = s;
    if (*s == 0) return const_cast<char*>(found);
  }
}

}  // extern "C"

namespace detrec::guest {

std::size_t copy_string(char* to, const char* from, std::size_t size) {
  std::size_t n = strlen(from);
  if (size > 0) {
    std::size_t m = n < size - 1 ? n : size - 1;
    memcpy(to, from, m);
    to[m] = 0;
  }
  return n;
}

bool starts_with(const char* s, const char* prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

}  // namespace detrec::guest
