#include "server/session/registers.h"

#include <cpuid.h>

#include <cstring>
#include <optional>

#include "gdbstub/registers/fxsave.h"

namespace detrec::server {
namespace {

using gdbstub::Gpr;

/// The stub's order of what wire has in the machine's (rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8..r15).
constexpr Gpr kOrder[16] = {Gpr::kRax, Gpr::kRcx, Gpr::kRdx, Gpr::kRbx, Gpr::kRsp, Gpr::kRbp,
                            Gpr::kRsi, Gpr::kRdi, Gpr::kR8,  Gpr::kR9,  Gpr::kR10, Gpr::kR11,
                            Gpr::kR12, Gpr::kR13, Gpr::kR14, Gpr::kR15};

constexpr std::uint32_t kAvx = 2, kOpmask = 5, kZmmHigh = 6,
                        kZmm16 = 7;  // XSAVE components, Intel SDM 1, 13.1

std::uint64_t enabled_components() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(0xd, 0, &a, &b, &c, &d) != 0 ? a | static_cast<std::uint64_t>(d) << 32 : 3;
}

bool enabled(std::uint32_t component) { return (enabled_components() >> component & 1) != 0; }

constexpr std::size_t kInUse = 512;

std::uint64_t components_in_use(const wire::DebugRegisters& from) {
  std::uint64_t in_use;
  std::memcpy(&in_use, from.xsave + kInUse, sizeof in_use);
  return in_use;
}

/// Where the component is in the standard format; nothing when the processor lacks it.
std::optional<std::size_t> place_of(std::uint32_t number, std::size_t size) {
  std::uint32_t bytes = 0, offset = 0, c = 0, d = 0;
  if (!enabled(number) || __get_cpuid_count(0xd, number, &bytes, &offset, &c, &d) == 0) return std::nullopt;
  if (offset + size > sizeof(wire::DebugRegisters::xsave)) return std::nullopt;
  return offset;
}

/// nullptr when it is initial (all zero) or not there.
const std::uint8_t* component(const wire::DebugRegisters& from, std::uint32_t number, std::size_t size) {
  const auto place = place_of(number, size);
  if (!place || (components_in_use(from) >> number & 1) == 0) return nullptr;
  return from.xsave + *place;
}

/// For writing all of it: in use from now on. nullptr when the processor lacks it.
std::uint8_t* component(wire::DebugRegisters& into, std::uint32_t number, std::size_t size) {
  const auto place = place_of(number, size);
  if (!place) return nullptr;
  const std::uint64_t in_use = components_in_use(into) | std::uint64_t{1} << number;
  std::memcpy(into.xsave + kInUse, &in_use, sizeof in_use);
  return into.xsave + *place;
}

}  // namespace

gdbstub::VectorLevel vector_level() {
  if (enabled(kZmm16)) return gdbstub::VectorLevel::kAvx512;
  return enabled(kAvx) ? gdbstub::VectorLevel::kAvx : gdbstub::VectorLevel::kSse;
}

gdbstub::Registers convert_registers(const wire::DebugRegisters& from) {
  gdbstub::Registers to;
  gdbstub::registers::read_fxsave(std::span<const std::uint8_t, 512>(from.xsave, 512), to);
  for (std::size_t i = 0; i < 16; ++i) to[kOrder[i]] = from.gpr[i];
  to.rip = from.pc;
  to.rflags = from.rflags;
  to.fs_base = from.fs_base;
  to.gs_base = from.gs_base;
  if (const auto* high = component(from, kAvx, 256)) {
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(to.vector[i].data() + 16, high + 16 * i, 16);
  }
  if (const auto* masks = component(from, kOpmask, 64)) std::memcpy(to.mask.data(), masks, 64);
  if (const auto* high = component(from, kZmmHigh, 512)) {
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(to.vector[i].data() + 32, high + 32 * i, 32);
  }
  if (const auto* upper = component(from, kZmm16, 1024)) {
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(to.vector[16 + i].data(), upper + 64 * i, 64);
  }
  return to;
}

void convert_registers(const gdbstub::Registers& from, wire::DebugRegisters& into) {
  constexpr std::uint64_t kX87AndSse = 3;
  const std::uint64_t in_use = components_in_use(into) | kX87AndSse;
  std::memcpy(into.xsave + kInUse, &in_use, sizeof in_use);
  gdbstub::registers::write_fxsave(from, std::span<std::uint8_t, 512>(into.xsave, 512));
  for (std::size_t i = 0; i < 16; ++i) into.gpr[i] = from[kOrder[i]];
  into.pc = from.rip;
  into.rflags = from.rflags;
  into.fs_base = from.fs_base;
  into.gs_base = from.gs_base;
  if (auto* high = component(into, kAvx, 256)) {
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(high + 16 * i, from.vector[i].data() + 16, 16);
  }
  if (auto* masks = component(into, kOpmask, 64)) std::memcpy(masks, from.mask.data(), 64);
  if (auto* high = component(into, kZmmHigh, 512)) {
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(high + 32 * i, from.vector[i].data() + 32, 32);
  }
  if (auto* upper = component(into, kZmm16, 1024)) {
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(upper + 64 * i, from.vector[16 + i].data(), 64);
  }
}

}  // namespace detrec::server
