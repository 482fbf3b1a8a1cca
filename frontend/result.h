// A value or the reason why there is none.
#pragma once

#include <string>
#include <utility>
#include <variant>

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

/// Holds a `T` or an `Error`. `value()` needs ok(), `error()` needs !ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace detrec::frontend
