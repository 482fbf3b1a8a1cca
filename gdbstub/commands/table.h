// From a packet to the function that answers it.
#pragma once

#include <string_view>

#include "gdbstub/session/reply.h"

namespace detrec::gdbstub {
class Session;
}

namespace detrec::gdbstub::commands {

/// Executes one packet. What is unknown gets the empty reply.
Reply dispatch(Session& session, std::string_view payload);

}  // namespace detrec::gdbstub::commands
