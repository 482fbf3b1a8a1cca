// The memory file of a debugged replay, as the session needs it: the launch page and the slots of its
// processes.
#pragma once

#include <sys/types.h>

#include <functional>

#include "trace/event/result.h"
#include "trace/wire/debug.h"
#include "trace/wire/launch.h"

namespace detrec::server {

/// Given by whoever made the memory file; must outlive the session.
struct ReplayChannel {
  int descriptor = -1;
  wire::Launch* launch = nullptr;
  /// Starts an engine for slot 0; its pid.
  std::function<event::Result<pid_t>()> start_engine;
};

}  // namespace detrec::server
