#include "server/core/signal/child_exit.h"

namespace detrec::core {

ChildExitCallback::Result ChildExitCallback::advance() {
  check(!done_, "a finished child-exit callback is continued");
  if (!admitted_) {
    const auto admission = core_->admit_child_exit(event_);
    if (!admission) {
      done_ = true;
      return {State::kFailed, admission.error().as_errno()};
    }
    admitted_ = true;
    return {State::kNotFinished, {}};
  }
  done_ = true;
  const auto completed = core_->complete_child_exit(*event_);
  if (!completed) return {State::kFailed, completed.error()};
  return {State::kSucceeded, {}};
}

ChildExitCallback::~ChildExitCallback() {
  if (done_) return;
  core_->fail(event_ ? std::optional(event_->child.pid) : std::nullopt, std::nullopt,
              "child-exit callback abandoned");
  if (event_) core_->cancel_child_exit(*event_);
}

}  // namespace detrec::core
