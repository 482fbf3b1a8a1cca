#include "storage/trace_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "storage/content_hash.h"
#include "storage/read/chunk_cursor.h"
#include "storage/read/open_trace.h"
#include "storage/write/capture_store.h"

namespace detrec::storage {
namespace {

constexpr std::size_t kMaxRecordingKeys = 10'000;

Result<RecordingTable> read_recording(sqlite::Database& database) {
  auto select = database.prepare("SELECT key, value FROM recording LIMIT ?");
  if (!select) return select.error();
  select.value().bind(std::uint64_t{kMaxRecordingKeys});
  RecordingTable::Map values;
  while (true) {
    const auto row = select.value().step();
    if (!row) return row.error();
    if (!row.value()) return RecordingTable(std::move(values));
    values.emplace(select.value().text(0), select.value().text(1));
  }
}

/// Refuses what this version would read wrongly.
Status check_versions(const RecordingTable& recording) {
  const struct {
    std::string_view key;
    std::uint32_t known;
  } versions[] = {
      {"tick_semantics", kTickSemantics}, {"event_set", kEventSet}, {"frame_layout", kFrameLayout}};
  for (const auto& [key, known] : versions) {
    if (recording.number(key) == known) continue;
    return Error{ErrorCode::kUnsupported,
                 "it has " + std::string(key) + " '" + std::string(recording.text(key)) +
                     "'; this detrec knows only " + std::to_string(known),
                 {}};
  }
  return Done{};
}

/// So many zeros are left out of a copy: sparse files may be larger than all memory.
constexpr std::size_t kHoleBytes = 64 * 1024;

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

Status write_all(int fd, std::span<const std::byte> bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t size = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Error{ErrorCode::kIo, std::strerror(errno), "copying a captured file"};
    bytes = bytes.subspan(static_cast<std::size_t>(size));
    at += static_cast<std::uint64_t>(size);
  }
  return Done{};
}

}  // namespace

std::int32_t process_using(const std::filesystem::path& trace) {
  // Who has a database in write-ahead mode open holds a shared lock on this byte of the journal's index, the
  // "dead man switch": https://www.sqlite.org/src/file/src/os_unix.c
  constexpr off_t kSwitch = 128;
  const int fd = ::open((trace.string() + "-shm").c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return 0;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kSwitch;
  lock.l_len = 1;
  const bool held = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return held ? lock.l_pid : 0;
}

struct EventCursor::State {
  ChunkCursor cursor;
  std::string path;
};

EventCursor::EventCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventCursor::~EventCursor() = default;
EventCursor::EventCursor(EventCursor&&) noexcept = default;
EventCursor& EventCursor::operator=(EventCursor&&) noexcept = default;

Result<const event::DecodedRecord*> EventCursor::next() {
  auto record = state_->cursor.next();
  if (record) return record;
  Error error = record.error();
  error.context = state_->path + (error.context.empty() ? "" : ": " + error.context);
  return error;
}

struct TraceReader::State {
  std::string path;
  sqlite::Database database;
  RecordingTable recording;
  EventSpan span;

  Error in_file(Error error) const {
    error.context = path + (error.context.empty() ? "" : ": " + error.context);
    return error;
  }
  Result<std::vector<Capture>> select_captures(std::string_view condition, std::uint32_t number);
  template <typename Take>
  Status for_each_piece(const Capture& capture, Take&& take);
};

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::~TraceReader() = default;

Result<std::unique_ptr<TraceReader>> TraceReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path.string();
  auto database = open_trace(path);
  if (!database) return state->in_file(database.error());
  state->database = std::move(database.value());
  auto recording = read_recording(state->database);
  if (!recording) return state->in_file(recording.error());
  state->recording = std::move(recording.value());
  if (const auto known = check_versions(state->recording); !known) return state->in_file(known.error());
  const auto span = event_span(state->database);
  if (!span) return state->in_file(span.error());
  state->span = span.value();
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(state)));
}

const RecordingTable& TraceReader::recording() const { return state_->recording; }
EventNumber TraceReader::first_event() const { return state_->span.first; }
EventNumber TraceReader::last_event() const { return state_->span.last; }

Result<EventCursor> TraceReader::events(EventNumber from) {
  const EventSpan& span = state_->span;
  const std::uint64_t behind = span.last.value + 1;
  if (from.value != behind && (from < span.first || from > span.last || from.value == 0)) {
    return Error{ErrorCode::kNotFound,
                 "there is no event " + std::to_string(from.value) + " (it has " +
                     std::to_string(span.first.value) + " to " + std::to_string(span.last.value) + ")",
                 state_->path};
  }
  auto cursor = ChunkCursor::create(state_->database, from, span);
  if (!cursor) return state_->in_file(cursor.error());
  return EventCursor(
      std::make_unique<EventCursor::State>(EventCursor::State{std::move(cursor.value()), state_->path}));
}

Result<TraceStatistics> TraceReader::statistics() {
  TraceStatistics all;
  const struct {
    std::uint64_t& value;
    std::string_view sql;
  } counts[] = {
      {all.processes, "SELECT count(*) FROM process"},
      {all.threads, "SELECT count(*) FROM thread"},
      {all.signals, "SELECT count(*) FROM signal"},
      {all.chunks, "SELECT count(*) FROM chunk"},
      {all.chunk_bytes, "SELECT sum(length(data)) FROM chunk"},
      {all.captures, "SELECT count(*) FROM capture"},
      {all.files, "SELECT count(*) FROM file"},
      {all.file_bytes, "SELECT sum(size) FROM file"},
      {all.file_stored_bytes, "SELECT sum(length(data)) FROM file_piece"},
  };
  for (const auto& count : counts) {
    const auto number = state_->database.number(count.sql);
    if (!number) return state_->in_file(number.error());
    count.value = static_cast<std::uint64_t>(number.value().value_or(0));
  }
  auto select = state_->database.prepare(
      "SELECT name, records, coded_bytes, payload_bytes FROM event_kind ORDER BY kind LIMIT 100");
  if (!select) return state_->in_file(select.error());
  while (true) {
    const auto row = select.value().step();
    if (!row) return state_->in_file(row.error());
    if (!row.value()) return all;
    const auto number = [&](int column) { return static_cast<std::uint64_t>(select.value().number(column)); };
    all.kinds.push_back({std::string(select.value().text(0)), number(1), number(2), number(3)});
  }
}

Result<std::vector<Capture>> TraceReader::State::select_captures(std::string_view condition,
                                                                 std::uint32_t number) {
  const std::string sql =
      "SELECT c.number, c.file, c.path, c.device, c.inode, c.mtime_ns, f.size FROM capture c "
      "JOIN file f ON f.id = c.file WHERE c.number " +
      std::string(condition) + " ? ORDER BY c.number";
  auto select = database.prepare(sql);
  if (!select) return in_file(select.error());
  select.value().bind(number);
  std::vector<Capture> captures;
  while (true) {
    const auto row = select.value().step();
    if (!row) return in_file(row.error());
    if (!row.value()) return captures;
    const auto unsigned_at = [&](int column) {
      return static_cast<std::uint64_t>(select.value().number(column));
    };
    Capture capture;
    capture.number = {static_cast<std::uint32_t>(unsigned_at(0))};
    capture.file = select.value().number(1);
    capture.info = {std::string(select.value().text(2)), unsigned_at(3), unsigned_at(4), unsigned_at(5),
                    unsigned_at(6)};
    captures.push_back(std::move(capture));
  }
}

Result<std::vector<Capture>> TraceReader::captures() { return state_->select_captures(">=", 1); }

Result<Capture> TraceReader::capture(CaptureNumber number) {
  auto found = state_->select_captures("=", number.value);
  if (!found) return found.error();
  if (found.value().empty()) {
    return Error{ErrorCode::kNotFound, "there is no captured file " + std::to_string(number.value),
                 state_->path};
  }
  return std::move(found.value().front());
}

/// Calls `take(bytes, offset)` for each piece that is no hole, and checks size and hash of the whole.
template <typename Take>
Status TraceReader::State::for_each_piece(const Capture& capture, Take&& take) {
  const auto damaged = [&](const char* what) {
    return in_file({ErrorCode::kInvalid, what, "captured file " + std::to_string(capture.number.value)});
  };
  auto hash_row = database.prepare("SELECT hash FROM file WHERE id = ?");
  if (!hash_row) return in_file(hash_row.error());
  const auto has_hash = hash_row.value().bind(capture.file).step();
  if (!has_hash) return in_file(has_hash.error());
  const auto stored_hash = hash_row.value().blob(0);

  auto select = database.prepare("SELECT size, data FROM file_piece WHERE file = ? ORDER BY seq");
  if (!select) return in_file(select.error());
  select.value().bind(capture.file);
  ContentHasher hasher;
  std::vector<std::byte> content;
  std::uint64_t offset = 0;
  while (true) {
    const auto row = select.value().step();
    if (!row) return in_file(row.error());
    if (!row.value()) break;
    const auto packed = select.value().blob(1);
    const auto size = static_cast<std::uint64_t>(select.value().number(0));
    const bool hole = packed.empty();
    if ((size > kFilePieceBytes && !hole) || size > capture.info.size - offset)
      return damaged("a piece is too large");
    if (hole) {
      hasher.add_hole(offset, size);
      offset += size;
      continue;
    }
    if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size)
      return damaged("a piece has not the size that it should have");
    content.resize(static_cast<std::size_t>(size));
    const std::size_t unpacked =
        ZSTD_decompress(content.data(), content.size(), packed.data(), packed.size());
    if (ZSTD_isError(unpacked) != 0 || unpacked != size) return damaged("a piece does not decompress");
    hasher.add(content);
    if (const auto done = take(std::span<const std::byte>(content), offset); !done) return done;
    offset += size;
  }
  if (offset != capture.info.size) return damaged("a piece is missing");
  const ContentHash hash = hasher.finish();
  if (!std::equal(hash.begin(), hash.end(), stored_hash.begin(), stored_hash.end()))
    return damaged("its checksum is wrong");
  return Done{};
}

Result<std::vector<std::byte>> TraceReader::read_capture(const Capture& capture, std::uint64_t limit) {
  if (capture.info.size > limit) {
    return state_->in_file({ErrorCode::kInvalid, "it is larger than " + std::to_string(limit) + " bytes",
                            "captured file " + std::to_string(capture.number.value)});
  }
  std::vector<std::byte> whole;
  const auto done =
      state_->for_each_piece(capture, [&](std::span<const std::byte> bytes, std::uint64_t at) -> Status {
        whole.resize(static_cast<std::size_t>(at));
        whole.insert(whole.end(), bytes.begin(), bytes.end());
        return Done{};
      });
  if (!done) return done.error();
  whole.resize(static_cast<std::size_t>(capture.info.size));
  return whole;
}

Status TraceReader::copy_capture(const Capture& capture, int fd, std::uint64_t offset) {
  return state_->for_each_piece(capture, [&](std::span<const std::byte> bytes, std::uint64_t at) -> Status {
    while (!bytes.empty()) {
      const auto block = bytes.first(std::min(bytes.size(), kHoleBytes));
      if (!is_zero(block)) {
        if (const auto written = write_all(fd, block, offset + at); !written) return written;
      }
      bytes = bytes.subspan(block.size());
      at += block.size();
    }
    return Done{};
  });
}

}  // namespace detrec::storage
