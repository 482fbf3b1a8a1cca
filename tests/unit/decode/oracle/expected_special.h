// Which Special class each of Zydis's mnemonics belongs to.
#pragma once

#include "tests/unit/decode/oracle/oracle.h"

namespace detrec::guest::test {

Special expected_special(const Reference& ref);

}  // namespace detrec::guest::test
