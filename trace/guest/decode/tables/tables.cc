// Builds the opcode tables at compile time.
#include "trace/guest/decode/tables/tables.h"

#include "trace/guest/decode/tables/rows_0f.h"
#include "trace/guest/decode/tables/rows_0f38.h"
#include "trace/guest/decode/tables/rows_1byte.h"
#include "trace/guest/decode/tables/rows_evex.h"
#include "trace/guest/decode/tables/rows_vex.h"
#include "trace/guest/decode/tables/rows_xop.h"

namespace detrec::guest::tables {
namespace {

constexpr int kRowCapacity = 4000;

constexpr OpcodeTables build() {
  RowList<kRowCapacity> list;
  add_1byte_rows(list);
  add_0f_rows(list);
  add_0f38_rows(list);
  add_0f3a_rows(list);
  add_vex_rows(list);
  add_evex_rows(list);
  add_xop_rows(list);

  // The engine is built without exceptions: a trap stops constant evaluation just as well.
  if (list.count != kRowCount) __builtin_trap();  // kRowCount is not the number of rows
  OpcodeTables out{};
  int start[kTableCount * 256 + 1] = {};
  for (int i = 0; i < list.count; ++i)
    ++start[static_cast<int>(list.rows[i].table) * 256 + list.rows[i].opcode + 1];
  for (int k = 0; k < kTableCount * 256; ++k) {
    const bool empty = start[k + 1] == 0;
    start[k + 1] += start[k];
    out.first[k / 256][k % 256] = empty ? kNoRow : static_cast<std::uint16_t>(start[k]);
  }
  for (int i = 0; i < list.count; ++i) {
    const int k = static_cast<int>(list.rows[i].table) * 256 + list.rows[i].opcode;
    out.rows[start[k]++] = list.rows[i];
  }
  for (int i = 0; i < list.count; ++i) {
    const bool last = i + 1 == list.count || out.rows[i + 1].table != out.rows[i].table ||
                      out.rows[i + 1].opcode != out.rows[i].opcode;
    if (last) {
      out.rows[i].attrs |= kALast;
    } else if (((out.rows[i].attrs ^ out.rows[i + 1].attrs) & (kAModrm | kAForceReg)) != 0) {
      __builtin_trap();  // rows of one opcode disagree about the ModRM byte: not a constant expression
    }
  }
  return out;
}

}  // namespace

constinit const OpcodeTables kOpcodeTables = build();

}  // namespace detrec::guest::tables
