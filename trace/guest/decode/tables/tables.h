// The opcode tables as the decoder sees them.
#pragma once

#include "trace/guest/decode/tables/row.h"

namespace detrec::guest::tables {

inline constexpr std::uint16_t kNoRow = 0xffff;
inline constexpr int kRowCount = 2006;  // checked when the tables are built

/// All rows, those of one opcode side by side (the last marked kALast), and where each opcode's begin.
struct OpcodeTables {
  std::uint16_t first[kTableCount][256];
  Row rows[kRowCount];
};

extern const OpcodeTables kOpcodeTables;

}  // namespace detrec::guest::tables
