// What client and stub tell each other about themselves.
#include "gdbstub/commands/commands.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/packet/signal_numbers.h"

namespace detrec::gdbstub::commands {

namespace {

constexpr std::string_view kTriple = "x86_64-unknown-linux-gnu";

constexpr std::string_view kFeatures =
    ";QStartNoAckMode+;multiprocess+;swbreak+;hwbreak+;vContSupported+;ReverseStep+;ReverseContinue+"
    ";ConditionalBreakpoints+;QPassSignals+;QProgramSignals+;binary-upload+"
    ";qXfer:features:read+;qXfer:threads:read+;qXfer:libraries-svr4:read+;qXfer:auxv:read+"
    ";qXfer:exec-file:read+;qXfer:siginfo:read+;qXfer:siginfo:write+";

std::optional<std::set<Signal>> read_signals(Cursor args) {
  std::set<Signal> signals;
  while (!args.at_end()) {
    const auto number = args.number();
    if (!number) return std::nullopt;
    if (const auto signal = packet::linux_signal(*number)) signals.insert(*signal);
    if (!args.at_end() && !args.take(';')) return std::nullopt;
  }
  return signals;
}

}  // namespace

Reply supported(Session& session, Cursor args) {
  auto& client = session.client();
  while (!args.at_end()) {
    const auto feature = args.field(';');
    if (feature == "multiprocess+") client.multiprocess = true;
    if (feature == "swbreak+") client.swbreak = true;
    if (feature == "hwbreak+") client.hwbreak = true;
  }
  return Reply::text("PacketSize=" + packet::hex_number(packet::kMaxPacket) + std::string(kFeatures));
}

Reply start_no_ack_mode(Session& session, Cursor) {
  session.client().acks = false;
  return Reply::ok();
}

Reply pass_signals(Session& session, Cursor args) {
  auto signals = read_signals(args);
  if (!signals) return malformed();
  session.client().pass_signals = std::move(*signals);
  return Reply::ok();
}

Reply program_signals(Session& session, Cursor args) {
  auto signals = read_signals(args);
  if (!signals) return malformed();
  session.client().program_signals = std::move(*signals);
  return Reply::ok();
}

Reply non_stop(Session&, Cursor args) {
  if (args.rest() == "0") return Reply::ok();
  return Reply::error({0, "non-stop mode is not supported"});
}

/// The stub looks no symbols up.
Reply symbols_wanted(Session&, Cursor) { return Reply::ok(); }

/// "Attached": the client detaches when it quits, instead of killing.
Reply attached(Session&, Cursor) { return Reply::text("1"); }

Reply extended(Session&, Cursor) { return Reply::ok(); }

Reply lldb_only(Session& session, Cursor) {
  session.client().is_lldb = true;
  return Reply::empty();
}

Reply host_info(Session& session, Cursor) {
  session.client().is_lldb = true;
  return Reply::text("triple:" + packet::hex_text(kTriple) +
                     ";ptrsize:8;endian:little;watchpoint_exceptions_received:after;");
}

Reply process_info(Session& session, Cursor) {
  const auto process = static_cast<std::uint32_t>(session.general_process().value);
  return Reply::text("pid:" + packet::hex_number(process) + ";triple:" + packet::hex_text(kTriple) +
                     ";ostype:linux;endian:little;ptrsize:8;");
}

}  // namespace detrec::gdbstub::commands
