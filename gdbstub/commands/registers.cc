// g G p P: the registers of the thread that Hg chose.
#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::commands {

Reply read_all(Session& session, Cursor) {
  const auto values = session.target().read_registers(session.general_thread());
  if (!values) return Reply::error_code(values.error().code);
  return Reply::text(session.layout().all_hex(values.value()));
}

Reply write_all(Session& session, Cursor args) {
  const auto thread = session.general_thread();
  auto values = session.target().read_registers(thread);
  if (!values) return Reply::error_code(values.error().code);
  if (!session.layout().set_all_hex(values.value(), args.rest())) return malformed();
  return Reply::of(session.target().write_registers(thread, values.value()));
}

Reply read_one(Session& session, Cursor args) {
  const auto number = args.number();
  if (!number || *number >= session.layout().rows().size()) return malformed();
  const auto values = session.target().read_registers(session.general_thread());
  if (!values) return Reply::error_code(values.error().code);
  return Reply::text(*session.layout().get_hex(values.value(), {static_cast<std::uint32_t>(*number)}));
}

Reply write_one(Session& session, Cursor args) {
  const auto number = args.number();
  if (!number || *number >= session.layout().rows().size() || !args.take('=')) return malformed();
  const auto bytes = packet::bytes_from_hex(args.rest());
  if (!bytes) return malformed();
  const auto thread = session.general_thread();
  auto values = session.target().read_registers(thread);
  if (!values) return Reply::error_code(values.error().code);
  if (!session.layout().set(values.value(), {static_cast<std::uint32_t>(*number)}, *bytes))
    return malformed();
  return Reply::of(session.target().write_registers(thread, values.value()));
}

}  // namespace detrec::gdbstub::commands
