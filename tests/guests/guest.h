// What all guest programs share: checks that say what failed, and one way to end.
//
// A guest prints what it saw (never an address, a pid or a time, so that two runs print the same) and checks
// itself as far as it can: EXPECT notes a failure and goes on, guest_result() is main's return value.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

static int guest_failures;

/// Counts a failure; true for the first ones, which are worth a line.
static inline int guest_note_failure(void) { return guest_failures++ < 12; }

/// Notes a failed expectation by its text and line.
#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition) && guest_note_failure()) {                          \
      printf("FAILED %s:%d: %s\n", __FILE_NAME__, __LINE__, #condition); \
    }                                                                    \
  } while (0)

/// Notes two integers that should be equal; both are shown, so use it only where they are no addresses on
/// success.
#define EXPECT_EQ(actual, expected)                                                                  \
  do {                                                                                               \
    long long actual_value = (long long)(actual), expected_value = (long long)(expected);            \
    if (actual_value != expected_value && guest_note_failure()) {                                    \
      printf("FAILED %s:%d: %s is %lld (0x%llx), expected %lld (0x%llx)\n", __FILE_NAME__, __LINE__, \
             #actual, actual_value, (unsigned long long)actual_value, expected_value,                \
             (unsigned long long)expected_value);                                                    \
    }                                                                                                \
  } while (0)

/// Notes a call that should have failed with `error` (and set errno).
#define EXPECT_ERROR(call, error)                                                                      \
  do {                                                                                                 \
    errno = 0;                                                                                         \
    long long call_result = (long long)(call);                                                         \
    int call_errno = errno;                                                                            \
    if ((call_result != -1 || call_errno != (error)) && guest_note_failure()) {                        \
      printf("FAILED %s:%d: %s gave %lld, errno %d; expected -1, errno %d\n", __FILE_NAME__, __LINE__, \
             #call, call_result, call_errno, (error));                                                 \
    }                                                                                                  \
  } while (0)

/// For set-up without which nothing else makes sense.
#define REQUIRE(condition)                                                                          \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      printf("FAILED %s:%d: required %s (errno %d)\n", __FILE_NAME__, __LINE__, #condition, errno); \
      fflush(stdout);                                                                               \
      _exit(1);                                                                                     \
    }                                                                                               \
  } while (0)

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

static inline int guest_result(void) {
  if (guest_failures == 0) {
    printf("ok\n");
  } else {
    printf("FAILED %d expectations\n", guest_failures);
  }
  fflush(stdout);
  return guest_failures == 0 ? 0 : 1;
}

/// A system call by the bare instruction; returns -errno on failure.
static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/// The path of `name` in the folder this program lies in.
static inline const char* beside_me(const char* name) {
  static char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 256);
  REQUIRE(length > 0);
  path[length] = 0;
  char* slash = strrchr(path, '/');
  REQUIRE(slash != NULL);
  snprintf(slash + 1, 256, "%s", name);
  return path;
}

#ifdef __cplusplus
}
#endif
