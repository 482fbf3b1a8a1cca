// A value or the reason why there is none, as the stub and its Target exchange them.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace detrec::gdbstub {

/// An error somebody can act on. `code` is a Linux errno (EFAULT, ENOENT, ...; 0 where no errno fits),
/// `message` is one line for the user of the debugger, `context` names the thing concerned (a path, an
/// address) and may be empty.
struct Error {
  int code = 0;
  std::string message;
  std::string context = {};
};

/// The error as one line.
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

/// The value of an operation that only succeeds or fails.
struct Done {};
using Status = Result<Done>;

}  // namespace detrec::gdbstub
