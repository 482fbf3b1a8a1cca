#include "storage/table_filler.h"

#include <cstring>
#include <string>
#include <vector>

#include "trace/event/names.h"
#include "trace/syscalls/commands.h"
#include "trace/syscalls/table.h"

namespace detrec::storage {
namespace {

using event::EventView;
using wire::EventKind;

constexpr std::size_t kMaxUnsupported = 1000;

bool left_the_guest(wire::Direction direction) {
  return direction == wire::Direction::kOut || direction == wire::Direction::kError;
}

bool has_output(const EventView& record) {
  if (const auto* data = record.as<event::DataView>()) return left_the_guest(data->range.direction);
  if (const auto* call = record.as<event::SyscallView>()) {
    for (const event::RangeView range : call->ranges) {
      if (left_the_guest(range.direction)) return true;
    }
  }
  return false;
}

/// True when a call is not supported; then `command` is its command, or 0 when none of the call's is.
bool is_unsupported(const wire::SyscallBody& body, std::uint64_t& command) {
  const syscalls::SyscallRow* row = syscalls::find(body.number);
  command = 0;
  if (row == nullptr || row->klass == syscalls::Class::kRefused) return true;
  if (row->commands == syscalls::Commands::kNone) return false;
  command = syscalls::command_key(row->commands, *row, body.args);
  const syscalls::CommandRow* found = syscalls::find_command(row->commands, command);
  return found == nullptr || found->klass == syscalls::Class::kRefused;
}

std::vector<std::string> strings_of(const event::StringList& list) {
  std::vector<std::string> strings;
  list.for_each([&](std::string_view text) { strings.emplace_back(text); });
  return strings;
}

/// Prepares several statements; remembers the first failure.
class Preparer {
 public:
  explicit Preparer(sqlite::Database& database) : database_(database) {}
  void operator()(sqlite::Statement& to, std::string_view sql) {
    auto statement = database_.prepare(sql);
    if (statement) {
      to = std::move(statement.value());
    } else if (status_) {
      status_ = statement.error();
    }
  }
  const Status& status() const { return status_; }

 private:
  sqlite::Database& database_;
  Status status_ = Done{};
};

}  // namespace

bool has_rows(const EventView& record) {
  switch (record.kind()) {
    case EventKind::kInstruction:
      return false;
    case EventKind::kData:
      return has_output(record);
    case EventKind::kSyscall: {
      std::uint64_t command;
      return has_output(record) || is_unsupported(*record.as<event::SyscallView>()->body, command);
    }
    default:
      return true;
  }
}

Result<OutputFiller> OutputFiller::create(sqlite::Database& database) {
  auto insert = database.prepare("INSERT INTO output VALUES(?, ?, ?, ?, ?)");
  if (!insert) return insert.error();
  OutputFiller filler;
  filler.insert_ = std::move(insert.value());
  return filler;
}

Status OutputFiller::add_range(EventNumber number, std::uint32_t thread, const event::RangeView& range) {
  if (!left_the_guest(range.direction)) return Done{};
  if (number != event_) piece_ = 0;
  event_ = number;
  bytes_ += range.data.size();
  const std::int32_t fd = range.direction == wire::Direction::kOut ? 1 : 2;
  return insert_.bind(number.value, ++piece_, thread, fd, range.data).run();
}

Status OutputFiller::add(const EventView& record, EventNumber number) {
  if (const auto* data = record.as<event::DataView>())
    return add_range(number, record.header->thread, data->range);
  if (const auto* call = record.as<event::SyscallView>()) {
    for (const event::RangeView range : call->ranges) {
      const auto done = add_range(number, record.header->thread, range);
      if (!done) return done;
    }
  }
  return Done{};
}

Result<TableFiller> TableFiller::create(sqlite::Database& database) {
  TableFiller filler;
  Preparer prepare(database);
  prepare(filler.insert_process_, "INSERT INTO process(id, pid, parent, first_event) VALUES(?, ?, ?, ?)");
  prepare(filler.update_process_, "UPDATE process SET pid = ?, parent = coalesce(parent, ?) WHERE id = ?");
  prepare(filler.end_process_, "UPDATE process SET last_event = ?, cause = ?, status = ? WHERE id = ?");
  prepare(filler.insert_thread_,
          "INSERT OR IGNORE INTO thread(number, process, tid, creator, first_event) VALUES(?, ?, ?, ?, ?)");
  prepare(filler.update_thread_, "UPDATE thread SET tid = ? WHERE number = ?");
  prepare(filler.end_thread_,
          "UPDATE thread SET last_event = ?, ticks = ?, cause = ?, status = ? WHERE number = ?");
  prepare(filler.insert_image_, "INSERT INTO image VALUES(?, ?, ?, ?, ?, ?, ?)");
  prepare(filler.insert_mapping_, "INSERT INTO mapping VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  prepare(filler.insert_slice_, "INSERT INTO timeslice VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)");
  prepare(filler.insert_preemption_, "INSERT INTO preemption VALUES(?, ?, ?, ?, ?, ?)");
  prepare(filler.insert_signal_, "INSERT INTO signal VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  prepare(filler.insert_exit_, "INSERT INTO exit VALUES(?, ?, ?, ?, ?, ?)");
  prepare(filler.insert_unsupported_, "INSERT OR REPLACE INTO unsupported VALUES(?, ?, ?, ?, ?)");
  if (!prepare.status()) return prepare.status().error();
  auto output = OutputFiller::create(database);
  if (!output) return output.error();
  filler.output_ = std::move(output.value());
  return filler;
}

Result<std::int64_t> TableFiller::add_process(std::optional<std::int64_t> pid,
                                              std::optional<std::int64_t> parent, EventNumber event) {
  const std::int64_t id = ++processes_;
  const auto done = insert_process_.bind(id, pid, parent, event.value).run();
  if (!done) return done.error();
  return id;
}

/// The thread's state; a thread that nobody announced (the first one) gets its rows here.
Result<TableFiller::ThreadState*> TableFiller::thread_of(std::uint32_t number, EventNumber event) {
  const auto [found, fresh] = threads_.try_emplace(number);
  if (!fresh) return &found->second;
  const auto process = add_process({}, {}, event);
  if (!process) return process.error();
  found->second.process = process.value();
  const auto done = insert_thread_.bind(number, process.value(), nullptr, nullptr, event.value).run();
  if (!done) return done.error();
  return &found->second;
}

Status TableFiller::end_slice(EventNumber last, std::uint64_t ticks, std::uint64_t pc,
                              std::string_view reason, WallTime time) {
  const Slice slice = std::exchange(slice_, {});
  if (slice.thread == 0) return Done{};
  return insert_slice_
      .bind(slice.thread, slice.first.value, last.value, slice.ticks, ticks, pc, reason, slice.time.ns,
            time.ns)
      .run();
}

Status TableFiller::add(const EventView& record, EventNumber number, WallTime time) {
  if (record.kind() == EventKind::kData) {
    return add_output(record, number);
  }
  const std::uint32_t thread_number = record.header->thread;
  if (const auto concluded = conclude_exec(thread_number, time); !concluded) return concluded;
  const auto thread = thread_of(thread_number, number);
  if (!thread) return thread.error();
  // Only the holder of the turn appends, but for the exit of a thread that was killed from outside.
  const bool other = slice_.thread != thread_number && record.kind() != EventKind::kExit;
  if (slice_.thread != 0 && other) {
    const auto ended = end_slice({number.value - 1}, threads_[slice_.thread].ticks, 0, "unknown", time);
    if (!ended) return ended;
  }
  if (slice_.thread == 0) slice_ = {thread_number, number, thread.value()->ticks, time};
  thread.value()->ticks = record.header->ticks;

  if (const auto* start = record.as<event::StartView>()) return add_start(record, *start, number);
  if (const auto* mapping = record.as<event::MappingView>()) return add_mapping(record, *mapping, number);
  if (const auto* turn = record.as<event::TurnView>()) return add_turn(record, *turn->body, number, time);
  if (const auto* child = record.as<event::ThreadView>())
    return add_thread(*child->body, thread_number, number);
  if (const auto* signal = record.as<event::SignalView>()) return add_signal(record, *signal->body, number);
  if (const auto* exit = record.as<event::ExitView>()) return add_exit(record, *exit->body, number, time);
  if (const auto* call = record.as<event::SyscallView>()) return add_call(record, *call, number);
  return Done{};
}

Status TableFiller::add_start(const EventView& record, const event::StartView& start, EventNumber number) {
  const auto& body = *start.body;
  ThreadState& thread = threads_[record.header->thread];
  if (!thread.pid) {
    thread.pid = body.pid;
    if (const auto done = update_process_.bind(body.pid, body.parent_pid, thread.process).run(); !done)
      return done;
  }
  if (const auto done = update_thread_.bind(body.tid, record.header->thread).run(); !done) return done;
  const std::string argv = to_json_array(strings_of(start.argv));
  const std::string envp = to_json_array(strings_of(start.envp));
  return insert_image_
      .bind(number.value, record.header->thread, thread.process, record.header->pc, start.path,
            std::string_view(argv), std::string_view(envp))
      .run();
}

Status TableFiller::add_mapping(const EventView& record, const event::MappingView& mapping,
                                EventNumber number) {
  const auto& body = *mapping.body;
  const std::optional<std::uint32_t> capture = body.capture == 0 ? std::nullopt : std::optional(body.capture);
  return insert_mapping_
      .bind(number.value, record.header->thread, body.address, body.length, body.protection, body.map_flags,
            body.file_offset, body.device, body.inode, event::name_of(body.content), capture, mapping.name)
      .run();
}

Status TableFiller::add_turn(const EventView& record, const wire::TurnBody& turn, EventNumber number,
                             WallTime time) {
  const auto& header = *record.header;
  const auto ended = end_slice(number, header.ticks, header.pc, event::name_of(turn.reason), time);
  if (!ended) return ended;
  if (turn.to_thread != 0) {
    const auto next = threads_.find(turn.to_thread);
    slice_ = {turn.to_thread, {number.value + 1}, next == threads_.end() ? 0 : next->second.ticks, time};
  }
  if (turn.reason != wire::TurnReason::kSlice && turn.reason != wire::TurnReason::kPreempted) return Done{};
  return insert_preemption_
      .bind(number.value, header.thread, header.ticks, header.pc, turn.to_thread, event::name_of(turn.reason))
      .run();
}

Status TableFiller::add_thread(const wire::ThreadBody& body, std::uint32_t creator, EventNumber number) {
  const ThreadState parent = threads_[creator];
  ThreadState& child = threads_[body.thread];
  child = {};
  child.pid = body.pid;
  child.process = parent.process;
  if (parent.pid != body.pid) {
    const auto process = add_process(body.pid, parent.pid, number);
    if (!process) return process.error();
    child.process = process.value();
  }
  return insert_thread_.bind(body.thread, child.process, body.tid, creator, number.value).run();
}

Status TableFiller::add_signal(const EventView& record, const wire::SignalBody& body, EventNumber number) {
  // siginfo_t (man 2 sigaction): si_code at 8; the union at 16 begins with si_pid or si_addr.
  std::int32_t code = 0;
  std::int32_t sender = 0;
  std::uint64_t address = 0;
  std::memcpy(&code, body.info + 8, sizeof code);
  std::memcpy(&sender, body.info + 16, sizeof sender);
  std::memcpy(&address, body.info + 16, sizeof address);
  const bool from_process = code <= 0 || body.number == 17;  // SI_USER, SI_QUEUE, SI_TKILL ...; SIGCHLD
  return insert_signal_
      .bind(number.value, record.header->thread, record.header->ticks, record.header->pc, body.number,
            body.asynchronous, code, from_process ? std::optional(sender) : std::nullopt,
            from_process ? std::nullopt : std::optional(address))
      .run();
}

Status TableFiller::add_exit(const EventView& record, const wire::ExitBody& body, EventNumber number,
                             WallTime time) {
  const auto& header = *record.header;
  const std::string_view cause = event::name_of(body.cause);
  ThreadState& thread = threads_[header.thread];
  const auto inserted =
      insert_exit_.bind(number.value, header.thread, header.ticks, header.pc, cause, body.status).run();
  if (!inserted) return inserted;
  if (body.cause == wire::ExitCause::kExec) exec_ = {header.thread, number, header.pc, body.status};
  thread.ended = event::ends_thread(body.cause);
  if (!thread.ended) return Done{};
  if (body.cause == wire::ExitCause::kThread)
    return end_thread_.bind(number.value, header.ticks, cause, body.status, header.thread).run();

  if (slice_.thread == header.thread) {
    const auto slice = end_slice(number, header.ticks, header.pc, "exits", time);
    if (!slice) return slice;
  }
  return end_process(thread.process, &thread, number, body.cause, body.status);
}

/// Ends the rows of the process and of its threads; those that had ended before keep their end, but for the
/// one that ends it.
Status TableFiller::end_process(std::int64_t process, const ThreadState* ender, EventNumber last,
                                wire::ExitCause cause, std::int32_t status) {
  const std::string_view name = event::name_of(cause);
  const auto ended = end_process_.bind(last.value, name, status, process).run();
  if (!ended) return ended;
  for (auto& [number, state] : threads_) {
    if (state.process != process || (state.ended && &state != ender)) continue;
    state.ended = true;
    const auto done = end_thread_.bind(last.value, state.ticks, name, status, number).run();
    if (!done) return done;
  }
  return Done{};
}

/// At the event after an execve: it has succeeded if a thread goes on that nobody announced, the new image's.
Status TableFiller::conclude_exec(std::uint32_t next_thread, WallTime time) {
  const Exec exec = std::exchange(exec_, {});
  if (exec.thread == 0 || threads_.contains(next_thread)) return Done{};
  const ThreadState& thread = threads_[exec.thread];
  const auto slice =
      end_slice(exec.number, thread.ticks, exec.pc, event::name_of(wire::ExitCause::kExec), time);
  if (!slice) return slice;
  return end_process(thread.process, nullptr, exec.number, wire::ExitCause::kExec, exec.status);
}

Status TableFiller::add_call(const EventView& record, const event::SyscallView& call, EventNumber number) {
  if (std::uint64_t command; is_unsupported(*call.body, command)) {
    // A guest could try any number of commands; a list for people need not have them all.
    const std::pair key{call.body->number, command};
    const bool known = unsupported_.contains(key) || unsupported_.size() < kMaxUnsupported;
    Unsupported& entry = unsupported_[known ? key : std::pair{call.body->number, std::uint64_t{0}}];
    if (entry.count++ == 0) {
      entry.first = number;
      entry.error = call.body->result < 0 ? static_cast<std::int32_t>(-call.body->result) : 0;
    }
    unsupported_changed_ = true;
  }
  if (!has_output(record)) return Done{};
  return add_output(record, number);
}

/// Up to a limit: the rest is for `detrec index`.
Status TableFiller::add_output(const EventView& record, EventNumber number) {
  if (output_->bytes() >= kOutputBytesWhileRecording) output_complete_ = false;
  return output_complete_ ? output_->add(record, number) : Done{};
}

Status TableFiller::write_counts() {
  if (!std::exchange(unsupported_changed_, false)) return Done{};
  for (const auto& [key, entry] : unsupported_) {
    const auto done =
        insert_unsupported_.bind(key.first, key.second, entry.first.value, entry.count, entry.error).run();
    if (!done) return done;
  }
  return Done{};
}

std::uint64_t TableFiller::ticks() const {
  std::uint64_t sum = 0;
  for (const auto& [number, state] : threads_) sum += state.ticks;
  return sum;
}

Status TableFiller::finish(EventNumber last, WallTime time) {
  const auto ended = end_slice(last, threads_[slice_.thread].ticks, 0, "end", time);
  if (!ended) return ended;
  for (const auto& [number, state] : threads_) {
    if (state.ended || number == 0) continue;
    const auto done = end_thread_.bind(nullptr, state.ticks, nullptr, nullptr, number).run();
    if (!done) return done;
  }
  return write_counts();
}

}  // namespace detrec::storage
