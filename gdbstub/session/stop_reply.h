// Stop replies: T, W and X packets. gdb manual, "Stop Reply Packets".
#pragma once

#include <string>

#include "gdbstub/registers/layout.h"
#include "gdbstub/session/client.h"
#include "gdbstub/stop_event.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub {

/// The reply for a stop, with rip, rsp and rbp, which save the client a `g` after most steps.
std::string stop_reply(const StopEvent& event, const Client& client, Target& target,
                       const registers::Layout& layout);

}  // namespace detrec::gdbstub
