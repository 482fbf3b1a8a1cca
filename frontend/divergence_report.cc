#include "frontend/divergence_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace detrec::frontend {
namespace {

constexpr std::array<const char*, 16> kRegisters = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

std::string format_registers(const wire::Divergence& d) {
  std::string text;
  for (std::size_t i = 0; i < kRegisters.size(); ++i)
    text += fmt::format("  {:<3} {:016x}{}", kRegisters[i], d.gpr[i], i % 4 == 3 ? "\n" : "");
  return text + fmt::format("  rip {:016x}  flags {:x}\n", d.pc, d.rflags);
}

std::string format_code(const wire::Divergence& d) {
  std::string text = fmt::format("  code at {:#x}:", d.pc);
  for (const std::uint8_t byte : d.code) text += fmt::format(" {:02x}", byte);
  return text + "\n";
}

}  // namespace

std::string format_divergence(const wire::Launch& launch, storage::TraceReader&) {
  const wire::Divergence& d = launch.divergence;
  const std::string message(launch.message, strnlen(launch.message, sizeof launch.message));
  return fmt::format("detrec: the replay differs from the recording at {}:{}:{:#x}, thread {}\n  {}\n",
                     d.event, d.ticks, d.pc, d.thread, message) +
         format_registers(d) + format_code(d);
}

}  // namespace detrec::frontend
