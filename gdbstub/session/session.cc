#include "gdbstub/session/session.h"

#include <cerrno>

#include "gdbstub/commands/table.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/session/stop_reply.h"

namespace detrec::gdbstub {

namespace {

/// More than this waiting while the Target runs is no debugger.
constexpr std::size_t kMaxWaitingBytes = 16 * packet::kMaxPacket;
/// Of console text in one O packet.
constexpr std::size_t kConsoleChunk = 8192;

/// Packets that end a run are not held up by it.
bool ends_a_run(std::string_view payload) {
  return payload == "k" || payload.starts_with("vKill") || payload.starts_with("D") || payload == "vCtrlC";
}

}  // namespace

/// The Target may hold it for longer than the client, or the Session, exists.
class Session::PendingMonitor : public MonitorReply {
 public:
  explicit PendingMonitor(Session* session) : session_(session) {}

  void line(std::string_view text) override {
    if (session_ != nullptr) session_->send_console(std::string(text) + '\n');
  }
  void finish(Status status) override {
    if (auto* session = std::exchange(session_, nullptr)) session->finish_monitor(status);
  }
  void forget() { session_ = nullptr; }

 private:
  Session* session_;
};

Session::Session(Target& target)
    : target_(target), layout_(target.vector_level()), last_stop_{target.current_thread(), StepDone{}} {
  target_.set_observer(this);
}

Session::~Session() {
  if (monitor_) monitor_->forget();
  target_.set_observer(nullptr);
}

void Session::connect(std::shared_ptr<Link> link) {
  link_ = std::move(link);
  client_ = std::make_unique<Client>(target_);
  framer_ = {};
  last_frame_.clear();
}

void Session::disconnect() {
  link_.reset();
  client_.reset();
  waiting_.clear();
  waiting_bytes_ = 0;
  wants_stop_reply_ = false;
  breakpoints_.clear();
  if (state_ != State::kStill) target_.interrupt();
  target_.client_gone();
}

void Session::receive(std::string_view bytes) {
  framer_.append(bytes);
  while (connected()) {
    auto item = framer_.next();
    if (!item) break;
    take(std::move(*item));
  }
}

void Session::take(packet::Item item) {
  switch (item.kind) {
    case packet::ItemKind::kAck:
      return;
    case packet::ItemKind::kNack:
      if (client_->acks && !last_frame_.empty()) link_->send(last_frame_);
      return;
    case packet::ItemKind::kInterrupt:
      if (state_ != State::kStill) target_.interrupt();
      return;
    case packet::ItemKind::kBadPacket:
      // Without acknowledgements nobody repeats it, and the checksum need not be looked at.
      if (client_->acks) {
        link_->send("-");
      } else {
        take_packet(std::move(item.payload));
      }
      return;
    case packet::ItemKind::kPacket:
      if (client_->acks) link_->send("+");
      take_packet(std::move(item.payload));
      return;
  }
}

void Session::take_packet(std::string payload) {
  if (state_ != State::kStill && ends_a_run(payload)) target_.interrupt();
  waiting_bytes_ += payload.size() + 1;
  waiting_.push_back(std::move(payload));
  if (waiting_bytes_ > kMaxWaitingBytes) return hang_up();
  drain();
}

/// Executes what waits, as long as the Target stands still.
void Session::drain() {
  if (draining_) return;  // a Target that stopped from within resume()
  draining_ = true;
  while (state_ == State::kStill && connected() && !waiting_.empty()) {
    const auto payload = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= payload.size() + 1;
    execute(payload);
  }
  draining_ = false;
}

void Session::execute(std::string_view payload) {
  const bool acks_before = client_->acks;
  const auto reply = commands::dispatch(*this, payload);
  if (reply.payload && connected()) send_packet(*reply.payload);
  if (acks_before && connected() && !client_->acks) last_frame_.clear();
}

void Session::send_packet(std::string_view payload) {
  if (!connected()) return;
  auto frame = packet::frame(payload);
  if (client_->acks) last_frame_ = frame;
  link_->send(std::move(frame));
}

void Session::send_console(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kConsoleChunk))) {
    send_packet("O" + packet::hex_text(text.substr(0, kConsoleChunk)));
  }
}

void Session::on_output(std::string_view text) {
  // A client expects console text only while it waits for a stop.
  if (state_ == State::kRunning && wants_stop_reply_) send_console(text);
}

void Session::on_stop(const StopEvent& event) {
  if (state_ != State::kRunning) return;
  state_ = State::kStill;
  last_stop_ = event;
  if (connected()) {
    select_after_stop();
    const bool over =
        std::holds_alternative<Exited>(event.reason) || std::holds_alternative<Killed>(event.reason);
    if (std::exchange(wants_stop_reply_, false)) send_packet(stop_reply(event, *client_, target_, layout_));
    client_->ended = over;
  }
  drain();
}

void Session::on_moved() { last_stop_ = {target_.current_thread(), StepDone{}}; }

/// gdb takes the thread of a forward stop to be chosen, and after a backward stop expects nothing to be.
void Session::select_after_stop() {
  if (direction_ == Direction::kForward) {
    client_->general = {last_stop_.thread.process.value, last_stop_.thread.thread.value};
    client_->to_resume = client_->general;
  } else {
    client_->general = client_->to_resume = {};
  }
}

ThreadRef Session::general_thread() {
  const auto current = target_.current_thread();
  const auto& chosen = client_->general;
  if (!chosen.is_one() && (chosen.process <= 0 || chosen.process == current.process.value)) return current;
  if (chosen.matches(current)) return current;
  // A monitor command may have gone to where the chosen one does not exist. gdb does not know; errors for all
  // that it asks would leave the user without a way on.
  for (const auto& thread : target_.threads()) {
    if (chosen.matches(thread.id)) return thread.id;
  }
  return current;
}

std::string Session::last_stop_reply() {
  if (client_->ended) return "W00";
  // The end of an earlier client's process is not this one's.
  if (std::holds_alternative<Exited>(last_stop_.reason) ||
      std::holds_alternative<Killed>(last_stop_.reason)) {
    last_stop_ = {target_.current_thread(), StepDone{}};
  }
  return stop_reply(last_stop_, *client_, target_, layout_);
}

Reply Session::resume(ResumeRequest request) {
  if (client_->ended) return Reply::text("W00");
  request.change = breakpoints_.take_change();
  request.breakpoints = &breakpoints_.all();
  request.pass_signals = client_->pass_signals;
  direction_ = request.direction;
  client_->document = {};
  state_ = State::kRunning;
  wants_stop_reply_ = true;
  const auto status = target_.resume(request);
  if (status) return Reply::later();
  // An error reply to a resume makes lldb give up: say why, and that nothing has moved.
  send_console(to_string(status.error()) + '\n');
  state_ = State::kStill;
  wants_stop_reply_ = false;
  return Reply::text(stop_reply({target_.current_thread(), StepDone{}}, *client_, target_, layout_));
}

Reply Session::restart(bool wants_reply) {
  client_->document = {};
  direction_ = Direction::kForward;
  state_ = State::kRunning;
  wants_stop_reply_ = wants_reply;
  const auto status = target_.restart();
  if (status) {
    client_->ended = false;
    return Reply::later();
  }
  state_ = State::kStill;
  wants_stop_reply_ = false;
  return wants_reply ? Reply::error(status.error()) : Reply::later();
}

Reply Session::monitor(const std::string& command) {
  client_->document = {};
  state_ = State::kMonitor;
  monitor_ = std::make_shared<PendingMonitor>(this);
  // Kept alive here: finish() may be called, and monitor_ reset, before the Target returns.
  const auto pending = monitor_;
  target_.monitor(command, pending);
  return Reply::later();
}

void Session::finish_monitor(const Status& status) {
  monitor_.reset();
  state_ = State::kStill;
  // It may have moved the Target, maybe to where the chosen thread does not exist.
  last_stop_ = {target_.current_thread(), StepDone{}};
  if (connected() && status) {
    send_packet("OK");
  } else if (connected()) {
    // gdb 13 cannot read an E.message here; text and a number is what gdbserver sends, too.
    send_console(to_string(status.error()) + '\n');
    send_packet(*Reply::error_code(status.error().code).payload);
  }
  drain();
}

void Session::end_process() {
  client_->ended = true;
  client_->files.close_all();
  breakpoints_.clear();
  target_.client_gone();
}

void Session::hang_up() {
  if (link_) link_->close();
}

}  // namespace detrec::gdbstub
