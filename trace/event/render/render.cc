#include "trace/event/render/render.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "trace/event/names.h"
#include "trace/event/render/call_text.h"

namespace detrec::event {
namespace {

using Json = nlohmann::ordered_json;
using render::call_arguments;
using render::call_error;
using render::call_name;
using render::call_result;

constexpr std::size_t kPreview = 32;
constexpr std::size_t kNamePreview = 256;

std::string_view direction_name(wire::Direction direction) {
  switch (direction) {
    case wire::Direction::kIn:
      return "in";
    case wire::Direction::kOut:
      return "stdout";
    case wire::Direction::kError:
      return "stderr";
    case wire::Direction::kPath:
      return "path";
  }
  return "unknown";
}

std::string quoted_text(std::string_view text) {
  return quoted(std::as_bytes(std::span(text.data(), text.size())), kNamePreview);
}

/// A name without quotes when that cannot mislead.
std::string plain_or_quoted(std::string_view text) {
  for (const char c : text) {
    if (c <= ' ' || c > '~' || c == '"') return quoted_text(text);
  }
  return text.empty() ? "-" : std::string(text);
}

std::string range_text(const RangeView& range) {
  return fmt::format(" <{} {:#x}+{} {}>", direction_name(range.direction), range.address.value,
                     range.data.size(), quoted(range.data, kPreview));
}

std::string protection_text(std::uint32_t protection) {
  return {(protection & 1) != 0 ? 'r' : '-', (protection & 2) != 0 ? 'w' : '-',
          (protection & 4) != 0 ? 'x' : '-'};
}

std::string signal_text(int number) {
  const std::string_view name = signal_name(number);
  return name.empty() ? fmt::format("signal {}", number) : std::string(name);
}

std::int32_t signal_code(const wire::SignalBody& body) {
  std::int32_t code = 0;
  std::memcpy(&code, body.info + 8, sizeof code);  // siginfo_t, man 2 sigaction
  return code;
}

std::string start_text(const StartView& start) {
  std::string text = fmt::format("{} pid {} parent {}:", plain_or_quoted(start.path), start.body->pid,
                                 start.body->parent_pid);
  start.argv.for_each([&](std::string_view word) { text += " " + plain_or_quoted(word); });
  return text;
}

std::string mapping_text(const MappingView& mapping) {
  const auto& body = *mapping.body;
  std::string text =
      fmt::format("{:#x}-{:#x} {} {} {}", body.address, body.address + body.length,
                  protection_text(body.protection), plain_or_quoted(mapping.name), name_of(body.content));
  if (body.content == wire::Content::kCapture)
    text += fmt::format(" {} from {:#x}", body.capture, body.file_offset);
  if (!mapping.data.empty()) text += " " + quoted(mapping.data, kPreview);
  return text;
}

std::string call_text(const SyscallView& call) {
  std::string text =
      fmt::format("{}({}) = {}", call_name(call.body->number), call_arguments(call), call_result(*call.body));
  for (const RangeView range : call.ranges) {
    if (range.direction != wire::Direction::kPath) text += range_text(range);
  }
  return text;
}

std::string exit_text(const wire::ExitBody& body) {
  if (body.cause == wire::ExitCause::kSignal || body.cause == wire::ExitCause::kKilled)
    return fmt::format("{} {}", name_of(body.cause), signal_text(body.status));
  return fmt::format("{} status {}", name_of(body.cause), body.status);
}

std::string details(const EventView& view) {
  if (const auto* start = view.as<StartView>()) return start_text(*start);
  if (const auto* mapping = view.as<MappingView>()) return mapping_text(*mapping);
  if (const auto* call = view.as<SyscallView>()) return call_text(*call);
  if (const auto* instruction = view.as<InstructionView>()) {
    std::string text = fmt::format("{} =", name_of(instruction->body->what));
    for (const std::uint64_t value : instruction->body->values) text += fmt::format(" {:#x}", value);
    return text;
  }
  if (const auto* signal = view.as<SignalView>()) {
    return fmt::format("{} {} code {}", signal_text(signal->body->number),
                       signal->body->asynchronous != 0 ? "asynchronous" : "synchronous",
                       signal_code(*signal->body));
  }
  if (const auto* turn = view.as<TurnView>())
    return fmt::format("to {} ({})", turn->body->to_thread, name_of(turn->body->reason));
  if (const auto* thread = view.as<ThreadView>())
    return fmt::format("{} tid {} pid {}", thread->body->thread, thread->body->tid, thread->body->pid);
  if (const auto* exit = view.as<ExitView>()) return exit_text(*exit->body);
  if (const auto* data = view.as<DataView>()) return range_text(data->range).substr(1);
  return {};
}

std::string hex_address(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string hex_bytes(std::span<const std::byte> data) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(data.size() * 2);
  for (const std::byte byte : data) {
    text += kDigits[static_cast<unsigned>(byte) >> 4];
    text += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

Json range_json(const RangeView& range) {
  return {{"address", hex_address(range.address.value)},
          {"direction", direction_name(range.direction)},
          {"size", range.data.size()},
          {"data", hex_bytes(range.data)}};
}

Json strings_json(const StringList& strings) {
  Json list = Json::array();
  strings.for_each([&](std::string_view text) { list.push_back(text); });
  return list;
}

void add_call(Json& json, const SyscallView& call) {
  json["name"] = call_name(call.body->number);
  json["number"] = call.body->number;
  for (const std::uint64_t arg : call.body->args) json["args"].push_back(hex_address(arg));
  json["result"] = call.body->result;
  if (!call_error(*call.body).empty()) json["error"] = call_error(*call.body);
  json["duration_ns"] = call.body->duration_ns;
  json["ranges"] = Json::array();
  for (const RangeView range : call.ranges) json["ranges"].push_back(range_json(range));
}

void add_mapping(Json& json, const MappingView& mapping) {
  const auto& body = *mapping.body;
  json["address"] = hex_address(body.address);
  json["length"] = body.length;
  json["protection"] = protection_text(body.protection);
  json["name"] = mapping.name;
  json["content"] = name_of(body.content);
  if (body.content == wire::Content::kCapture) {
    json["capture"] = body.capture;
    json["file_offset"] = body.file_offset;
  }
  if (body.content == wire::Content::kData) json["data"] = hex_bytes(mapping.data);
}

void add_body(Json& json, const EventView& view) {
  if (const auto* start = view.as<StartView>()) {
    json["path"] = start->path;
    json["pid"] = start->body->pid;
    json["parent_pid"] = start->body->parent_pid;
    json["argv"] = strings_json(start->argv);
    json["envp"] = strings_json(start->envp);
  } else if (const auto* mapping = view.as<MappingView>()) {
    add_mapping(json, *mapping);
  } else if (const auto* call = view.as<SyscallView>()) {
    add_call(json, *call);
  } else if (const auto* instruction = view.as<InstructionView>()) {
    json["name"] = name_of(instruction->body->what);
    for (const std::uint64_t value : instruction->body->values) json["values"].push_back(hex_address(value));
  } else if (const auto* signal = view.as<SignalView>()) {
    json["name"] = signal_text(signal->body->number);
    json["number"] = signal->body->number;
    json["asynchronous"] = signal->body->asynchronous != 0;
    json["code"] = signal_code(*signal->body);
  } else if (const auto* turn = view.as<TurnView>()) {
    json["to_thread"] = turn->body->to_thread;
    json["reason"] = name_of(turn->body->reason);
  } else if (const auto* thread = view.as<ThreadView>()) {
    json["new_thread"] = thread->body->thread;
    json["tid"] = thread->body->tid;
    json["pid"] = thread->body->pid;
  } else if (const auto* exit = view.as<ExitView>()) {
    json["cause"] = name_of(exit->body->cause);
    json["status"] = exit->body->status;
  } else if (const auto* data = view.as<DataView>()) {
    json["range"] = range_json(data->range);
  }
}

}  // namespace

std::string quoted(std::span<const std::byte> data, std::size_t limit) {
  std::string text = "\"";
  for (const std::byte byte : data.first(std::min(limit, data.size()))) {
    const auto c = static_cast<unsigned char>(byte);
    switch (c) {
      case '\n':
        text += "\\n";
        break;
      case '\t':
        text += "\\t";
        break;
      case '\r':
        text += "\\r";
        break;
      case '"':
      case '\\':
        text += {'\\', static_cast<char>(c)};
        break;
      default:
        if (c < ' ' || c > '~') {
          text += fmt::format("\\x{:02x}", c);
        } else {
          text += static_cast<char>(c);
        }
    }
  }
  return text + (data.size() > limit ? "\"..." : "\"");
}

std::string render_line(const DecodedRecord& record) {
  const EventView& view = record.view;
  return fmt::format("{} {} {} {}", to_string(Position{record.number, view.ticks(), view.pc()}),
                     view.thread().value, kind_name(view.kind()), details(view));
}

std::string render_json(const DecodedRecord& record) {
  const EventView& view = record.view;
  Json json = {{"event", record.number.value},       {"ticks", view.ticks().value},
               {"pc", hex_address(view.pc().value)}, {"thread", view.thread().value},
               {"time_ns", record.time.ns},          {"kind", kind_name(view.kind())}};
  add_body(json, view);
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace detrec::event
