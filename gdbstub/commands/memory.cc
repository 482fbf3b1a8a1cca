// m x M X and searching: the memory of the process that Hg chose.
#include <algorithm>
#include <cerrno>
#include <functional>

#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/framer.h"
#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::commands {

namespace {

struct Span {
  Address address;
  std::uint64_t length;
};

std::optional<Span> read_span(Cursor& args, char separator = ',') {
  const auto address = args.number();
  if (!address || !args.take(separator)) return std::nullopt;
  const auto length = args.number();
  if (!length) return std::nullopt;
  return Span{{*address}, *length};
}

/// At most `limit` bytes, fewer where the mapped memory ends.
Result<packet::Bytes> read(Session& session, Span span, std::size_t limit) {
  packet::Bytes bytes(std::min<std::uint64_t>(span.length, limit));
  const auto count = session.target().read_memory(session.general_process(), span.address, bytes);
  if (!count) return count.error();
  bytes.resize(std::min(count.value(), bytes.size()));
  return bytes;
}

Reply write(Session& session, Span span, std::span<const std::uint8_t> bytes) {
  if (bytes.size() != span.length) return malformed();
  if (bytes.empty()) return Reply::ok();  // a probe for the packet
  return Reply::of(session.target().write_memory(session.general_process(), span.address, bytes));
}

}  // namespace

Reply read_memory(Session& session, Cursor args) {
  const auto span = read_span(args);
  if (!span || !args.at_end() || span->length == 0) return malformed();
  const auto bytes = read(session, *span, packet::kMaxPacket / 2);
  if (!bytes) return Reply::error_code(bytes.error().code);
  return Reply::text(packet::hex_bytes(bytes.value()));
}

/// gdb puts a 'b' before the bytes, lldb does not, and asks with a length of 0 whether the packet is known.
Reply read_binary(Session& session, Cursor args) {
  const auto span = read_span(args);
  if (!span || !args.at_end()) return malformed();
  const std::string prefix = session.client().is_lldb ? "" : "b";
  if (span->length == 0) return Reply::text(session.client().is_lldb ? "OK" : prefix);
  const auto bytes = read(session, *span, packet::kMaxPacket);
  if (!bytes) return Reply::error_code(bytes.error().code);
  std::size_t used = 0;
  return Reply::text(prefix +
                     packet::escape_up_to(packet::as_text(bytes.value()), packet::kMaxPacket - 1, used));
}

Reply write_memory(Session& session, Cursor args) {
  const auto span = read_span(args);
  if (!span || !args.take(':')) return malformed();
  const auto bytes = packet::bytes_from_hex(args.rest());
  if (!bytes) return malformed();
  return write(session, *span, *bytes);
}

Reply write_binary(Session& session, Cursor args) {
  const auto span = read_span(args);
  if (!span || !args.take(':')) return malformed();
  return write(session, *span, packet::as_bytes(args.rest()));
}

/// Reads in pieces that overlap by the pattern's length; a hole in the memory ends the search.
Reply search_memory(Session& session, Cursor args) {
  constexpr std::size_t kPiece = 1 << 20;
  const auto span = read_span(args, ';');
  if (!span || !args.take(';') || args.at_end()) return malformed();
  const auto pattern = packet::as_bytes(args.rest());
  const std::boyer_moore_horspool_searcher searcher(pattern.begin(), pattern.end());
  // The whole pattern must lie in the range, and the range may not wrap around.
  auto left = std::min(span->length, 0 - span->address.value);
  if (span->address.value == 0) left = span->length;
  for (auto at = span->address; left >= pattern.size();) {
    const auto piece = read(session, {at, left}, kPiece + pattern.size() - 1);
    if (!piece) return at == span->address ? Reply::error_code(piece.error().code) : Reply::text("0");
    const auto found = std::search(piece.value().begin(), piece.value().end(), searcher);
    if (found != piece.value().end()) {
      const auto offset = static_cast<std::uint64_t>(found - piece.value().begin());
      return Reply::text("1," + packet::hex_number(at.value + offset));
    }
    if (piece.value().size() < std::min<std::uint64_t>(left, kPiece + pattern.size() - 1)) break;
    const auto step = piece.value().size() - (pattern.size() - 1);
    at.value += step;
    left -= step;
  }
  return Reply::text("0");
}

Reply memory_region(Session& session, Cursor args) {
  const auto address = args.number();
  if (!address || !args.at_end()) return malformed();
  const auto info = session.target().process_info(session.general_process());
  if (!info) return Reply::error_code(info.error().code);
  std::uint64_t hole_begin = 0;
  std::uint64_t hole_end = ~std::uint64_t{0};
  for (const auto& mapping : info.value().mappings) {
    if (mapping.range.contains({*address})) {
      return Reply::text("start:" + packet::hex_number(mapping.range.start.value) +
                         ";size:" + packet::hex_number(mapping.range.end.value - mapping.range.start.value) +
                         ";permissions:" + (mapping.readable ? "r" : "") + (mapping.writable ? "w" : "") +
                         (mapping.executable ? "x" : "") + ";name:" + packet::hex_text(mapping.path) + ";");
    }
    if (mapping.range.end.value <= *address) hole_begin = std::max(hole_begin, mapping.range.end.value);
    if (mapping.range.start.value > *address) hole_end = std::min(hole_end, mapping.range.start.value);
  }
  return Reply::text("start:" + packet::hex_number(hole_begin) +
                     ";size:" + packet::hex_number(hole_end - hole_begin) + ";");
}

}  // namespace detrec::gdbstub::commands
