// Hexadecimal text, the protocol's form of numbers and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace detrec::gdbstub::packet {

using Bytes = std::vector<std::uint8_t>;

/// The value of one digit, of either case.
std::optional<std::uint8_t> digit_value(char c);

/// Big-endian, lower case, no leading zeros: how numbers are written.
std::string hex_number(std::uint64_t value);
/// Exactly two digits.
std::string hex_byte(std::uint8_t value);
/// Two digits a byte, in order.
std::string hex_bytes(std::span<const std::uint8_t> bytes);
std::string hex_text(std::string_view text);

/// Nothing if a digit is missing or wrong.
std::optional<Bytes> bytes_from_hex(std::string_view text);
std::optional<std::string> text_from_hex(std::string_view text);

inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace detrec::gdbstub::packet
