#include "gdbstub/packet/cursor.h"

#include <charconv>

#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::packet {

bool Cursor::take(std::string_view text) {
  if (!rest_.starts_with(text)) return false;
  rest_.remove_prefix(text.size());
  return true;
}

std::optional<std::uint64_t> Cursor::number() {
  std::uint64_t value = 0;
  // from_chars would take a sign for signed types only; an unsigned read starts with a digit or fails.
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, 16);
  if (error != std::errc{}) return std::nullopt;
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::string_view Cursor::field(char separator) {
  const auto position = rest_.find(separator);
  const auto text = rest_.substr(0, position);
  rest_.remove_prefix(position == std::string_view::npos ? rest_.size() : position + 1);
  return text;
}

std::string_view Cursor::chars(std::size_t count) {
  const auto text = rest_.substr(0, count);
  rest_.remove_prefix(text.size());
  return text;
}

}  // namespace detrec::gdbstub::packet
