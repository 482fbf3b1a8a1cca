// Reads a packet's text from left to right. A failed read moves nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace detrec::gdbstub::packet {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  /// Skips `text` if it comes next.
  bool take(std::string_view text);
  bool take(char c) { return take(std::string_view(&c, 1)); }
  /// An unsigned hexadecimal number that fits 64 bits.
  std::optional<std::uint64_t> number();
  /// Everything up to `separator`, which is skipped, or up to the end.
  std::string_view field(char separator);
  /// The next `count` characters, fewer at the end.
  std::string_view chars(std::size_t count);

 private:
  std::string_view rest_;
};

}  // namespace detrec::gdbstub::packet
