#include "tests/reseal/reseal.h"

#include <charconv>
#include <cstring>
#include <map>

#include "storage/sqlite.h"
#include "storage/trace_reader.h"
#include "trace/event/chunk_codec.h"
#include "trace/event/record_builder.h"

namespace detrec::reseal {
namespace {

using event::Done;
using event::Error;
using event::ErrorCode;
using event::EventNumber;
using event::Result;
using event::Status;

constexpr std::size_t kChunkBytes = 1u << 20;

Error wrong(std::string message) { return Error{ErrorCode::kMisuse, std::move(message), "reseal"}; }

Result<std::vector<Event>> read_events(const std::filesystem::path& path) {
  auto reader = storage::TraceReader::open(path);
  if (!reader) return reader.error();
  auto cursor = reader.value()->events();
  if (!cursor) return cursor.error();
  std::vector<Event> events;
  while (true) {
    const auto record = cursor.value().next();
    if (!record) return record.error();
    if (!record.value()) return events;
    if (record.value()->view.kind() != wire::EventKind::kData) events.push_back({record.value()->time, {}});
    auto& records = events.back().records;
    records.insert(records.end(), record.value()->bytes.begin(), record.value()->bytes.end());
  }
}

Status insert_chunk(storage::sqlite::Database& database, event::ChunkEncoder& encoder, std::int64_t seq) {
  const auto chunk = encoder.finish();
  if (!chunk) return chunk.error();
  auto insert = database.prepare("INSERT INTO chunk VALUES(0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return insert.error();
  const auto& c = chunk.value();
  return insert.value()
      .bind(seq, c.first_event.value, c.last_event.value, c.first_time.ns, c.last_time.ns, event::kChunkCodec,
            c.records, c.raw_size, c.coded_size, c.crc, std::span<const std::byte>(c.data))
      .run();
}

Status write_events(storage::sqlite::Database& database, const std::vector<Event>& events) {
  auto transaction = storage::sqlite::Transaction::begin(database);
  if (!transaction) return transaction.error();
  if (const auto done = database.execute("DELETE FROM chunk"); !done) return done;
  event::ChunkEncoder encoder;
  std::int64_t seq = 0;
  EventNumber number;
  for (const Event& event : events) {
    ++number.value;
    Status good = Done{};
    event::for_each_record(event.records, [&](std::span<const std::byte> record) {
      const auto view = event::parse_record(record);
      if (!view) {
        good = view.error();
      } else {
        encoder.add(view.value(), number, event.time);
      }
    });
    if (!good) return good;
    if (encoder.raw_size() < kChunkBytes) continue;
    if (const auto done = insert_chunk(database, encoder, ++seq); !done) return done;
  }
  if (!encoder.empty()) {
    if (const auto done = insert_chunk(database, encoder, ++seq); !done) return done;
  }
  return transaction.value().commit();
}

bool parse_number(std::string_view text, std::uint64_t& value) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  const auto [stop, code] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (negative) value = 0 - value;
  return code == std::errc{} && stop == text.data() + text.size();
}

/// The bytes of all ranges of an event, kData records included, at `offset` from the first.
std::byte* range_byte(Event& event, std::uint64_t offset) {
  std::byte* found = nullptr;
  event::for_each_record(event.records, [&](std::span<const std::byte> record) {
    const auto view = event::parse_record(record);
    if (!view || found != nullptr) return;
    const auto look = [&](std::span<const std::byte> data) {
      if (found == nullptr && offset < data.size()) found = const_cast<std::byte*>(data.data() + offset);
      offset -= found == nullptr ? data.size() : 0;
    };
    if (const auto* call = view.value().as<event::SyscallView>()) {
      for (const event::RangeView range : call->ranges) look(range.data);
    } else if (const auto* data = view.value().as<event::DataView>()) {
      look(data->range.data);
    } else if (const auto* mapping = view.value().as<event::MappingView>()) {
      look(mapping->data);
    }
  });
  return found;
}

template <typename Body>
Result<Body*> body_of(Event& event, wire::EventKind kind) {
  if (event.header().kind != kind) return wrong("the event is of another kind");
  return &event.body<Body>();
}

/// Changes one event; `value` holds the words behind the event number.
using EventChange = Status (*)(Event&, std::span<const std::uint64_t> values);

Status change_call(Event& event, const std::function<void(wire::SyscallBody&)>& change) {
  const auto body = body_of<wire::SyscallBody>(event, wire::EventKind::kSyscall);
  if (!body) return body.error();
  change(*body.value());
  return Done{};
}

struct Verb {
  std::size_t values;  ///< numbers behind the event's
  EventChange change;
};

const std::map<std::string, Verb, std::less<>>& verbs() {
  static const std::map<std::string, Verb, std::less<>> kVerbs = {
      {"data",
       {2,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          std::byte* byte = range_byte(e, v[0]);
          if (byte == nullptr) return wrong("the event has not so much data");
          *byte ^= static_cast<std::byte>(v[1]);
          return Done{};
        }}},
      {"result",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) {
          return change_call(e, [&](auto& body) { body.result = static_cast<std::int64_t>(v[0]); });
        }}},
      {"number",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) {
          return change_call(e, [&](auto& body) { body.number = static_cast<std::int32_t>(v[0]); });
        }}},
      {"hash",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) {
          return change_call(e, [&](auto& body) { body.input_hash = static_cast<std::uint32_t>(v[0]); });
        }}},
      {"arg",
       {2,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          if (v[0] >= 6) return wrong("arguments are 0 to 5");
          return change_call(e, [&](auto& body) { body.args[v[0]] = v[1]; });
        }}},
      {"value",
       {2,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          if (v[0] >= 4) return wrong("values are 0 to 3");
          const auto body = body_of<wire::InstructionBody>(e, wire::EventKind::kInstruction);
          if (!body) return body.error();
          body.value()->values[v[0]] = v[1];
          return Done{};
        }}},
      {"signal",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          const auto body = body_of<wire::SignalBody>(e, wire::EventKind::kSignal);
          if (!body) return body.error();
          body.value()->number = static_cast<std::int32_t>(v[0]);
          return Done{};
        }}},
      {"status",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          const auto body = body_of<wire::ExitBody>(e, wire::EventKind::kExit);
          if (!body) return body.error();
          body.value()->status = static_cast<std::int32_t>(v[0]);
          return Done{};
        }}},
      {"registers",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          if (e.header().kind == wire::EventKind::kTurn) {
            e.body<wire::TurnBody>().register_hash ^= v[0];
          } else if (e.header().kind == wire::EventKind::kExit) {
            e.body<wire::ExitBody>().register_hash ^= v[0];
          } else if (e.header().kind == wire::EventKind::kSignal) {
            e.body<wire::SignalBody>().register_hash ^= v[0];
          } else {
            return wrong("only signal, turn and exit events have a hash of the registers");
          }
          return Done{};
        }}},
      {"ticks",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          e.header().ticks += v[0];
          return Done{};
        }}},
      {"pc",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          e.header().pc += v[0];
          return Done{};
        }}},
      {"thread",
       {1,
        [](Event& e, std::span<const std::uint64_t> v) -> Status {
          e.header().thread = static_cast<std::uint32_t>(v[0]);
          return Done{};
        }}},
  };
  return kVerbs;
}

/// Changes of the order of events, which concern the whole list.
Status change_order(std::string_view verb, std::vector<Event>& events, std::size_t index) {
  const auto at = events.begin() + static_cast<std::ptrdiff_t>(index);
  if (verb == "drop") {
    events.erase(at);
  } else if (verb == "repeat") {
    const Event copy = *at;
    events.insert(at, copy);
  } else if (verb == "end") {
    events.erase(at, events.end());
  } else {  // "swap": with the next
    if (index + 1 >= events.size()) return wrong("there is no next event");
    std::swap(events[index], events[index + 1]);
  }
  return Done{};
}

bool changes_order(std::string_view verb) {
  return verb == "drop" || verb == "repeat" || verb == "end" || verb == "swap";
}

}  // namespace

std::string usage() {
  return "reseal TRACE COPY CHANGE...\n"
         "  data EVENT OFFSET XOR    a byte of the event's ranges\n"
         "  result|number|hash EVENT VALUE, arg EVENT INDEX VALUE    of a system call\n"
         "  value EVENT INDEX VALUE  of an instruction\n"
         "  signal EVENT NUMBER, status EVENT VALUE    of a signal, of an exit\n"
         "  registers EVENT XOR      the hash in a signal, a turn or an exit\n"
         "  ticks|pc EVENT DELTA, thread EVENT NUMBER    of any event\n"
         "  drop|repeat|swap|end EVENT    swap: with the next; end: drop it and all behind it\n";
}

Result<Change> parse_change(std::span<const std::string> words) {
  if (words.size() < 2) return wrong("a change is a word and an event's number");
  const std::string verb = words[0];
  std::vector<std::uint64_t> values;
  for (const std::string& word : words.subspan(1)) {
    std::uint64_t value = 0;
    if (!parse_number(word, value)) return wrong("'" + word + "' is no number");
    values.push_back(value);
  }
  const auto found = verbs().find(verb);
  if (!changes_order(verb) && found == verbs().end()) return wrong("there is no change '" + verb + "'");
  const std::size_t needed = changes_order(verb) ? 1 : found->second.values + 1;
  if (values.size() != needed) return wrong("'" + verb + "' takes " + std::to_string(needed) + " numbers");
  const EventChange change = changes_order(verb) ? nullptr : found->second.change;
  return Change([verb, values, change](std::vector<Event>& events) -> Status {
    if (values[0] == 0 || values[0] > events.size())
      return wrong("there is no event " + std::to_string(values[0]));
    const std::size_t index = static_cast<std::size_t>(values[0] - 1);
    if (change == nullptr) return change_order(verb, events, index);
    return change(events[index], std::span(values).subspan(1));
  });
}

Status reseal(const std::filesystem::path& from, const std::filesystem::path& to, const Change& change) {
  auto events = read_events(from);
  if (!events) return events.error();
  if (const auto changed = change(events.value()); !changed) return changed;
  std::error_code error;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (error) return Error{ErrorCode::kIo, error.message(), to.string()};
  auto database = storage::sqlite::Database::open(to.string(), SQLITE_OPEN_READWRITE);
  if (!database) return database.error();
  return write_events(database.value(), events.value());
}

}  // namespace detrec::reseal
