#include "server/replay/feeder.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "server/replay/output.h"
#include "trace/wire/clock_record.h"

namespace detrec::server {

struct Feeder::State {
  State(Ring ring_in, storage::TraceReader& reader_in, const Content& content_in, bool show_output_in)
      : ring(std::move(ring_in)), reader(reader_in), content(content_in), show_output(show_output_in) {}

  RingWriter ring;
  storage::TraceReader& reader;
  const Content& content;
  bool show_output;
  Output output;
  pid_t guest = 0;
  std::thread thread;
  std::atomic<bool> guest_ended = false;
  std::optional<event::Error> error;

  void run();
  void feed_all();
  void append(std::span<const std::byte> bytes, const event::EventView& view);
  void show();
  void fail(const event::Error& why);
};

void Feeder::State::fail(const event::Error& why) {
  if (!error) error = why;
  if (!guest_ended) kill(guest, SIGKILL);
}

void Feeder::State::show() {
  if (show_output && !error && !output.show_up_to(ring.read()))
    fail({event::ErrorCode::kIo, std::strerror(errno), "writing the program's output"});
}

void Feeder::State::append(std::span<const std::byte> bytes, const event::EventView& view) {
  while (!ring.fits(bytes.size()) && !guest_ended && !error) {
    show();
    ring.nap();
  }
  if (!ring.fits(bytes.size())) return;
  ring.append(bytes);
  if (show_output) output.keep(view, ring.written());
}

void Feeder::State::feed_all() {
  auto cursor = reader.events(reader.first_event());
  if (!cursor) return fail(cursor.error());
  std::vector<std::byte> placed;
  while (!guest_ended && !error) {
    const auto next = cursor.value().next();
    if (!next) return fail(next.error());
    if (next.value() == nullptr) return;
    const auto bytes = content.place(*next.value(), placed);
    if (!bytes) return fail(bytes.error());
    wire::ClockRecord clock;
    const bool is_clock = wire::shorten(*next.value()->view.header, clock);
    append(is_clock ? std::as_bytes(std::span(&clock, 1)) : bytes.value(), next.value()->view);
  }
}

void Feeder::State::run() {
  if (reader.last_event().value != 0) feed_all();
  ring.end();
  while (!guest_ended) {
    show();
    ring.nap();
  }
}

Feeder::Feeder(Ring ring, storage::TraceReader& reader, const Content& content, bool show_output)
    : state_(std::make_unique<State>(std::move(ring), reader, content, show_output)) {}

Feeder::~Feeder() { finish(); }

void Feeder::start(pid_t guest) {
  state_->guest = guest;
  state_->thread = std::thread([this] { state_->run(); });
}

std::optional<event::Error> Feeder::finish() {
  if (!state_->thread.joinable()) return state_->error;
  state_->guest_ended = true;
  state_->thread.join();
  state_->show();
  return state_->error;
}

}  // namespace detrec::server
