// The callback object by which a backend publishes a child's exit in two steps (CHILD-15, CHILD-30).
#pragma once

#include <optional>

#include "server/core/core.h"

namespace detrec::core {

class ChildExitCallback {
 public:
  /// `event` without completion data is refused at admission (CHILD-16). The core outlives the callback.
  ChildExitCallback(Core& core, std::optional<ChildExitCompletion> event) : core_(&core), event_(event) {}
  ChildExitCallback(const ChildExitCallback&) = delete;
  ChildExitCallback& operator=(const ChildExitCallback&) = delete;
  /// Destroyed before it is done, it fails closed.
  ~ChildExitCallback();

  enum class State { kNotFinished, kSucceeded, kFailed };
  struct Result {
    State state = State::kNotFinished;
    Errno error;
  };
  /// First call: admission; not finished means "continue me again". A finished callback is fatal (CHILD-32).
  Result advance();

 private:
  Core* core_;
  std::optional<ChildExitCompletion> event_;
  bool admitted_ = false;
  bool done_ = false;
};

}  // namespace detrec::core
