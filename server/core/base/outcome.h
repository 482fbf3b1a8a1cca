// Value or error. Protocol failures of the parked and signal protocols are values of this kind (section 0).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "server/core/base/check.h"

namespace detrec::core {

struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

template <class T, class E>
class Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Outcome(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const {
    check(ok(), "value() of a failed outcome");
    return std::get<0>(state_);
  }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  const E& error() const {
    check(!ok(), "error() of a good outcome");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, E> state_;
};

/// Error number as in errno(3).
struct Errno {
  int value = 0;
  friend constexpr auto operator<=>(const Errno&, const Errno&) = default;
};

/// What can go wrong with a process-owned real timer.
enum class TimerFailureKind : std::uint8_t {
  kIdentity,
  kInvalidPhase,
  kSequence,
  kOverflow,
  kUnsupported,
  kPublicationUnknown,
  kRejected,           ///< publication rejected before commit
  kFailedAfterCommit,  ///< publication committed, then failed
  kRunFailed,
};

enum class ProtocolFailureKind : std::uint8_t {
  kIdentity,
  kPhase,
  kUnsupported,
  kOverflow,
  kUnexpectedControl,
  kTimer,        ///< `timer` tells which
  kObservation,  ///< `detail` tells which
};

struct ProtocolFailure {
  ProtocolFailureKind kind = ProtocolFailureKind::kIdentity;
  TimerFailureKind timer = TimerFailureKind::kIdentity;
  int detail = 0;

  static ProtocolFailure identity() { return {ProtocolFailureKind::kIdentity}; }
  static ProtocolFailure phase() { return {ProtocolFailureKind::kPhase}; }
  static ProtocolFailure unsupported() { return {ProtocolFailureKind::kUnsupported}; }
  static ProtocolFailure overflow() { return {ProtocolFailureKind::kOverflow}; }
  static ProtocolFailure unexpected_control() { return {ProtocolFailureKind::kUnexpectedControl}; }
  static ProtocolFailure of_timer(TimerFailureKind kind) { return {ProtocolFailureKind::kTimer, kind}; }
  /// CHILD-28
  Errno as_errno() const;
  std::string text() const;
  friend bool operator==(const ProtocolFailure&, const ProtocolFailure&) = default;
};

template <class T>
using Protocol = Outcome<T, ProtocolFailure>;
template <class T>
using System = Outcome<T, Errno>;

std::string to_string(TimerFailureKind kind);

}  // namespace detrec::core
