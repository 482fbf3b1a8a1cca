#include "server/record/recorder.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "server/record/capture_socket.h"
#include "trace/event/event_view.h"
#include "trace/event/record_builder.h"
#include "trace/event/record_parser.h"
#include "trace/wire/clock_record.h"

namespace detrec::server {
namespace {

/// The first of the records, if it is of this short form.
const wire::ClockRecord* clock_record(std::span<const std::byte> records) {
  if (records.size() < sizeof(wire::ClockRecord)) return nullptr;
  const auto* record = reinterpret_cast<const wire::ClockRecord*>(records.data());
  return record->header.kind == wire::kClockRecord && record->header.size == sizeof *record ? record
                                                                                            : nullptr;
}

constexpr int kNapMs = 2;
/// Events are taken so many bytes at a time: the program gets their room back, and the writer's thread its
/// turn.
constexpr std::size_t kTogether = 256 * 1024;
/// After fewer bytes it is better to let some come together: looking costs as much as a hundred events, and
/// slows the program down that writes them.
constexpr std::size_t kWorthStaying = 128 * 1024;

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
  bool exit_seen = false;                        ///< the last event says how the process ended
  std::uint32_t holder = 1;                      ///< of the turn
  std::uint64_t holder_ticks = 0;                ///< at its last event
  std::map<std::uint32_t, std::uint64_t> ticks;  ///< of the other threads at theirs

  void run();
  bool take_captures();
  std::size_t take_events();
  std::size_t add_events(std::span<const std::byte> bytes);
  void note(const event::EventView& record);
  void give_turn(std::uint32_t to);
  void fail(const event::Error& why);
  void add_kill(int signal, std::uint64_t last_ticks);
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
    ring.note_capture_read(capture->number.value);
    capture->answer();
  }
  return any;
}

void Recorder::State::give_turn(std::uint32_t to) {
  if (to == holder) return;
  ticks[holder] = holder_ticks;
  holder = to;
  holder_ticks = ticks[to];
}

/// Keeps what add_kill() needs to know.
void Recorder::State::note(const event::EventView& record) {
  if (record.kind() == wire::EventKind::kData) return;
  give_turn(record.thread().value);
  holder_ticks = record.header->ticks;
  const auto* exit = record.as<event::ExitView>();
  exit_seen = exit != nullptr && event::ends_process(exit->body->cause);
  if (const auto* turn = record.as<event::TurnView>()) give_turn(turn->body->to_thread);
}

/// Adds the first of the records, about kTogether bytes of them. Returns how many bytes they were.
std::size_t Recorder::State::add_events(std::span<const std::byte> bytes) {
  const storage::WallTime time = wall_time_now();
  storage::TraceWriter::Series series(*writer);
  wire::ClockCall call;
  event::EventView record;
  std::size_t done = 0;
  while (!error && done < std::min(bytes.size(), kTogether)) {
    const std::span<const std::byte> left = bytes.subspan(done);
    const auto* clock = clock_record(left);
    if (clock != nullptr) wire::expand(*clock, call);
    const char* wrong =
        event::parse_record_into(record, clock != nullptr ? std::as_bytes(std::span(&call, 1)) : left);
    if (wrong != nullptr) {
      fail({event::ErrorCode::kInvalid,
            std::string("the recorded program has damaged its event ring: ") + wrong});
      break;
    }
    const auto added = series.add(record, time);
    if (!added) fail(added.error());
    note(record);
    done += clock != nullptr ? sizeof *clock : record.header->size;
  }
  return error ? bytes.size() : done;
}

/// Takes what is there, or the first of it; how many bytes.
std::size_t Recorder::State::take_events() {
  const std::span<const std::byte> bytes = ring.available();
  if (bytes.empty()) return 0;
  const std::size_t taken = add_events(bytes);
  ring.consume(taken);
  return taken;
}

void Recorder::State::run() {
  for (;;) {
    const bool ended = guest_ended;  // before looking: what it has appended by then is seen below
    const bool any_capture = take_captures();
    const std::size_t taken = take_events();
    if (any_capture || taken >= kWorthStaying || (ended && taken != 0)) continue;
    if (ended) return;
    captures.wait(kNapMs);
  }
}

/// The process was killed by a signal of which its engine did not hear.
void Recorder::State::add_kill(int signal, std::uint64_t last_ticks) {
  event::RecordBuffer buffer;
  wire::ExitBody body = {};
  body.cause = wire::ExitCause::kKilled;
  body.status = signal;
  buffer.add_exit({.thread = {holder}, .ticks = {std::max(holder_ticks, last_ticks)}, .pc = {}}, body);
  const auto added = writer->add(buffer.bytes(), wall_time_now());
  if (!added) fail(added.error());
}

storage::WallTime wall_time_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count())};
}

std::uint64_t last_ticks(int channel, const wire::Launch& launch) {
  std::array<std::byte, wire::kChannelPage> page = {};
  if (launch.context_offset == 0 ||
      pread(channel, page.data(), page.size(), static_cast<off_t>(launch.context_offset)) !=
          static_cast<ssize_t>(page.size()))
    return 0;
  const auto read_at = [&page](std::uint64_t offset, auto& value) {
    if (offset <= page.size() - sizeof value) std::memcpy(&value, page.data() + offset, sizeof value);
  };
  std::uint64_t ticks = 0;
  std::uint32_t allotted = 0;
  read_at(launch.context.tick_base, ticks);
  read_at(launch.context.allotted, allotted);
  for (std::uint32_t i = 0; i < std::min(launch.context.stripe_count, 64u); ++i) {
    std::uint32_t stripe = 0;
    read_at(launch.context.stripes + std::uint64_t{4} * i, stripe);
    ticks += allotted - stripe;
  }
  return ticks;
}

Recorder::Recorder(Ring ring, int control, std::unique_ptr<storage::TraceWriter> writer)
    : state_(std::make_unique<State>(std::move(ring), control, std::move(writer))) {}

Recorder::~Recorder() {
  if (!state_->thread.joinable()) return;
  state_->guest_ended = true;
  state_->captures.wake();
  state_->thread.join();
}

void Recorder::start(pid_t guest) {
  state_->guest = guest;
  state_->thread = std::thread([this] { state_->run(); });
}

RecordingResult Recorder::finish(int wait_status, storage::RecordingSummary summary, std::uint64_t ticks) {
  State& s = *state_;
  s.guest_ended = true;
  s.captures.wake();
  if (s.thread.joinable()) s.thread.join();
  if (!s.error && !s.exit_seen && WIFSIGNALED(wait_status)) {
    s.add_kill(WTERMSIG(wait_status), ticks);
    summary.ticks.reset();  // the engine had no moment to add them up
  }
  summary.ended = wall_time_now();
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
