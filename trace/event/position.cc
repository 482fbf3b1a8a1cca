#include "trace/event/position.h"

#include <fmt/format.h>

#include <charconv>

namespace detrec::event {
namespace {

bool parse_part(std::string_view text, int base, std::uint64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value, base);
  return code == std::errc{} && stop == end;
}

/// Cuts off and returns what stands before the first colon.
std::string_view take_part(std::string_view& text) {
  const auto colon = text.find(':');
  const auto part = text.substr(0, colon);
  text = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  return part;
}

}  // namespace

std::string to_string(const Position& position) {
  return fmt::format("{}:{}:{:#x}", position.event.value, position.ticks.value, position.pc.value);
}

Result<Position> parse_position(std::string_view text) {
  const Error error{ErrorCode::kInvalid, "is no position: EVENT, EVENT:TICKS or EVENT:TICKS:PC",
                    "'" + std::string(text) + "'"};
  Position position;
  const bool has_ticks = text.find(':') != std::string_view::npos;
  if (!parse_part(take_part(text), 10, position.event.value)) return error;
  if (!has_ticks) return position;
  const bool has_pc = text.find(':') != std::string_view::npos;
  if (!parse_part(take_part(text), 10, position.ticks.value)) return error;
  if (!has_pc) return position;
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (!parse_part(text, 16, position.pc.value)) return error;
  return position;
}

}  // namespace detrec::event
