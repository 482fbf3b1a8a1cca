// Z and z: only the table changes; the Target hears of it at the next resume.
#include <limits>

#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/hex.h"

namespace detrec::gdbstub::commands {

namespace {

/// type,address,kind, in the process that Hg chose. For watchpoints `kind` is the length, for the others it
/// is of no interest on x86-64.
std::optional<BreakpointSpec> read_spec(Session& session, Cursor& args) {
  const auto type = args.number();
  if (!type || *type > static_cast<std::uint64_t>(BreakpointKind::kAccess) || !args.take(','))
    return std::nullopt;
  const auto address = args.number();
  if (!address || !args.take(',')) return std::nullopt;
  const auto kind = args.number();
  if (!kind) return std::nullopt;
  BreakpointSpec spec{static_cast<BreakpointKind>(*type), {*address}, 1, session.general_process()};
  if (spec.is_watch()) spec.length = *kind;
  return spec;
}

bool is_empty_or_wraps(const BreakpointSpec& spec) {
  return spec.length == 0 ||
         spec.length - 1 > std::numeric_limits<std::uint64_t>::max() - spec.address.value ||
         spec.address.value + spec.length == 0;
}

/// ;X len,bytes X len,bytes ... False if malformed.
bool read_conditions(Cursor args, std::vector<Bytecode>& conditions) {
  while (!args.at_end()) {
    if (args.take(';')) continue;
    if (!args.take('X')) return false;
    const auto length = args.number();
    if (!length || !args.take(',') || *length > args.rest().size()) return false;
    auto bytes = packet::bytes_from_hex(args.chars(*length * 2));
    if (!bytes || bytes->size() != *length) return false;
    conditions.push_back(std::move(*bytes));
  }
  return true;
}

bool is_unknown_type(Cursor args) {
  const auto type = args.number();
  return type && *type > static_cast<std::uint64_t>(BreakpointKind::kAccess);
}

}  // namespace

Reply insert_breakpoint(Session& session, Cursor args) {
  if (is_unknown_type(args)) return Reply::empty();
  const auto spec = read_spec(session, args);
  if (!spec) return malformed();
  if (spec->is_watch() && is_empty_or_wraps(*spec))
    return Reply::error({0, "a watched range must not be empty or wrap around"});
  Breakpoint breakpoint{*spec, {}};
  if (!read_conditions(args, breakpoint.conditions)) return malformed();
  if (const auto status = session.target().check_breakpoint(*spec); !status)
    return Reply::error(status.error());
  session.breakpoints().insert(std::move(breakpoint));
  return Reply::ok();
}

Reply remove_breakpoint(Session& session, Cursor args) {
  if (is_unknown_type(args)) return Reply::empty();
  const auto spec = read_spec(session, args);
  if (!spec || !args.at_end()) return malformed();
  session.breakpoints().remove(*spec);
  return Reply::ok();
}

}  // namespace detrec::gdbstub::commands
