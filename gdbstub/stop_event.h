// Why a resumed Target stands still again.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "gdbstub/breakpoint.h"
#include "gdbstub/ids.h"

namespace detrec::gdbstub {

/// A step or a range step is done.
struct StepDone {};
/// pc is the breakpoint's address, and the instruction there has not been executed (in either direction).
struct BreakpointHit {
  BreakpointKind kind = BreakpointKind::kSoftware;  ///< kSoftware or kHardware
};
/// Going forward the state is the one after the access, going backward the one before it.
struct WatchHit {
  BreakpointKind kind = BreakpointKind::kWrite;  ///< kWrite, kRead or kAccess: the kind of the watchpoint
  Address address;  ///< the first watched byte that was accessed; it lies in the watchpoint's range
};
/// The thread is about to get `signal`; also faults and the guest's own int3 (SIGTRAP, pc behind it).
struct SignalArrived {
  Signal signal;
};
/// Target::interrupt() was obeyed.
struct Interrupted {};
/// Nothing is recorded before, respectively after, this position. The end of the run is kHistoryEnd, never an
/// exit: the debugger can go back from there.
struct HistoryBegin {};
struct HistoryEnd {};
/// Only for a Target that is not a recording: the process is gone.
struct Exited {
  int status = 0;
};
struct Killed {
  Signal signal;
};

using StopReason = std::variant<StepDone, BreakpointHit, WatchHit, SignalArrived, Interrupted, HistoryBegin,
                                HistoryEnd, Exited, Killed>;

struct StopEvent {
  ThreadRef thread;
  StopReason reason;
  std::optional<std::uint32_t> core = {};  ///< the cpu the thread was on, if known
};

}  // namespace detrec::gdbstub
