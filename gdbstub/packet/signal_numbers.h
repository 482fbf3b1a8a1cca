// The protocol has signal numbers of its own (gdb's include/gdb/signals.def), equal on all systems.
#pragma once

#include <cstdint>
#include <optional>

#include "gdbstub/ids.h"

namespace detrec::gdbstub::packet {

/// gdb's number of a Linux signal; 143 ("unknown signal") if gdb has none.
std::uint8_t gdb_signal(Signal signal);
/// The Linux signal of gdb's number; nothing if Linux has none.
std::optional<Signal> linux_signal(std::uint64_t gdb_number);

}  // namespace detrec::gdbstub::packet
