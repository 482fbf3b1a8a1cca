#include "trace/event/event_view.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "trace/event/record_parser.h"

namespace detrec::event {
namespace {

using wire::EventHeader;
using wire::EventKind;
using wire::RangeHeader;
using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kPage = 4096;
/// The highest InstructionKind; the codec has three bits for it.
constexpr std::uint32_t kLastInstruction = 7;

constexpr std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// The rest of a record that is still to be looked at.
class Rest {
 public:
  explicit Rest(Bytes bytes) : bytes_(bytes) {}

  /// A structure; nullptr when the rest is too short.
  template <typename T>
  const T* take() {
    static_assert(sizeof(T) % 8 == 0 && alignof(T) <= 8);
    if (bytes_.size() < sizeof(T)) return nullptr;
    const auto* at = reinterpret_cast<const T*>(bytes_.data());
    bytes_ = bytes_.subspan(sizeof(T));
    return at;
  }

  /// `size` bytes and their padding; false when the rest is too short or the padding is not zero.
  bool take_padded(std::size_t size, Bytes& data) {
    if (size > bytes_.size() || padded(size) > bytes_.size()) return false;
    data = bytes_.first(size);
    if (size % 8 != 0 && !all_zero(bytes_.subspan(size, padded(size) - size))) return false;
    bytes_ = bytes_.subspan(padded(size));
    return true;
  }

  bool empty() const { return bytes_.empty(); }
  const std::byte* data() const { return bytes_.data(); }

 private:
  Bytes bytes_;
};

/// nullptr, or what is wrong.
inline const char* check_range(Rest& rest) {
  const auto* header = rest.take<RangeHeader>();
  if (header == nullptr) return "a range reaches beyond its record";
  if (header->direction > wire::Direction::kPath) return "a range has an unknown direction";
  if (header->address > std::numeric_limits<std::uint64_t>::max() - header->size)
    return "a range wraps around the end of memory";
  Bytes data;
  if (!rest.take_padded(header->size, data)) return "the data of a range does not fit its record";
  return nullptr;
}

// Each gives nullptr, or what is wrong.

constexpr const char* kUnknownKind = "an unknown kind of event";
constexpr const char* kReservedNotZero = "a reserved field is not 0";
constexpr const char* kTooShort = "the record is shorter than its kind";

template <typename View, typename Body>
const char* parse_fixed(Rest& rest, BodyView& view) {
  const auto* body = rest.take<Body>();
  if (body == nullptr) return kTooShort;
  view = View{body};
  return nullptr;
}

const char* parse_start(Rest& rest, BodyView& view) {
  const auto* body = rest.take<wire::StartBody>();
  if (body == nullptr) return kTooShort;
  Bytes strings;
  if (!rest.take_padded(body->strings_size, strings)) return "the strings do not fit their record";
  const auto* first = reinterpret_cast<const char*>(strings.data());
  // Path, argv and envp; each takes one byte at least, so the counts cannot make this loop long.
  const std::uint64_t count = std::uint64_t{1} + body->argc + body->envc;
  if (count > strings.size()) return "there are fewer strings than argc and envc say";
  std::size_t offset = 0;
  std::size_t argv_offset = 0;
  std::size_t envp_offset = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == 1) argv_offset = offset;
    if (i == std::uint64_t{1} + body->argc) envp_offset = offset;
    if (offset >= strings.size()) return "there are fewer strings than argc and envc say";
    const void* nul = std::memchr(first + offset, 0, strings.size() - offset);
    if (nul == nullptr) return "a string has no end";
    offset = static_cast<std::size_t>(static_cast<const char*>(nul) - first) + 1;
  }
  if (offset != strings.size()) return "there are more strings than argc and envc say";
  view = StartView{body, std::string_view(first), StringList(first + argv_offset, body->argc),
                   StringList(first + envp_offset, body->envc)};
  return nullptr;
}

const char* parse_mapping(Rest& rest, BodyView& view) {
  const auto* body = rest.take<wire::MappingBody>();
  if (body == nullptr) return kTooShort;
  if (body->address % kPage != 0 || body->length % kPage != 0 || body->length == 0)
    return "a mapping is not whole pages";
  if (body->address > std::numeric_limits<std::uint64_t>::max() - body->length)
    return "a mapping wraps around the end of memory";
  if (body->content > wire::Content::kData) return "a mapping has unknown content";
  if (body->content == wire::Content::kCapture && body->capture == 0)
    return "a mapping of a captured file names none";
  if (body->content != wire::Content::kData && body->data_size != 0)
    return "a mapping has data that its content does not speak of";
  Bytes name;
  Bytes data;
  if (!rest.take_padded(body->name_size, name)) return "the name of a mapping does not fit its record";
  if (std::find(name.begin(), name.end(), std::byte{0}) != name.end())
    return "the name of a mapping contains a NUL";
  if (!rest.take_padded(body->data_size, data)) return "the data of a mapping does not fit its record";
  view = MappingView{body, std::string_view(reinterpret_cast<const char*>(name.data()), name.size()), data};
  return nullptr;
}

const char* parse_syscall(Rest& rest, BodyView& view) {
  const auto* body = rest.take<wire::SyscallBody>();
  if (body == nullptr) return kTooShort;
  if (body->reserved != 0) return kReservedNotZero;
  const std::byte* first = rest.data();
  for (std::uint32_t i = 0; i < body->range_count; ++i) {
    if (const char* wrong = check_range(rest)) return wrong;
  }
  view = SyscallView{body, RangeList(first, body->range_count)};
  return nullptr;
}

const char* parse_instruction(Rest& rest, BodyView& view) {
  if (const char* wrong = parse_fixed<InstructionView, wire::InstructionBody>(rest, view)) return wrong;
  const auto& body = *std::get_if<InstructionView>(&view)->body;
  if (body.reserved != 0) return kReservedNotZero;
  if (body.what < wire::InstructionKind::kRdtsc || static_cast<std::uint32_t>(body.what) > kLastInstruction)
    return "an unknown kind of instruction";
  return nullptr;
}

const char* parse_turn(Rest& rest, BodyView& view) {
  if (const char* wrong = parse_fixed<TurnView, wire::TurnBody>(rest, view)) return wrong;
  const auto& body = *std::get_if<TurnView>(&view)->body;
  if (body.reason < wire::TurnReason::kSlice || body.reason > wire::TurnReason::kPreempted)
    return "a turn ends for an unknown reason";
  return nullptr;
}

const char* parse_thread(Rest& rest, BodyView& view) {
  if (const char* wrong = parse_fixed<ThreadView, wire::ThreadBody>(rest, view)) return wrong;
  const auto& body = *std::get_if<ThreadView>(&view)->body;
  if (body.reserved != 0) return kReservedNotZero;
  if (body.thread == 0) return "a new thread has no number";
  return nullptr;
}

const char* parse_exit(Rest& rest, BodyView& view) {
  if (const char* wrong = parse_fixed<ExitView, wire::ExitBody>(rest, view)) return wrong;
  const auto& body = *std::get_if<ExitView>(&view)->body;
  if (body.cause < wire::ExitCause::kThread || body.cause > wire::ExitCause::kKilled)
    return "an exit has an unknown cause";
  return nullptr;
}

const char* parse_data(Rest& rest, BodyView& view) {
  const std::byte* first = rest.data();
  if (const char* wrong = check_range(rest)) return wrong;
  view = DataView{*RangeList(first, 1).begin()};
  return nullptr;
}

const char* parse_body(EventKind kind, Rest& rest, BodyView& view) {
  switch (kind) {
    case EventKind::kStart:
      return parse_start(rest, view);
    case EventKind::kMapping:
      return parse_mapping(rest, view);
    case EventKind::kSyscall:
      return parse_syscall(rest, view);
    case EventKind::kInstruction:
      return parse_instruction(rest, view);
    case EventKind::kSignal:
      return parse_fixed<SignalView, wire::SignalBody>(rest, view);
    case EventKind::kTurn:
      return parse_turn(rest, view);
    case EventKind::kThread:
      return parse_thread(rest, view);
    case EventKind::kExit:
      return parse_exit(rest, view);
    case EventKind::kData:
      return parse_data(rest, view);
  }
  return kUnknownKind;
}

}  // namespace

const char* parse_record_into(EventView& view, Bytes bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) return "the record is not aligned";
  if (bytes.size() < sizeof(EventHeader)) return "the record is shorter than its header";
  const auto* header = reinterpret_cast<const EventHeader*>(bytes.data());
  if (header->size < sizeof(EventHeader) || header->size % 8 != 0 || header->size > wire::kMaxRecordBytes)
    return "the record has an impossible size";
  if (header->size > bytes.size()) return "the record is cut off";
  if ((header->flags & ~wire::kMoreData) != 0) return "the record has unknown flags";
  if (header->reserved != 0) return kReservedNotZero;
  if (header->thread == 0) return "the record has no thread";

  view.header = header;
  Rest rest(bytes.subspan(sizeof(EventHeader), header->size - sizeof(EventHeader)));
  if (const char* wrong = parse_body(header->kind, rest, view.body)) return wrong;
  return rest.empty() ? nullptr : "there is more than belongs to it";
}

Result<EventView> parse_record(Bytes bytes) {
  EventView view;
  const char* wrong = parse_record_into(view, bytes);
  if (wrong == nullptr) return view;
  Error error{wrong == kUnknownKind ? ErrorCode::kUnsupported : ErrorCode::kInvalid, wrong, {}};
  if (view.header != nullptr) error.context = std::string(kind_name(view.kind())) + " record";
  return error;
}

std::string_view kind_name(EventKind kind) {
  constexpr std::array<std::string_view, wire::kLastEventKind + 1> kNames = {
      "unknown", "start", "mapping", "syscall", "instruction", "signal", "turn", "thread", "exit", "data"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : kNames[0];
}

}  // namespace detrec::event
