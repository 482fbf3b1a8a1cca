// Executes single instructions on this machine's processor, with chosen registers, and tells what happened.
//
// The instruction is placed so that its last byte is the last of a page, behind which nothing is mapped, and
// single-stepped. A processor that wants more bytes faults at the page's end without having moved.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>

#include "trace/guest/decode/insn.h"

namespace detrec::guest::test {

enum class Outcome {
  kExecuted,   ///< the instruction completed; the state after it is known
  kFaulted,    ///< it raised another fault than #UD
  kInvalid,    ///< #UD
  kWantsMore,  ///< it is longer than the bytes given
};

struct MachineState {
  std::uint64_t gpr[16];  ///< rsp (4) must lie in the scratch memory
  std::uint64_t flags;    ///< of EFLAGS only kFlagsAll count
};

/// Scratch memory for the instruction's operands, on both sides of this address.
inline constexpr std::uint64_t kScratchCentre = 0x100000080000;
inline constexpr std::uint64_t kScratchSize = 0x100000;
inline constexpr std::uint64_t kScratchStack = kScratchCentre - 0x4000;

/// Sets the mappings and signal handlers up. To be called in a process of its own, which strange instructions
/// may kill.
void prepare_sandbox();

/// Executes `code` with `state`, FS and GS based at kScratchCentre, zeroed vector registers and scratch
/// memory (of it only the 512 bytes around the centre); changes `state` to what is left if the result is
/// kExecuted.
Outcome execute(std::span<const std::uint8_t> code, MachineState& state);

/// Whether an instruction must not be tried: it would leave the sandbox or change the ground under it.
bool must_not_run(const Insn& insn);

/// Calls `body` in a child process that has been prepared; what it returns is passed back. If the child dies,
/// the number it last stored in `current` is added to `lost` and it is tried again; `body` must leave these
/// out.
std::string run_in_child(const std::function<std::string(volatile std::uint64_t& current)>& body,
                         std::set<std::uint64_t>& lost);

}  // namespace detrec::guest::test
