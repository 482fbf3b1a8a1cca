#include "gdbstub/packet/hex.h"

#include <algorithm>
#include <charconv>

namespace detrec::gdbstub::packet {

namespace {

constexpr char kDigits[] = "0123456789abcdef";

}  // namespace

std::optional<std::uint8_t> digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

std::string hex_number(std::uint64_t value) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, value, 16).ptr;
  return {text, end};
}

std::string hex_byte(std::uint8_t value) { return {kDigits[value >> 4], kDigits[value & 15]}; }

std::string hex_bytes(std::span<const std::uint8_t> bytes) {
  std::string text(bytes.size() * 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = kDigits[bytes[i] >> 4];
    text[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return text;
}

std::string hex_text(std::string_view text) { return hex_bytes(as_bytes(text)); }

std::optional<Bytes> bytes_from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = digit_value(text[2 * i]);
    const auto low = digit_value(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return bytes;
}

std::optional<std::string> text_from_hex(std::string_view text) {
  const auto bytes = bytes_from_hex(text);
  if (!bytes) return std::nullopt;
  return std::string(as_text(*bytes));
}

}  // namespace detrec::gdbstub::packet
