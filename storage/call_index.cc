#include "storage/call_index.h"

#include <map>

#include "storage/descriptor_table.h"
#include "storage/index_trace.h"
#include "storage/read/chunk_cursor.h"
#include "storage/schema.h"
#include "storage/table_filler.h"

namespace detrec::storage {
namespace {

/// Linux gives errors as -4095..-1.
constexpr std::int64_t kMaxErrno = 4095;

class CallIndexer {
 public:
  explicit CallIndexer(sqlite::Database& database)
      : database_(database), descriptors_([this](const DescriptorSpan& span) { return add_span(span); }) {}

  Status prepare() {
    auto call = database_.prepare("INSERT INTO syscall VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!call) return call.error();
    insert_call_ = std::move(call.value());
    auto span = database_.prepare("INSERT INTO descriptor VALUES(NULL, ?, ?, ?, ?, ?)");
    if (!span) return span.error();
    insert_span_ = std::move(span.value());
    auto output = OutputFiller::create(database_);
    if (!output) return output.error();
    output_.emplace(std::move(output.value()));
    return Done{};
  }

  Status add(const event::DecodedRecord& record) {
    const event::EventView& view = record.view;
    if (const auto* call = view.as<event::SyscallView>()) {
      if (const auto done = add_call(record, *call); !done) return done;
      return output_->add(view, record.number);
    }
    if (view.kind() == wire::EventKind::kData) return output_->add(view, record.number);
    if (const auto* thread = view.as<event::ThreadView>()) {
      const Member parent = member(view.header->thread, record.number);
      Member child{parent.process, thread->body->pid};
      if (child.pid != parent.pid) {
        child.process = ++processes_;
        if (const auto done = descriptors_.begin_process(child.process, parent.process, record.number); !done)
          return done;
      }
      threads_[thread->body->thread] = child;
      return Done{};
    }
    Member& self = member(view.header->thread, record.number);
    if (const auto* start = view.as<event::StartView>()) self.pid = start->body->pid;
    if (const auto* exit = view.as<event::ExitView>()) {
      if (event::ends_process(exit->body->cause))
        return descriptors_.end_process(self.process, record.number);
    }
    return Done{};
  }

  Status finish() { return descriptors_.finish(); }

 private:
  /// A thread's process, numbered as TableFiller numbers them.
  struct Member {
    std::int64_t process = 0;
    std::int64_t pid = 0;
  };

  Member& member(std::uint32_t thread, EventNumber event) {
    const auto [found, fresh] = threads_.try_emplace(thread);
    if (fresh) {
      found->second.process = ++processes_;
      static_cast<void>(descriptors_.begin_process(found->second.process, 0, event).ok());  // emits nothing
    }
    return found->second;
  }

  Status add_call(const event::DecodedRecord& record, const event::SyscallView& call) {
    const auto& header = *record.view.header;
    const auto& body = *call.body;
    std::optional<std::int64_t> error;
    if (body.result < 0 && body.result >= -kMaxErrno) error = -body.result;
    const auto done = insert_call_
                          .bind(record.number.value, header.thread, header.ticks, header.pc, body.number,
                                body.args[0], body.args[1], body.args[2], body.args[3], body.args[4],
                                body.args[5], body.result, error, body.duration_ns)
                          .run();
    if (!done) return done;
    return descriptors_.add(member(header.thread, record.number).process, call, record.number);
  }

  Status add_span(const DescriptorSpan& span) {
    const std::optional<std::uint64_t> last =
        span.last.value == 0 ? std::nullopt : std::optional(span.last.value);
    return insert_span_.bind(span.process, span.fd, std::string_view(span.path), span.first.value, last)
        .run();
  }

  sqlite::Database& database_;
  sqlite::Statement insert_call_, insert_span_;
  std::optional<OutputFiller> output_;
  DescriptorTable descriptors_;
  std::map<std::uint32_t, Member> threads_;
  std::int64_t processes_ = 0;
};

}  // namespace

Status fill_call_index(sqlite::Database& database) {
  auto transaction = sqlite::Transaction::begin(database);
  if (!transaction) return transaction.error();
  const auto cleared = database.execute("DELETE FROM syscall; DELETE FROM descriptor; DELETE FROM output");
  if (!cleared) return cleared;
  CallIndexer indexer(database);
  if (const auto done = indexer.prepare(); !done) return done;
  const auto span = event_span(database);
  if (!span) return span.error();
  auto cursor = ChunkCursor::create(database, span.value().first, span.value());
  if (!cursor) return cursor.error();
  while (true) {
    const auto record = cursor.value().next();
    if (!record) return record.error();
    if (!record.value()) break;
    if (const auto done = indexer.add(*record.value()); !done) return done;
  }
  if (const auto done = indexer.finish(); !done) return done;
  const auto noted = database.execute(
      "INSERT OR REPLACE INTO recording VALUES('syscall_rows', 'complete'), ('output_rows', 'complete')");
  if (!noted) return noted;
  return transaction.value().commit();
}

Result<IndexCounts> index_trace(const std::filesystem::path& path) {
  auto in_file = [&](Error error) {
    error.context = path.string() + (error.context.empty() ? "" : ": " + error.context);
    return error;
  };
  auto opened = sqlite::Database::open(path.string(), SQLITE_OPEN_READWRITE);
  if (!opened) return in_file(opened.error());
  sqlite::Database& database = opened.value();
  const auto version = check_schema(database);
  if (!version) return in_file(version.error());
  const auto done = fill_call_index(database);
  if (!done) return in_file(done.error());
  IndexCounts counts;
  const auto calls = database.number("SELECT count(*) FROM syscall");
  if (!calls) return in_file(calls.error());
  counts.syscalls = static_cast<std::uint64_t>(calls.value().value_or(0));
  const auto spans = database.number("SELECT count(*) FROM descriptor");
  if (!spans) return in_file(spans.error());
  counts.descriptors = static_cast<std::uint64_t>(spans.value().value_or(0));
  if (const auto folded = fold_journal(database); !folded) return in_file(folded.error());
  return counts;
}

}  // namespace detrec::storage
