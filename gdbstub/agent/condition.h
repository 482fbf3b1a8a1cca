// Whether a breakpoint that was reached stops: what a Target asks for each hit.
#pragma once

#include <span>

#include "gdbstub/agent/evaluate.h"
#include "gdbstub/breakpoint.h"
#include "gdbstub/registers.h"
#include "gdbstub/registers/layout.h"
#include "gdbstub/target.h"

namespace detrec::gdbstub::agent {

/// True without conditions, if one of them is not zero, and if one cannot be evaluated: gdb then evaluates it
/// itself and tells the user what is wrong.
bool should_stop(std::span<const Bytecode> conditions, Machine& machine);

/// A Machine over registers at hand and the memory of a Target.
class TargetMachine : public Machine {
 public:
  TargetMachine(Target& target, ProcessId process, const registers::Layout& layout,
                const Registers& registers)
      : target_(target), process_(process), layout_(layout), registers_(registers) {}

  Result<std::uint64_t> read_register(RegisterNumber number) override;
  Status read_memory(Address address, std::span<std::uint8_t> out) override;

 private:
  Target& target_;
  ProcessId process_;
  const registers::Layout& layout_;
  const Registers& registers_;
};

}  // namespace detrec::gdbstub::agent
