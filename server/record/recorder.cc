#include "server/record/recorder.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "server/record/capture_socket.h"
#include "trace/event/event_view.h"
#include "trace/event/record_builder.h"

namespace detrec::server {
namespace {

storage::WallTime now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count())};
}

constexpr int kNapMs = 2;

}  // namespace

struct Recorder::State {
  State(Ring ring_in, int control, std::unique_ptr<storage::TraceWriter> writer_in)
      : ring(std::move(ring_in)), captures(control), writer(std::move(writer_in)) {}

  RingReader ring;
  CaptureSocket captures;
  std::unique_ptr<storage::TraceWriter> writer;
  pid_t guest = 0;
  std::thread thread;
  std::atomic<bool> guest_ended = false;

  // Of the thread, until it has ended.
  std::optional<event::Error> error;
  bool exit_seen = false;  ///< the last event says how the process ended
  std::uint32_t last_thread = 1;

  void run();
  bool take_captures();
  bool take_events();
  void fail(const event::Error& why);
  void add_kill(int signal);
};

void Recorder::State::fail(const event::Error& why) {
  if (!error) error = why;
  if (!guest_ended) kill(guest, SIGKILL);
}

/// False: nothing was there.
bool Recorder::State::take_captures() {
  bool any = false;
  while (auto capture = captures.take()) {
    any = true;
    if (error) continue;
    const auto added = writer->add_capture(capture->number, capture->info, capture->descriptor());
    if (!added) fail(added.error());
    capture->answer();
  }
  return any;
}

bool Recorder::State::take_events() {
  const std::span<const std::byte> bytes = ring.available();
  if (bytes.empty()) return false;
  const storage::WallTime time = now();
  std::size_t done = 0;
  while (!error && done < bytes.size()) {
    const auto view = event::parse_record(bytes.subspan(done));
    if (!view) {
      fail(event::Error{event::ErrorCode::kInvalid,
                        "the recorded program has damaged its event ring: " + view.error().message});
      break;
    }
    const auto added = writer->add(view.value(), time);
    if (!added) fail(added.error());
    if (view.value().kind() != wire::EventKind::kData) {
      const auto* exit = view.value().as<event::ExitView>();
      exit_seen = exit != nullptr && exit->body->cause != wire::ExitCause::kThread &&
                  exit->body->cause != wire::ExitCause::kExec;
      last_thread = view.value().thread().value;
    }
    done += view.value().header->size;
  }
  ring.consume(bytes.size());
  return true;
}

void Recorder::State::run() {
  for (;;) {
    const bool ended = guest_ended;  // before looking: what it has appended by then is seen below
    const bool any = take_captures() | take_events();
    if (any) continue;
    if (ended) return;
    captures.wait(kNapMs);
  }
}

/// The process was killed by a signal of which its engine did not hear.
void Recorder::State::add_kill(int signal) {
  event::RecordBuffer buffer;
  wire::ExitBody body = {};
  body.cause = wire::ExitCause::kKilled;
  body.status = signal;
  buffer.add_exit({.thread = {last_thread}, .ticks = {}, .pc = {}}, body);
  const auto added = writer->add(buffer.bytes(), now());
  if (!added) fail(added.error());
}

Recorder::Recorder(Ring ring, int control, std::unique_ptr<storage::TraceWriter> writer)
    : state_(std::make_unique<State>(std::move(ring), control, std::move(writer))) {}

Recorder::~Recorder() {
  if (!state_->thread.joinable()) return;
  state_->guest_ended = true;
  state_->thread.join();
}

void Recorder::start(pid_t guest) {
  state_->guest = guest;
  state_->thread = std::thread([this] { state_->run(); });
}

RecordingResult Recorder::finish(int wait_status, storage::RecordingSummary summary) {
  State& s = *state_;
  s.guest_ended = true;
  if (s.thread.joinable()) s.thread.join();
  if (!s.error && !s.exit_seen && WIFSIGNALED(wait_status)) s.add_kill(WTERMSIG(wait_status));
  summary.ended = now();
  if (!s.error) {
    const auto finished = s.writer->finish(summary);
    if (!finished) s.error = finished.error();
  }
  RecordingResult result;
  result.events = s.writer->last_event().value;
  result.error = s.error;
  return result;
}

}  // namespace detrec::server
