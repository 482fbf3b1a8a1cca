#include "storage/trace_writer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/table_filler.h"
#include "storage/write/batch.h"
#include "storage/write/batch_writer.h"
#include "storage/write/capture_store.h"

namespace detrec::storage {
namespace {

using Clock = std::chrono::steady_clock;

/// An event and its data stay in one chunk, and so in one transaction, unless it gets so many times larger.
constexpr std::size_t kSplitFactor = 4;

}  // namespace

struct TraceWriter::State {
  WriterOptions options;
  std::unique_ptr<BatchWriter> writer;  ///< the thread's while it runs
  CaptureStore captures;

  // Of the recorder's thread.
  EventNumber last_event;
  WallTime last_time;
  bool finished = false;

  // Shared, under the mutex.
  std::mutex mutex;
  std::condition_variable work;     ///< for the writer's thread
  std::condition_variable written;  ///< for the recorder's
  Batch current;
  bool data_follows = false;                              ///< the last record announced more of its event
  Clock::time_point deadline = Clock::time_point::max();  ///< when `current` must be written
  std::deque<Batch> queue;
  std::size_t queued_bytes = 0;
  std::uint64_t batches_cut = 0;
  std::uint64_t batches_done = 0;
  std::vector<std::unique_ptr<event::ChunkEncoder>> spare_encoders;
  std::optional<Error> failure;
  bool stopping = false;

  std::thread thread;

  void run();
  void cut();
  void appended(std::unique_lock<std::mutex>& lock);
  void stop();
  event::ChunkEncoder& encoder();
  Status add_capture_row(CaptureNumber number, const CaptureInfo& info, const Result<std::int64_t>& file);
  CaptureStore::Sink sink();
};

/// Moves the current batch to the queue.
void TraceWriter::State::cut() {
  queued_bytes += current.bytes();
  queue.push_back(std::move(current));
  current = {};
  deadline = Clock::time_point::max();
  ++batches_cut;
  work.notify_one();
}

/// After something was put into the current batch: sends it off when it is full, and waits when the writer is
/// far behind.
void TraceWriter::State::appended(std::unique_lock<std::mutex>& lock) {
  if (deadline == Clock::time_point::max()) {
    deadline = Clock::now() + options.flush_interval;
    work.notify_one();
  }
  const std::size_t limit = data_follows ? options.chunk_bytes * kSplitFactor : options.chunk_bytes;
  if (current.bytes() < limit) return;
  cut();
  written.wait(lock, [&] { return queued_bytes <= options.queue_bytes || failure.has_value(); });
}

event::ChunkEncoder& TraceWriter::State::encoder() {
  if (!current.encoder) {
    if (spare_encoders.empty()) {
      current.encoder = std::make_unique<event::ChunkEncoder>(options.compression_level);
    } else {
      current.encoder = std::move(spare_encoders.back());
      spare_encoders.pop_back();
    }
  }
  return *current.encoder;
}

/// The writer's thread.
void TraceWriter::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    while (queue.empty() && !stopping && (data_follows || Clock::now() < deadline)) {
      if (data_follows || deadline == Clock::time_point::max()) {
        work.wait(lock);
      } else {
        work.wait_until(lock, deadline);
      }
    }
    if (queue.empty() && !current.empty()) cut();
    if (queue.empty()) {
      if (stopping) return;
      continue;
    }
    Batch batch = std::move(queue.front());
    queue.pop_front();
    const std::size_t bytes = batch.bytes();
    std::optional<Error> error;
    if (!failure) {
      lock.unlock();
      const auto done = writer->write(batch);
      if (!done) error = done.error();
      lock.lock();
    }
    if (error) failure = error;
    // After a failure nothing is kept: what was added since cannot be in the trace.
    if (batch.encoder && batch.encoder->empty()) spare_encoders.push_back(std::move(batch.encoder));
    queued_bytes -= bytes;
    ++batches_done;
    written.notify_all();
  }
}

void TraceWriter::State::stop() {
  if (!thread.joinable()) return;
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    work.notify_one();
  }
  thread.join();
}

CaptureStore::Sink TraceWriter::State::sink() {
  return {[this](FilePiece piece) -> Status {
            std::unique_lock lock(mutex);
            if (failure) return *failure;
            current.other_bytes += piece.data.size();
            current.pieces.push_back(std::move(piece));
            appended(lock);
            return Done{};
          },
          [this](FileEnd file) -> Status {
            std::unique_lock lock(mutex);
            if (failure) return *failure;
            current.other_bytes += sizeof file;
            current.files.push_back(file);
            return Done{};
          }};
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::filesystem::path& path,
                                                         const RecordingInfo& info, WriterOptions options) {
  auto state = std::make_unique<State>();
  auto writer = BatchWriter::create(path, info, options);
  if (!writer) return writer.error();
  state->options = std::move(options);
  state->writer = std::move(writer.value());
  state->last_time = info.started;
  state->thread = std::thread([raw = state.get()] { raw->run(); });
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(state)));
}

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

TraceWriter::~TraceWriter() { state_->stop(); }

Result<EventNumber> TraceWriter::add(std::span<const std::byte> record, WallTime time) {
  const auto view = event::parse_record(record);
  if (!view) return view.error();
  return add(view.value(), time);
}

Result<EventNumber> TraceWriter::add(const event::EventView& record, WallTime time) {
  State& state = *state_;
  if (state.finished) return Error{ErrorCode::kMisuse, "the recording has ended", {}};
  const bool is_data = record.kind() == wire::EventKind::kData;
  const bool with_rows = has_rows(record);
  std::unique_lock lock(state.mutex);
  if (state.failure) return *state.failure;
  if (is_data != state.data_follows) {
    return Error{ErrorCode::kInvalid,
                 is_data ? "a data record follows an event that did not announce it"
                         : "an event announced data records that do not follow",
                 {}};
  }
  state.data_follows = record.more_data();
  // The writer's thread does not look at the time in the middle of an event.
  if (is_data && !state.data_follows) state.work.notify_one();
  state.last_time.ns = std::max(state.last_time.ns, time.ns);
  if (!is_data) ++state.last_event.value;
  state.encoder().add(record, state.last_event, state.last_time);
  if (with_rows) {
    Batch& batch = state.current;
    const auto* bytes = reinterpret_cast<const std::byte*>(record.header);
    batch.table_records.push_back({state.last_event, state.last_time, batch.table_bytes.size()});
    batch.table_bytes.insert(batch.table_bytes.end(), bytes, bytes + record.header->size);
    batch.other_bytes += record.header->size + sizeof(TableRecord);
  }
  state.appended(lock);
  return state.last_event;
}

EventNumber TraceWriter::last_event() const { return state_->last_event; }

Status TraceWriter::State::add_capture_row(CaptureNumber number, const CaptureInfo& info,
                                           const Result<std::int64_t>& file) {
  if (!file) return file.error();
  std::unique_lock lock(mutex);
  if (failure) return *failure;
  current.other_bytes += sizeof(CaptureRow) + info.path.size();
  current.captures.push_back({number, info, file.value()});
  appended(lock);
  return Done{};
}

Status TraceWriter::add_capture(CaptureNumber number, const CaptureInfo& info, int fd) {
  if (!state_->captures.take_number(number))
    return Error{ErrorCode::kInvalid, "a capture has no number of its own", info.path};
  CaptureInfo complete = info;
  const auto file = state_->captures.add(fd, complete, state_->sink());
  return state_->add_capture_row(number, complete, file);
}

Status TraceWriter::add_capture(CaptureNumber number, const CaptureInfo& info,
                                std::span<const std::byte> content) {
  if (!state_->captures.take_number(number))
    return Error{ErrorCode::kInvalid, "a capture has no number of its own", info.path};
  CaptureInfo complete = info;
  const auto file = state_->captures.add(content, complete, state_->sink());
  return state_->add_capture_row(number, complete, file);
}

Status TraceWriter::set(std::string_view key, std::string_view value) {
  std::unique_lock lock(state_->mutex);
  if (state_->failure) return *state_->failure;
  state_->current.other_bytes += key.size() + value.size() + 1;
  state_->current.settings.emplace_back(key, value);
  state_->appended(lock);
  return Done{};
}

Status TraceWriter::flush() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (!state.current.empty()) state.cut();
  const std::uint64_t last = state.batches_cut;
  state.written.wait(lock, [&] { return state.batches_done >= last; });
  if (state.failure) return *state.failure;
  return Done{};
}

Status TraceWriter::finish(const RecordingSummary& summary) {
  State& state = *state_;
  if (state.finished) return Error{ErrorCode::kMisuse, "the recording has ended", {}};
  state.finished = true;
  state.stop();
  if (state.failure) {
    state.writer.reset();
    return *state.failure;
  }
  const auto done = state.writer->finish(summary);
  state.writer.reset();
  return done;
}

}  // namespace detrec::storage
