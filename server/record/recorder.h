// Records a run: takes events out of the ring and files out of the control socket, and writes the trace.
//
// A thread of its own does so from start() to finish(). When the trace cannot be written any more (full
// disk), it kills the guest: a run that is not recorded is not what the user asked for.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "server/channel/ring.h"
#include "storage/trace_writer.h"

namespace detrec::server {

/// What became of a recording.
struct RecordingResult {
  std::uint64_t events = 0;
  std::optional<event::Error> error;  ///< the trace is not what it should be; good up to the last flush
};

/// The ticks that a process that was killed has left behind in the channel; 0: not known.
std::uint64_t last_ticks(int channel, const wire::Launch& launch);

/// The time that recordings are stamped with.
storage::WallTime wall_time_now();

class Recorder {
 public:
  /// `ring` is that of the launch page, `control` the server's end of the control socket, which becomes the
  /// recorder's.
  Recorder(Ring ring, int control, std::unique_ptr<storage::TraceWriter> writer);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Starts the thread. `guest` is the process to kill when recording fails.
  void start(pid_t guest);

  /// After the guest's end: writes what is left. `wait_status` says how it ended (man 2 wait), `ticks` how
  /// many the thread that had the turn had used (last_ticks()).
  RecordingResult finish(int wait_status, storage::RecordingSummary summary, std::uint64_t ticks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detrec::server
