#include "server/core/base/outcome.h"

#include <cerrno>

namespace detrec::core {

std::string to_string(TimerFailureKind kind) {
  switch (kind) {
    case TimerFailureKind::kIdentity:
      return "Identity";
    case TimerFailureKind::kInvalidPhase:
      return "InvalidPhase";
    case TimerFailureKind::kSequence:
      return "Sequence";
    case TimerFailureKind::kOverflow:
      return "Overflow";
    case TimerFailureKind::kUnsupported:
      return "Unsupported";
    case TimerFailureKind::kPublicationUnknown:
      return "publication unknown";
    case TimerFailureKind::kRejected:
      return "publication rejected";
    case TimerFailureKind::kFailedAfterCommit:
      return "publication failed after commit";
    case TimerFailureKind::kRunFailed:
      return "run failed";
  }
  return {};
}

Errno ProtocolFailure::as_errno() const {
  switch (kind) {
    case ProtocolFailureKind::kOverflow:
      return {EOVERFLOW};
    case ProtocolFailureKind::kUnsupported:
    case ProtocolFailureKind::kUnexpectedControl:
      return {ENOSYS};
    default:
      return {EINVAL};
  }
}

std::string ProtocolFailure::text() const {
  switch (kind) {
    case ProtocolFailureKind::kIdentity:
      return "Identity";
    case ProtocolFailureKind::kPhase:
      return "Phase";
    case ProtocolFailureKind::kUnsupported:
      return "Unsupported";
    case ProtocolFailureKind::kOverflow:
      return "Overflow";
    case ProtocolFailureKind::kUnexpectedControl:
      return "UnexpectedControl";
    case ProtocolFailureKind::kTimer:
      return fmt::format("Timer({})", to_string(timer));
    case ProtocolFailureKind::kObservation:
      return fmt::format("Observation({})", detail);
  }
  return {};
}

}  // namespace detrec::core
