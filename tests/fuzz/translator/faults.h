// Signals that random code runs into: noted, and then the code goes on behind the instruction that failed.
#pragma once

#include <vector>

#include "tests/fuzz/translator/cpu_state.h"

namespace detrec::fuzz {

/// What a handler saw.
struct Fault {
  int signo;
  int code;
  u64 address;  ///< si_addr
  u64 trap;
  u64 error;
  u64 pc;
  u64 flags;  ///< of the status flags only CF
  u64 gpr[16];
  u64 x87[4];   ///< control, status, tags and opcode; instruction and data pointer; mxcsr
  u64 vectors;  ///< hash of the vector and x87 state
};

struct Outcome {
  enum class End : u8 {
    kLeft,
    kAbandoned,  ///< at a fault that it cannot go on after
    kTimeout,
    kOutside,  ///< not comparable: it touched the engine's memory, set the trap flag by mistake ...
  } end = End::kLeft;
  std::vector<Fault> faults;
};
const char* name(Outcome::End end);

/// Installs the handlers, on a stack of their own, and starts the watchdog, which also interrupts the code
/// now and then; and a timer that interrupts it every so many microseconds (0: none).
void start_handlers(bool watchdog, unsigned interrupt_every);

/// Runs entry_state. Its result is in exit_state, if the end is kLeft.
/// `seed` says which flags the code goes on with after a fault.
const Outcome& run_watched(u64 seed);

}  // namespace detrec::fuzz
