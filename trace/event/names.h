// Names: of errors and signals, as <errno.h> and <signal.h> of Linux x86-64 have them, and of what events
// distinguish. One word for one thing, in tables and in text.
#pragma once

#include <string_view>

#include "trace/wire/event.h"

namespace detrec::event {

inline constexpr int kLastErrno = 516;  ///< with the codes that only tracers see, from 512 on
inline constexpr int kLastSignal = 64;

/// "ENOENT" for 2; empty for numbers without a name.
std::string_view errno_name(int number);

/// "SIGINT" for 2; empty for real-time signals and numbers that are none.
std::string_view signal_name(int number);

std::string_view name_of(wire::TurnReason reason);
std::string_view name_of(wire::ExitCause cause);
std::string_view name_of(wire::Content content);
std::string_view name_of(wire::InstructionKind kind);

}  // namespace detrec::event
