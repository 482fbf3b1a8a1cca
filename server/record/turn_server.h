// The thread that grants turns while a program is recorded: sleeps on the board's doorbell, and runs the
// scheduler when it rings. It waits for no guest: threads that die leave it asleep.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "trace/event/result.h"
#include "trace/wire/launch.h"
#include "trace/wire/turns.h"

namespace detrec::server {

class TurnServer {
 public:
  /// Maps the board that `launch` describes out of the channel's descriptor. kIo when the kernel refuses.
  static event::Result<TurnServer> map(int channel, const wire::Launch& launch);
  TurnServer(TurnServer&& other) noexcept;
  TurnServer& operator=(TurnServer&&) = delete;
  ~TurnServer();

  /// Starts the thread. `guest` is the process to kill when its board makes no sense any more. The thread
  /// takes no signals if the caller has blocked them.
  void start(pid_t guest);
  /// After the guest's end. Why turns were no longer granted; nothing: all was well.
  std::optional<std::string> finish();

 private:
  struct State;
  explicit TurnServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace detrec::server
