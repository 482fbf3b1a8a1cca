// Packets on the wire: $payload#checksum, + and -, and the interrupt byte. No I/O: bytes in, items out.
// gdb manual, appendix "gdb Remote Serial Protocol", sections Overview and Packet Acknowledgment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace detrec::gdbstub::packet {

/// The longest payload, escaped, in either direction. Told to the client as PacketSize.
inline constexpr std::size_t kMaxPacket = 0x100000;
inline constexpr char kInterruptByte = '\x03';

enum class ItemKind : std::uint8_t {
  kPacket,     ///< `payload` has it, unescaped
  kBadPacket,  ///< a wrong checksum (`payload` as received) or one that is too long (`payload` empty)
  kAck,
  kNack,
  kInterrupt  ///< the byte 3 outside a packet; inside one it is data
};

struct Item {
  ItemKind kind;
  std::string payload = {};
};

/// Cuts a stream of bytes into items. Bytes between packets that mean nothing are skipped.
class Framer {
 public:
  void append(std::string_view bytes);
  /// The next complete item, nothing if more bytes are needed.
  std::optional<Item> next();
  /// How many bytes it keeps: no more than the longest packet and what was appended last.
  std::size_t kept() const { return buffer_.size(); }

 private:
  std::optional<Item> finish_packet(std::size_t hash);

  std::string buffer_;
  std::size_t begin_ = 0;  ///< of what is not consumed
  std::size_t scan_ = 0;   ///< up to where no '#' was found
  bool skipping_ = false;  ///< inside a packet that is too long
};

std::uint8_t checksum(std::string_view payload);
/// Escapes what may not stand in a payload: # $ } and, because it would be taken as a repetition, *.
std::string escape(std::string_view bytes);
/// Like escape, but stops in time for the result to have at most `limit` bytes; `used` gets how many were
/// taken.
std::string escape_up_to(std::string_view bytes, std::size_t limit, std::size_t& used);
/// $payload#checksum; the payload is escaped already, or needs it not.
std::string frame(std::string_view payload);

}  // namespace detrec::gdbstub::packet
