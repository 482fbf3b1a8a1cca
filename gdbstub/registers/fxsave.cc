#include "gdbstub/registers/fxsave.h"

#include <algorithm>
#include <cstring>

namespace detrec::gdbstub::registers {

namespace {

constexpr std::size_t kStOffset = 32;
constexpr std::size_t kXmmOffset = 160;

template <typename T>
T read(std::span<const std::uint8_t, 512> area, std::size_t offset) {
  T value;
  std::memcpy(&value, area.data() + offset, sizeof value);
  return value;
}

template <typename T>
void write(std::span<std::uint8_t, 512> area, std::size_t offset, T value) {
  std::memcpy(area.data() + offset, &value, sizeof value);
}

/// The 64-bit form of a pointer, of which gdb knows the lower 48 bits.
void write_pointer(std::span<std::uint8_t, 512> area, std::size_t at, std::uint32_t offset,
                   std::uint32_t segment) {
  write(area, at, offset);
  write(area, at + 4, static_cast<std::uint16_t>(segment));
}

/// 0 valid, 1 zero, 2 special; 3, empty, is for the caller to know.
std::uint32_t tag_of(const std::array<std::uint8_t, 10>& value) {
  std::uint64_t significand;
  std::memcpy(&significand, value.data(), sizeof significand);
  const unsigned exponent = value[8] | (value[9] & 0x7fu) << 8;
  if (exponent == 0 && significand == 0) return 1;
  const bool integer_bit = significand >> 63 != 0;
  return exponent == 0 || exponent == 0x7fff || !integer_bit ? 2 : 0;
}

}  // namespace

void read_fxsave(std::span<const std::uint8_t, 512> area, Registers& registers) {
  auto& x87 = registers.x87;
  x87.control = read<std::uint16_t>(area, 0);
  x87.status = read<std::uint16_t>(area, 2);
  const unsigned in_use = area[4];
  x87.opcode = read<std::uint16_t>(area, 6);
  const auto instruction = read<std::uint64_t>(area, 8);
  const auto operand = read<std::uint64_t>(area, 16);
  x87.instruction_offset = static_cast<std::uint32_t>(instruction);
  x87.instruction_segment = static_cast<std::uint32_t>(instruction >> 32) & 0xffff;
  x87.operand_offset = static_cast<std::uint32_t>(operand);
  x87.operand_segment = static_cast<std::uint32_t>(operand >> 32) & 0xffff;
  registers.mxcsr = read<std::uint32_t>(area, 24);

  // st is relative to the top of the stack, the tags are by physical register.
  const unsigned top = x87.status >> 11 & 7;
  x87.tag = 0;
  for (unsigned i = 0; i < 8; ++i) {
    std::copy_n(area.begin() + kStOffset + i * 16, 10, x87.st[i].begin());
    const unsigned physical = (top + i) & 7;
    const auto tag = (in_use >> physical & 1) != 0 ? tag_of(x87.st[i]) : 3u;
    x87.tag |= tag << (2 * physical);
  }
  for (unsigned i = 0; i < 16; ++i) {
    std::copy_n(area.begin() + kXmmOffset + i * 16, 16, registers.vector[i].begin());
  }
}

void write_fxsave(const Registers& registers, std::span<std::uint8_t, 512> area) {
  const auto& x87 = registers.x87;
  write(area, 0, static_cast<std::uint16_t>(x87.control));
  write(area, 2, static_cast<std::uint16_t>(x87.status));
  area[4] = 0;
  write(area, 6, static_cast<std::uint16_t>(x87.opcode));
  write_pointer(area, 8, x87.instruction_offset, x87.instruction_segment);
  write_pointer(area, 16, x87.operand_offset, x87.operand_segment);
  write(area, 24, registers.mxcsr);
  const unsigned top = x87.status >> 11 & 7;
  for (unsigned i = 0; i < 8; ++i) {
    std::copy_n(x87.st[i].begin(), 10, area.begin() + kStOffset + i * 16);
    const unsigned physical = (top + i) & 7;
    if ((x87.tag >> (2 * physical) & 3) != 3) area[4] = static_cast<std::uint8_t>(area[4] | 1u << physical);
  }
  for (unsigned i = 0; i < 16; ++i) {
    std::copy_n(registers.vector[i].begin(), 16, area.begin() + kXmmOffset + i * 16);
  }
}

}  // namespace detrec::gdbstub::registers
