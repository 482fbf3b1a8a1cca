#include "gdbstub/session/stop_reply.h"

#include "gdbstub/packet/hex.h"
#include "gdbstub/packet/signal_numbers.h"

namespace detrec::gdbstub {

namespace {

/// The signal and the reason field of each kind of stop.
struct Described {
  Signal signal = kSigTrap;
  std::string reason = {};
};

struct Describe {
  const Client& client;

  Described operator()(const StepDone&) const { return {}; }
  Described operator()(const BreakpointHit& hit) const {
    const bool hardware = hit.kind == BreakpointKind::kHardware;
    if (!(hardware ? client.hwbreak : client.swbreak)) return {};
    return {kSigTrap, hardware ? "hwbreak:;" : "swbreak:;"};
  }
  Described operator()(const WatchHit& hit) const {
    const char* name = hit.kind == BreakpointKind::kRead     ? "rwatch:"
                       : hit.kind == BreakpointKind::kAccess ? "awatch:"
                                                             : "watch:";
    return {kSigTrap, name + packet::hex_number(hit.address.value) + ";"};
  }
  Described operator()(const SignalArrived& arrived) const { return {arrived.signal}; }
  Described operator()(const Interrupted&) const { return {kSigInt}; }
  Described operator()(const HistoryBegin&) const { return {kSigTrap, "replaylog:begin;"}; }
  Described operator()(const HistoryEnd&) const { return {kSigTrap, "replaylog:end;"}; }
  Described operator()(const Exited&) const { return {}; }
  Described operator()(const Killed& killed) const { return {killed.signal}; }
};

std::string process_field(const StopEvent& event, const Client& client) {
  if (!client.multiprocess) return {};
  return ";process:" + packet::hex_number(static_cast<std::uint32_t>(event.thread.process.value));
}

}  // namespace

std::string stop_reply(const StopEvent& event, const Client& client, Target& target,
                       const registers::Layout& layout) {
  if (const auto* exited = std::get_if<Exited>(&event.reason)) {
    return "W" + packet::hex_byte(static_cast<std::uint8_t>(exited->status)) + process_field(event, client);
  }
  const auto described = std::visit(Describe{client}, event.reason);
  const auto signal = packet::hex_byte(packet::gdb_signal(described.signal));
  if (std::holds_alternative<Killed>(event.reason)) return "X" + signal + process_field(event, client);

  auto text = "T" + signal + "thread:" + packet::thread_text(event.thread, client.multiprocess) + ";";
  if (event.core) text += "core:" + packet::hex_number(*event.core) + ";";
  text += described.reason;
  if (const auto values = target.read_registers(event.thread)) {
    for (const auto number : {registers::kRbp, registers::kRsp, registers::kRip}) {
      text += packet::hex_byte(static_cast<std::uint8_t>(number.value)) + ":" +
              *layout.get_hex(values.value(), number) + ";";
    }
  }
  return text;
}

}  // namespace detrec::gdbstub
