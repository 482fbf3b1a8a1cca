// A value or the reason why there is none, as trace/event and storage give it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace detrec::event {

enum class ErrorCode {
  kInvalid,      ///< bytes that are not what they claim to be: a malformed record, chunk or trace
  kUnsupported,  ///< well-formed, but newer or other than this version knows
  kNotFound,     ///< a file, capture or event that does not exist
  kIo,           ///< the file system or SQLite failed
  kMisuse,       ///< the caller asked for something the object's state does not allow
};

/// An error somebody can act on. `message` is one line; `context` names the thing concerned (a path, a chunk)
/// and may be empty.
struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;
  std::string context = {};
};

/// The error as one line.
inline std::string to_string(const Error& error) {
  return error.context.empty() ? error.message : error.context + ": " + error.message;
}

/// Holds a `T` or an `E`. `value()` needs ok(), `error()` needs !ok().
template <typename T, typename E>
class [[nodiscard]] BasicResult {
 public:
  BasicResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  BasicResult(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  const E& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, E> state_;
};

template <typename T>
using Result = BasicResult<T, Error>;

/// The value of an operation that only succeeds or fails.
struct Done {};
using Status = Result<Done>;

}  // namespace detrec::event
