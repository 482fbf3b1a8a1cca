// The few C string functions that compilers and the engine need; no libc is linked.
#pragma once

#include "trace/guest/base/types.h"

extern "C" {
void* memcpy(void* to, const void* from, std::size_t n);
void* memmove(void* to, const void* from, std::size_t n);
void* memset(void* to, int value, std::size_t n);
int memcmp(const void* a, const void* b, std::size_t n);
std::size_t strlen(const char* s);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, std::size_t n);
char* strchr(const char* s, int c);
char* strrchr(const char* s, int c);
}

namespace detrec::guest {
/// Copies at most size-1 characters and always terminates; returns the length of `from`.
std::size_t copy_string(char* to, const char* from, std::size_t size);
bool starts_with(const char* s, const char* prefix);
}  // namespace detrec::guest
