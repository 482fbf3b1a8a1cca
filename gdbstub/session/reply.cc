#include "gdbstub/session/reply.h"

#include <cerrno>

#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub {

Reply Reply::error_code(int code) {
  const auto byte = code > 0 && code < 256 ? static_cast<std::uint8_t>(code) : std::uint8_t{EIO};
  return {"E" + packet::hex_byte(byte)};
}

Reply Reply::error(const Error& error) {
  auto text = "E." + to_string(error);
  // Replies of this kind are not unescaped by the client, so what would need it must not occur.
  for (auto& c : text) {
    if (c == '#' || c == '$' || c == '}' || c == '*' || static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  return {std::move(text)};
}

}  // namespace detrec::gdbstub
