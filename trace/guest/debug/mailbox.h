// The mailbox of a debugged process, and the request being served.
#pragma once

#include "trace/guest/base/types.h"
#include "trace/wire/debug.h"
#include "trace/wire/launch.h"

namespace detrec::guest::debug {

/// Maps the mailbox of `slot`, in place of another, and makes the launch page the process's own.
void enter_slot(i32 launch_fd, u32 slot);

wire::DebugMailbox& mailbox();

/// Ends the request that is being served.
void answer();

/// Waits for the next request. Ends the process when the server is gone.
void wait_for_request();

}  // namespace detrec::guest::debug
