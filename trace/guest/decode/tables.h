// The opcode tables as the decoder sees them.
#pragma once

#include "trace/guest/decode/row.h"

namespace detrec::guest::tables {

inline constexpr std::uint16_t kNoRow = 0xffff;
inline constexpr int kMaxRows = 2400;

/// All rows, those of one opcode side by side (the last marked kALast), and where each opcode's begin.
struct OpcodeTables {
  std::uint16_t first[kTableCount][256];
  Row rows[kMaxRows];
};

extern const OpcodeTables kOpcodeTables;

}  // namespace detrec::guest::tables
