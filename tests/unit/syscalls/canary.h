// Finds out which bytes of memory a real system call writes.
//
// A call is made twice with its buffers in an arena that is filled with 0x00 the first time and with 0xff the
// second: a byte that differs from its filling after either call has been written, and one that differs after
// neither has not. The rest of the arena shows writes beyond the buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "trace/syscalls/memory.h"

namespace detrec::syscalls::test {

/// Memory for the arguments of one call, at the same addresses in each attempt.
class Arena {
 public:
  static constexpr std::size_t kSize = 64 * 1024;

  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Forgets all buffers and fills everything with `filling`.
  void reset(std::uint8_t filling);

  /// A buffer that keeps the filling.
  std::uint8_t* out(std::size_t size);
  /// A buffer with the content of `value`.
  template <typename T>
  T* in(const T& value) {
    auto* place = reinterpret_cast<T*>(out(sizeof(T)));
    std::memcpy(place, &value, sizeof(T));
    mark_known(reinterpret_cast<std::uint8_t*>(place), sizeof(T));
    return place;
  }
  const char* text(const std::string& value);
  /// Sets bytes of a buffer before the call.
  template <typename T>
  void set(void* place, const T& value) {
    std::memcpy(place, &value, sizeof(T));
    mark_known(static_cast<std::uint8_t*>(place), sizeof(T));
  }

  /// Says that the kernel copies these bytes and writes them back: they keep the filling, and it cannot be
  /// seen whether they were written.
  void hold(const void* place, std::size_t size);

  const std::uint8_t* data() const { return memory_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_); }
  bool contains(std::uint64_t address, std::uint64_t size) const {
    return address >= this->address() && size <= kSize && address - this->address() <= kSize - size;
  }
  /// True for bytes that a case has set: whether the same value was written again cannot be seen.
  bool known(std::size_t offset) const { return known_[offset]; }

 private:
  void mark_known(const std::uint8_t* place, std::size_t size);

  std::uint8_t* memory_ = nullptr;
  std::size_t used_ = 0;
  std::vector<bool> known_;
};

/// A call that is ready to be made.
struct Call {
  long nr = -1;
  std::uint64_t args[kMaxArgs] = {};
  std::int64_t expect = 0;         ///< 0: any result >= 0; else exactly this -errno or count
  std::function<void()> clean_up;  ///< called after the call and its evaluation
  std::uint64_t external_count = 0;
};

template <typename T>
std::uint64_t word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <typename... Args>
Call call(long nr, Args... args) {
  Call result;
  result.nr = nr;
  std::size_t next = 0;
  ((result.args[next++] = word(args)), ...);
  return result;
}

/// One case: how to prepare the call.
struct Case {
  std::string name;
  std::function<Call(Arena&)> prepare;
  /// Why bytes may stay unwritten inside what the table says; empty: the table must be exact.
  std::string slack;
  /// Errors that mean that this machine or kernel has no such thing; the case is skipped then, visibly.
  std::vector<int> lacking;
};

inline void PrintTo(const Case& one, std::ostream* stream) { *stream << one.name; }

/// What the comparison of the two attempts found.
struct Finding {
  std::int64_t result = 0;
  std::vector<std::string> errors;
  std::size_t written = 0;  ///< bytes that were seen to be written
  std::size_t said = 0;     ///< bytes that the table says were written
  int lacks = 0;            ///< errno that means "not available here"
};

/// Makes a case's call twice and compares with the table. `described_as` (for tests of this test) takes the
/// ranges of another call than the one that is made.
Finding compare_with_table(const Case& one, int described_as = -1);

/// A raw system call: the kernel's result, -errno for errors.
std::int64_t raw_syscall(long nr, const std::uint64_t (&args)[kMaxArgs]);
template <typename... Args>
std::int64_t raw(long nr, Args... args) {
  const Call one = call(nr, args...);
  return raw_syscall(nr, one.args);
}

std::vector<Case> file_cases();
std::vector<Case> waiting_cases();
std::vector<Case> ioctl_cases();
std::vector<Case> socket_cases();
std::vector<Case> socket_option_cases();
std::vector<Case> process_cases();
std::vector<Case> signal_and_time_cases();
std::vector<Case> ipc_cases();

}  // namespace detrec::syscalls::test
