// Feeds a replayed process with the events of a trace, and shows the program's output as it is repeated.
//
// A thread of its own does so from start() to finish().
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "server/channel/ring.h"
#include "server/replay/content.h"
#include "storage/trace_reader.h"

namespace detrec::server {

class Feeder {
 public:
  /// `reader` and `content` must live until finish(). `show_output`: writes what the program wrote to its
  /// stdout and stderr to this process's.
  Feeder(Ring ring, storage::TraceReader& reader, const Content& content, bool show_output);
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// Starts the thread. `guest` is the process to kill when the trace turns out to be damaged.
  void start(pid_t guest);

  /// After the process's end: shows the rest of its output. An error: the trace is damaged, or output could
  /// not be written.
  std::optional<event::Error> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detrec::server
