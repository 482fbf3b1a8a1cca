// What the engine knows about the process it lives in.
#pragma once

#include "trace/guest/run/thread.h"
#include "trace/wire/launch.h"

namespace detrec::guest {

/// The descriptors that the engine keeps, out of the guest's reach and sight.
enum OwnFd {
  kImageFd,    ///< the engine's executable, for execve
  kLaunchFd,   ///< the launch page and the ring
  kControlFd,  ///< recording: takes the descriptors of captured files; -1 else
  kOwnFds,
};

struct Process {
  i32 pid = 0;
  i32 parent_pid = 0;  ///< replay: as recorded
  i32 own_fds[kOwnFds] = {-1, -1, -1};
  wire::Launch* launch = nullptr;  ///< options and statistics; shared with the frontend
  bool first = false;         ///< the process the frontend started: its statistics and stop position count
  Thread* threads = nullptr;  ///< all guest threads; changed under the turn only
  u32 thread_count = 0;
};

/// The engine's only mutable global besides the context page: one per address space.
Process& process();

/// Where the process counts: the launch page for the first process, a place of its own for others.
wire::EngineStats& statistics();

}  // namespace detrec::guest
