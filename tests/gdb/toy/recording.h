// A recorded run of a small program's main(), made by single-stepping it: for each instruction the registers
// before it and the bytes it changed. Enough to walk up and down.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gdbstub/process_info.h"
#include "gdbstub/registers.h"
#include "gdbstub/result.h"

namespace detrec::gdbstub::toy {

struct Write {
  Address address;
  std::vector<std::uint8_t> before, after;
};

/// The state before an instruction, and what the instruction did.
struct Step {
  Registers registers;
  std::vector<Write> writes;
  bool traps = false;  ///< int3: the guest gets SIGTRAP
};

struct Region {
  Mapping mapping;
  std::vector<std::uint8_t> bytes;  ///< at the first position; empty if unreadable
};

struct Recording {
  ProcessInfo process;
  std::vector<std::uint8_t> auxv;
  std::vector<Region> regions;  ///< by address
  std::vector<Step> steps;      ///< the last one is the end: nothing is executed there
};

/// Runs `arguments` (a non-PIE executable and what it gets) and records main(), from its first instruction to
/// its return. Only writes to the program's own data and to the stack are seen.
Result<Recording> record(const std::vector<std::string>& arguments);

}  // namespace detrec::gdbstub::toy
