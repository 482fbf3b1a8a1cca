// Starts the engine in a child process and stands in for it towards the shell: signals, job control, exit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/launch/engine_image.h"
#include "frontend/launch/launch_page.h"
#include "frontend/result.h"

namespace detrec::frontend {

/// What recording and replaying add to a run.
struct Attachments {
  int control = -1;  ///< recording: the engine's end of the control socket
  int content = -1;  ///< replay: the content memfd
  /// Called in detrec once the child exists, all signals blocked.
  std::function<void(pid_t child)> on_started = [](pid_t) {};
};

/// Starts the engine in a child process, and returns its pid. The child dies with the calling thread. It is
/// in a session of its own, where no terminal's signals reach it.
Result<pid_t> start_engine(const EngineImage& engine, LaunchPage& page, const Attachments& attachments);

/// Runs `guest_path` with `guest_argv` under the engine and waits for its end; returns the wait status (man 2
/// wait).
///
/// The child gets detrec's own environment, descriptors, signal mask, dispositions and interval timers as
/// detrec found them, plus the two descriptors of launch.h; it stays in the same process group, and dies with
/// detrec. Signals that a process sends to detrec are passed on; signals of the terminal reach the child
/// directly. When the child stops, detrec stops, and both go on together.
///
/// Must be called at most once, from a process with one thread: the calling thread, and those that on_started
/// makes, keep all signals blocked after it. A child that cannot execute the engine leaves the reason in the
/// page (phase kFailed).
Result<int> run_engine(const EngineImage& engine, LaunchPage& page, const std::string& guest_path,
                       const std::vector<std::string>& guest_argv, const Attachments& attachments = {});

}  // namespace detrec::frontend
