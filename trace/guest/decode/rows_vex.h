#pragma once

#include "trace/guest/decode/row.h"

namespace detrec::guest::tables {

template <int N>
constexpr void add_vex_rows(RowList<N>& t) {
  t.table = Table::k0F;
}

}  // namespace detrec::guest::tables
