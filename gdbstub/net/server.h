// Serves a Target to debuggers over TCP or a pair of descriptors, one client at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gdbstub/net/asio.h"
#include "gdbstub/result.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub {

/// All of it runs in the loop of `io`; the Server must be destroyed after the loop has ended or before the
/// Target.
///
/// Both kinds of service leave SIGPIPE to the caller: a client that has gone must not end the process, so
/// ignore it.
class Server {
 public:
  Server(asio::io_context& io, Target& target);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  struct ListenOptions {
    std::string address = "127.0.0.1";  ///< numeric, IPv4 or IPv6
    std::uint16_t port = 1234;          ///< 0: any free one
    /// Called when a client has gone. By default the next one is waited for; stop() in here ends that.
    std::function<void()> on_client_gone = {};
    /// Called when another client has been turned away.
    std::function<void()> on_client_refused = {};
  };

  /// Listens; returns the port. A second client is turned away while there is one.
  Result<std::uint16_t> listen(ListenOptions options);

  /// Serves the client at the other end of two descriptors (may be equal; pipes, sockets or terminals; they
  /// are closed at its end), as `target remote | command` wants. `on_end` is called when it has gone.
  Status serve(int in, int out, std::function<void()> on_end);

  /// No more clients, and the present one is cut off. The loop ends when the Target has nothing to do in it
  /// either.
  void stop();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace detrec::gdbstub
