// g G p P: the registers of the thread that Hg chose.
#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::commands {

namespace {

/// Where the user has set a breakpoint on an int3 of the program itself, gdb leaves it by moving the pc
/// behind it. In a recording the int3 is executed and its signal arrives, so a Target that changes no
/// registers loses nothing by that being ignored; an error would keep the user there for ever.
bool skips_own_trap(Session& session, ThreadRef thread, Address pc, Address new_pc) {
  constexpr std::uint8_t kInt3 = 0xcc;
  std::uint8_t code = 0;
  const auto count = session.target().read_memory(thread.process, pc, {&code, 1});
  return new_pc.value == pc.value + 1 && count && count.value() == 1 && code == kInt3;
}

}  // namespace

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
  const auto pc = values.value().pc();
  if (!session.layout().set(values.value(), {static_cast<std::uint32_t>(*number)}, *bytes))
    return malformed();
  const auto status = session.target().write_registers(thread, values.value());
  if (!status && skips_own_trap(session, thread, pc, values.value().pc())) return Reply::ok();
  return Reply::of(status);
}

}  // namespace detrec::gdbstub::commands
