// What a debugger changes of a process that stands still. Only of a copy that is to become a diversion.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/wire/debug.h"

namespace detrec::guest::debug {

/// Writes all, also where the guest may not, or fails with -EFAULT.
SysResult write_memory(Turn& turn, GuestAddr to, const u8* from, u64 bytes);

/// Replaces all registers of a thread. 0 or -ESRCH. What no program can have in a register is left out.
SysResult write_registers(Turn& turn, u32 number, const wire::DebugRegisters& from);

}  // namespace detrec::guest::debug
