// Decoding of bytes written as hexadecimal text, for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "trace/guest/decode/insn.h"

namespace detrec::guest::test {

inline std::vector<std::uint8_t> bytes_of(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  unsigned value = 0, digits = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (++digits % 2 == 0) {
      bytes.push_back(static_cast<std::uint8_t>(value));
      value = 0;
    }
  }
  return bytes;
}

struct Decoded {
  DecodeStatus status;
  Insn insn;
  bool ok() const { return status == DecodeStatus::kOk; }
};

inline Decoded decoded(std::string_view text) {
  const std::vector<std::uint8_t> bytes = bytes_of(text);
  Decoded d{};
  d.status = decode(bytes.data(), bytes.size(), d.insn);
  return d;
}

/// The instruction, which must be valid and as long as the text; otherwise its length is 0.
inline Insn insn_of(std::string_view text) {
  const Decoded d = decoded(text);
  if (!d.ok() || d.insn.length != bytes_of(text).size()) return Insn{};
  return d.insn;
}

inline DecodeStatus status_of(std::string_view text) { return decoded(text).status; }

inline constexpr std::uint16_t gprs(std::initializer_list<unsigned> registers) {
  unsigned mask = 0;
  for (const unsigned r : registers) mask |= 1u << r;
  return static_cast<std::uint16_t>(mask);
}

}  // namespace detrec::guest::test
