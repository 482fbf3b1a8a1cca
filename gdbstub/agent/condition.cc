#include "gdbstub/agent/condition.h"

#include <cerrno>

namespace detrec::gdbstub::agent {

bool should_stop(std::span<const Bytecode> conditions, Machine& machine) {
  if (conditions.empty()) return true;
  for (const auto& condition : conditions) {
    const auto value = evaluate(condition, machine);
    if (!value || value.value() != 0) return true;
  }
  return false;
}

Result<std::uint64_t> TargetMachine::read_register(RegisterNumber number) {
  const auto bytes = layout_.get(registers_, number);
  if (!bytes || bytes->size() > 8 || !registers::Layout::known(layout_.rows()[number.value], registers_)) {
    return Error{EINVAL, "agent expression: no such register"};
  }
  std::uint64_t value = 0;
  for (std::size_t i = bytes->size(); i-- > 0;) value = value << 8 | (*bytes)[i];
  return value;
}

Status TargetMachine::read_memory(Address address, std::span<std::uint8_t> out) {
  const auto count = target_.read_memory(process_, address, out);
  if (!count) return count.error();
  if (count.value() != out.size()) return Error{EFAULT, "memory that is not mapped"};
  return Done{};
}

}  // namespace detrec::gdbstub::agent
