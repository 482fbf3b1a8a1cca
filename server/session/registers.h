// A replayed thread's registers in the form of the gdb stub.
#pragma once

#include "gdbstub/registers.h"
#include "trace/wire/debug.h"

namespace detrec::server {

gdbstub::Registers convert_registers(const wire::DebugRegisters& from);

/// The other way, into what `into` has besides them.
void convert_registers(const gdbstub::Registers& from, wire::DebugRegisters& into);

/// Which vector registers there are, by this machine's XCR0.
gdbstub::VectorLevel vector_level();

}  // namespace detrec::server
