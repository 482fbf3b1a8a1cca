#include "gdbstub/packet/framer.h"

#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::packet {

namespace {

constexpr char kEscape = '}';
constexpr char kEscapeBit = 0x20;

bool needs_escape(char c) { return c == '#' || c == '$' || c == kEscape || c == '*'; }

std::string unescape(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kEscape && i + 1 < text.size()) {
      bytes += static_cast<char>(text[++i] ^ kEscapeBit);
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

}  // namespace

void Framer::append(std::string_view bytes) {
  // What has been consumed goes when it is the larger part, so that each byte is moved a constant number of
  // times.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    scan_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<Item> Framer::next() {
  while (begin_ < buffer_.size()) {
    const char c = buffer_[begin_];
    if (!skipping_ && c != '$') {
      scan_ = ++begin_;
      if (c == '+') return Item{ItemKind::kAck};
      if (c == '-') return Item{ItemKind::kNack};
      if (c == kInterruptByte) return Item{ItemKind::kInterrupt};
      continue;
    }
    const auto hash = buffer_.find('#', scan_);
    if (hash == std::string::npos) {
      scan_ = buffer_.size();
      if (skipping_ || buffer_.size() - begin_ > kMaxPacket + 1) {
        skipping_ = true;
        begin_ = scan_;
      }
      return std::nullopt;
    }
    scan_ = hash;
    if (hash + 2 >= buffer_.size()) return std::nullopt;
    return finish_packet(hash);
  }
  return std::nullopt;
}

std::optional<Item> Framer::finish_packet(std::size_t hash) {
  const bool too_long = skipping_ || hash - begin_ > kMaxPacket + 1;
  auto body = too_long ? std::string_view{} : std::string_view(buffer_).substr(begin_ + 1, hash - begin_ - 1);
  // A bare '$' can only be the start of a packet: the one before it was cut off.
  if (const auto start = body.rfind('$'); start != std::string_view::npos) body.remove_prefix(start + 1);
  const auto high = digit_value(buffer_[hash + 1]);
  const auto low = digit_value(buffer_[hash + 2]);
  const bool good = !too_long && high && low && checksum(body) == (*high << 4 | *low);
  Item item{good ? ItemKind::kPacket : ItemKind::kBadPacket, unescape(body)};
  skipping_ = false;
  begin_ = scan_ = hash + 3;
  return item;
}

std::uint8_t checksum(std::string_view payload) {
  unsigned sum = 0;
  for (const char c : payload) sum += static_cast<unsigned char>(c);
  return static_cast<std::uint8_t>(sum);
}

std::string escape_up_to(std::string_view bytes, std::size_t limit, std::size_t& used) {
  std::string text;
  text.reserve(bytes.size() < limit ? bytes.size() : limit);
  used = 0;
  for (const char c : bytes) {
    if (text.size() + (needs_escape(c) ? 2 : 1) > limit) break;
    if (needs_escape(c)) {
      text += kEscape;
      text += static_cast<char>(c ^ kEscapeBit);
    } else {
      text += c;
    }
    ++used;
  }
  return text;
}

std::string escape(std::string_view bytes) {
  std::size_t used = 0;
  return escape_up_to(bytes, bytes.size() * 2, used);
}

std::string frame(std::string_view payload) {
  std::string text;
  text.reserve(payload.size() + 4);
  text += '$';
  text += payload;
  text += '#';
  text += hex_byte(checksum(payload));
  return text;
}

}  // namespace detrec::gdbstub::packet
