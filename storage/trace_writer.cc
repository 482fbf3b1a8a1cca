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
#include "storage/write/claim.h"
#include "storage/write/capture_store.h"

namespace detrec::storage {
namespace {

using Clock = std::chrono::steady_clock;

/// An event and its data stay in one chunk, and so in one transaction, unless it gets so many times larger.
constexpr std::size_t kSplitFactor = 4;
/// So much of a file is worth compressing while the program goes on.
constexpr std::size_t kPieceWorthCutting = 256 * 1024;

}  // namespace

struct TraceWriter::State {
  std::filesystem::path path;
  RecordingInfo description;
  WriterOptions options;
  std::unique_ptr<BatchWriter> writer;  ///< the thread's while it runs, which makes it
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
  std::optional<Error> make_writer();
  void cut();
  void appended(std::unique_lock<std::mutex>& lock);
  Result<EventNumber> add(std::unique_lock<std::mutex>& lock, const event::EventView& record, WallTime time);
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
  if (current.bytes() < limit && (data_follows || current.piece_bytes < kPieceWorthCutting)) return;
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

/// A file in which nothing could be written is none.
std::optional<Error> TraceWriter::State::make_writer() {
  auto made = BatchWriter::create(path, description, options);
  if (!made) {
    static_cast<void>(remove_file(path).ok());
    return made.error();
  }
  writer = std::move(made.value());
  return {};
}

/// The writer's thread.
void TraceWriter::State::run() {
  const std::optional<Error> not_made = make_writer();
  std::unique_lock lock(mutex);
  failure = not_made;
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
            current.piece_bytes += current.pieces.back().data.size();
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
  if (const auto claimed = claim_file(path, options.replace_existing); !claimed) return claimed.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->description = info;
  state->options = std::move(options);
  state->last_time = info.started;
  state->thread = std::thread([raw = state.get()] { raw->run(); });
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(state)));
}

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

TraceWriter::~TraceWriter() { state_->stop(); }

struct TraceWriter::Series::Hold {
  State& state;
  std::unique_lock<std::mutex> lock;
};

TraceWriter::Series::Series(TraceWriter& writer)
    : hold_(new Hold{*writer.state_, std::unique_lock(writer.state_->mutex)}) {}

TraceWriter::Series::~Series() = default;

Result<EventNumber> TraceWriter::Series::add(const event::EventView& record, WallTime time) {
  return hold_->state.add(hold_->lock, record, time);
}

Result<EventNumber> TraceWriter::add(std::span<const std::byte> record, WallTime time) {
  const auto view = event::parse_record(record);
  if (!view) return view.error();
  return Series(*this).add(view.value(), time);
}

Result<EventNumber> TraceWriter::State::add(std::unique_lock<std::mutex>& lock,
                                            const event::EventView& record, WallTime time) {
  if (finished) return Error{ErrorCode::kMisuse, "the recording has ended", {}};
  if (failure) return *failure;
  const bool is_data = record.kind() == wire::EventKind::kData;
  if (is_data != data_follows) {
    return Error{ErrorCode::kInvalid,
                 is_data ? "a data record follows an event that did not announce it"
                         : "an event announced data records that do not follow",
                 {}};
  }
  data_follows = record.more_data();
  // The writer's thread does not look at the time in the middle of an event.
  if (is_data && !data_follows) work.notify_one();
  last_time.ns = std::max(last_time.ns, time.ns);
  if (!is_data) ++last_event.value;
  encoder().add(record, last_event, last_time);
  if (has_rows(record)) {
    const auto* bytes = reinterpret_cast<const std::byte*>(record.header);
    current.table_records.push_back({last_event, last_time, current.table_bytes.size()});
    current.table_bytes.insert(current.table_bytes.end(), bytes, bytes + record.header->size);
    current.other_bytes += record.header->size + sizeof(TableRecord);
  }
  appended(lock);
  return last_event;
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
