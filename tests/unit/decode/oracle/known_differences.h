// Where the decoder and Zydis disagree on purpose, each with its reason.
#pragma once

#include <span>

#include "tests/unit/decode/oracle/oracle.h"

namespace detrec::guest::test {

struct KnownDifference {
  Property property;
  const char* reason;
  /// Whether the disagreement about this instruction is of this kind. `insn` is meaningful if `status` is
  /// kOk, `ref.insn` if ref.ok().
  bool (*applies)(const Reference& ref, DecodeStatus status, const Insn& insn);
};

std::span<const KnownDifference> known_differences();

}  // namespace detrec::guest::test
