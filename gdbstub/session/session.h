// The protocol with one client at a time: takes bytes, executes commands on a Target, hands bytes to a Link.
// No I/O of its own and one thread; everything is a step of the caller's event loop.
//
// While the Target runs, or works on a monitor command, packets wait, and the interrupt byte is obeyed at
// once. Each resume is answered by exactly one stop reply; an interrupt byte that comes when the Target
// stands still is the loser of a race with a stop, and means nothing any more.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gdbstub/packet/framer.h"
#include "gdbstub/registers/layout.h"
#include "gdbstub/session/breakpoint_table.h"
#include "gdbstub/session/client.h"
#include "gdbstub/session/reply.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub {

/// The way back to a client.
class Link {
 public:
  virtual ~Link() = default;
  virtual void send(std::string bytes) = 0;
  /// Ends the connection after what has been sent. The Session hears of it by disconnect(), not from within
  /// this.
  virtual void close() = 0;
};

class Session : public TargetObserver {
 public:
  /// `target` must stand still, and outlive the Session.
  explicit Session(Target& target);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // For the connection

  /// A client has come; there must be none.
  void connect(std::shared_ptr<Link> link);
  /// It has gone: its breakpoints and files go, and what runs for it is interrupted.
  void disconnect();
  bool connected() const { return link_ != nullptr; }
  void receive(std::string_view bytes);

  // TargetObserver

  void on_stop(const StopEvent& event) override;
  void on_output(std::string_view text) override;
  void on_moved() override;

  // For the commands

  Target& target() { return target_; }
  const registers::Layout& layout() const { return layout_; }
  Client& client() { return *client_; }
  BreakpointTable& breakpoints() { return breakpoints_; }

  /// The thread that Hg chose, the current one if it left the choice open. It need not be alive.
  ThreadRef general_thread();
  ProcessId general_process() { return general_thread().process; }
  /// The stop reply of the last stop.
  std::string last_stop_reply();

  /// Resumes the Target with `request`, to which breakpoints and signals are added.
  Reply resume(ResumeRequest request);
  /// Starts again at the first position; a stop reply follows if `wants_reply`.
  Reply restart(bool wants_reply);
  Reply monitor(const std::string& command);
  /// Detaching, killing: ends what the client has with the process, not the connection.
  void end_process();
  /// Ends the connection.
  void hang_up();

 private:
  class PendingMonitor;
  enum class State : std::uint8_t { kStill, kRunning, kMonitor };

  void take(packet::Item item);
  void take_packet(std::string payload);
  void drain();
  void execute(std::string_view payload);
  void send_packet(std::string_view payload);
  void send_console(std::string_view text);
  void finish_monitor(const Status& status);
  void select_after_stop();

  Target& target_;
  registers::Layout layout_;
  BreakpointTable breakpoints_;
  StopEvent last_stop_;

  std::shared_ptr<Link> link_;
  std::unique_ptr<Client> client_;
  packet::Framer framer_;
  std::string last_frame_;  ///< for a client that did not get it
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;

  State state_ = State::kStill;
  bool wants_stop_reply_ = false;
  bool draining_ = false;
  Direction direction_ = Direction::kForward;
  std::shared_ptr<PendingMonitor> monitor_;
};

}  // namespace detrec::gdbstub
