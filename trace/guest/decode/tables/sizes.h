// Sizes that depend on the encoding, as tables: of registers, memory operands, displacements and immediates.
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

/// What sizes depend on, each as an index 0..3.
struct SizeContext {
  std::uint8_t operand;  ///< log2 of the operand size in bytes
  std::uint8_t w;        ///< 2 or 3: log2 of 4 or 8 by W
  std::uint8_t length;   ///< 0..2: vectors of 128, 256, 512 bits
};

constexpr SizeContext size_context(unsigned operand_size, unsigned w, unsigned length) {
  // 1, 2, 4, 8 -> 0, 1, 2, 3.
  const unsigned log2 = (operand_size >> 1) - (operand_size >> 3);
  return {static_cast<std::uint8_t>(log2), static_cast<std::uint8_t>(2 + w),
          static_cast<std::uint8_t>(length)};
}

/// Which part of the context a size depends on.
enum class By : std::uint8_t { kOperand, kW, kLength };

struct SizeRule {
  By by;
  std::uint16_t bytes[4];
};

constexpr unsigned apply(const SizeRule& rule, SizeContext context) {
  const unsigned index = rule.by == By::kOperand ? context.operand
                         : rule.by == By::kW     ? context.w
                                                 : context.length;
  return rule.bytes[index];
}

/// In the order of RegClass; 0 for what is no general register.
inline constexpr SizeRule kRegisterWidths[16] = {
    {By::kOperand, {0, 0, 0, 0}},  // kNoGpr
    {By::kOperand, {1, 1, 1, 1}},  // kB
    {By::kOperand, {2, 2, 2, 2}},  // kW
    {By::kOperand, {4, 4, 4, 4}},  // kD
    {By::kOperand, {8, 8, 8, 8}},  // kQ
    {By::kOperand, {1, 2, 4, 8}},  // kV
    {By::kW, {0, 0, 4, 8}},        // kY
};
static_assert(kB == 1 && kW == 2 && kD == 3 && kQ == 4 && kV == 5 && kY == 6);

constexpr unsigned register_width(RegClass cls, SizeContext context) {
  return apply(kRegisterWidths[cls], context);
}

constexpr SizeRule fixed(std::uint16_t bytes) { return {By::kOperand, {bytes, bytes, bytes, bytes}}; }

/// In the order of MemSize.
inline constexpr SizeRule kMemorySizes[] = {
    fixed(0),  // kMNone
    fixed(1),
    fixed(2),
    fixed(4),
    fixed(6),
    fixed(8),
    fixed(10),
    fixed(16),
    fixed(32),
    fixed(48),
    fixed(64),
    fixed(512),
    {By::kOperand, {1, 2, 4, 8}},      // kMV
    {By::kOperand, {4, 2, 4, 4}},      // kMZ
    {By::kW, {0, 0, 4, 8}},            // kMY
    {By::kW, {0, 0, 8, 16}},           // kM2Y
    {By::kOperand, {3, 4, 6, 10}},     // kMFar
    {By::kOperand, {28, 14, 28, 28}},  // kMEnv
    {By::kOperand, {108, 94, 108, 108}},
    {By::kLength, {16, 32, 64, 0}},  // kMVl
    {By::kLength, {8, 16, 32, 0}},
    {By::kLength, {4, 8, 16, 0}},
    {By::kLength, {2, 4, 8, 0}},
    {By::kLength, {8, 32, 64, 0}},  // kMDup
    fixed(0),                       // kMState
};
static_assert(sizeof(kMemorySizes) / sizeof(kMemorySizes[0]) == kMState + 1);

constexpr std::uint16_t memory_size(MemSize size, SizeContext context) {
  return static_cast<std::uint16_t>(apply(kMemorySizes[size], context));
}

/// By ModRM.mod.
inline constexpr std::uint8_t kDispSizes[4] = {0, 1, 4, 0};

struct ImmShape {
  std::uint8_t size[4];  ///< bytes by operand size
  bool is_unsigned;
  bool special;  ///< an address, or two immediates
};

/// In the order of Imm.
inline constexpr ImmShape kImmShapes[] = {
    {{0, 0, 0, 0}, false, false},  // kNone
    {{1, 1, 1, 1}, false, false},  // kIb
    {{1, 1, 1, 1}, true, false},   // kIbU
    {{2, 2, 2, 2}, true, false},   // kIw
    {{4, 2, 4, 4}, false, false},  // kIz
    {{1, 2, 4, 8}, false, false},  // kIv
    {{3, 3, 3, 3}, true, true},    // kIwIb
    {{2, 2, 2, 2}, true, true},    // kIbIb
    {{4, 4, 4, 4}, false, false},  // kId
    {{1, 1, 1, 1}, false, false},  // kRel8
    {{4, 4, 4, 4}, false, false},  // kRel32
    {{4, 2, 4, 4}, false, false},  // kRelZ
    {{0, 0, 0, 0}, false, true},   // kMoffs
};
static_assert(sizeof(kImmShapes) / sizeof(kImmShapes[0]) == static_cast<unsigned>(Imm::kMoffs) + 1);

}  // namespace detrec::guest::tables
