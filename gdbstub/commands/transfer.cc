// qXfer: documents and blocks of bytes, in pieces. gdb manual, "qXfer object read".
#include <cerrno>

#include "gdbstub/commands/commands.h"
#include "gdbstub/documents/lists.h"
#include "gdbstub/packet/framer.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/registers/target_xml.h"

namespace detrec::gdbstub::commands {

namespace {

Result<std::string> as_string(const Result<packet::Bytes>& bytes) {
  if (!bytes) return bytes.error();
  return std::string(packet::as_text(bytes.value()));
}

Result<std::string> exec_file(Session& session, std::string_view annex) {
  Cursor cursor(annex);
  const auto number = cursor.number();
  if ((!number && !annex.empty()) || !cursor.at_end()) return Error{EINVAL, "malformed process id"};
  const auto process = number ? ProcessId{static_cast<std::int32_t>(*number)} : session.general_process();
  const auto info = session.target().process_info(process);
  if (!info) return info.error();
  return info.value().executable;
}

/// Nothing if there is no such object.
std::optional<Result<std::string>> make(Session& session, std::string_view object, std::string_view annex) {
  auto& target = session.target();
  if (object == "features") {
    if (annex != "target.xml") return Result<std::string>(Error{ENOENT, "no such document"});
    return Result<std::string>(registers::target_xml(session.layout()));
  }
  if (object == "threads") {
    if (session.client().ended) return Result<std::string>(documents::threads_xml({}, true));
    return Result<std::string>(documents::threads_xml(target.threads(), session.client().multiprocess));
  }
  if (object == "libraries-svr4") {
    const auto list = target.libraries(session.general_process());
    if (!list) return Result<std::string>(list.error());
    return Result<std::string>(documents::libraries_xml(list.value()));
  }
  if (object == "auxv") return as_string(target.auxv(session.general_process()));
  if (object == "exec-file") return exec_file(session, annex);
  if (object == "siginfo") return as_string(target.read_siginfo(session.general_thread()));
  return std::nullopt;
}

/// The piece of `content`, with l before the last one and m before the others.
Reply piece(std::string_view content, std::uint64_t offset, std::uint64_t length) {
  if (offset >= content.size()) return Reply::text("l");
  const auto wanted = content.substr(offset, length);
  std::size_t used = 0;
  const auto text = packet::escape_up_to(wanted, packet::kMaxPacket - 1, used);
  return Reply::text((offset + used == content.size() ? "l" : "m") + text);
}

Reply read(Session& session, std::string_view object, Cursor args) {
  // The annex is a name, which may have a colon in it; offset and length come last.
  const auto colon = args.rest().rfind(':');
  if (colon == std::string_view::npos) return malformed();
  const auto annex = args.chars(colon);
  args.take(':');
  const auto offset = args.number();
  if (!offset || !args.take(',')) return malformed();
  const auto length = args.number();
  if (!length || !args.at_end()) return malformed();

  auto& kept = session.client().document;
  auto name = std::string(object) + ':' + std::string(annex);
  if (*offset == 0 || kept.name != name) {
    auto made = make(session, object, annex);
    if (!made) return Reply::empty();
    if (!*made) return Reply::error_code(made->error().code);
    kept = {std::move(name), std::move(made->value())};
  }
  return piece(kept.content, *offset, *length);
}

/// siginfo only: annex is empty, the data may have colons in it.
Reply write_siginfo(Session& session, Cursor args) {
  if (!args.take(':')) return malformed();
  const auto offset = args.number();
  if (!offset || !args.take(':')) return malformed();
  const auto thread = session.general_thread();
  auto info = session.target().read_siginfo(thread);
  if (!info) return Reply::error_code(info.error().code);
  auto& bytes = info.value();
  const auto data = packet::as_bytes(args.rest());
  if (*offset > bytes.size() || data.size() > bytes.size() - *offset) return malformed();
  std::copy(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(*offset));
  const auto status = session.target().write_siginfo(thread, bytes);
  if (!status) return Reply::error(status.error());
  session.client().document = {};
  return Reply::text(packet::hex_number(data.size()));
}

}  // namespace

Reply transfer(Session& session, Cursor args) {
  const auto object = args.field(':');
  const auto operation = args.field(':');
  if (operation == "read") return read(session, object, args);
  if (operation == "write" && object == "siginfo") return write_siginfo(session, args);
  return Reply::empty();
}

}  // namespace detrec::gdbstub::commands
