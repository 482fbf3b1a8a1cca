// Linear sweeps over code, comparing the decoder with Zydis at each instruction.
#pragma once

#include <cstdint>
#include <span>

#include "tests/unit/decode/oracle/oracle.h"

namespace detrec::guest::test {

/// Compares instruction after instruction; goes on at the next byte where we say invalid. Stops after `limit`
/// comparisons.
inline void sweep(const Oracle& oracle, std::span<const std::uint8_t> code, std::uint64_t limit,
                  Tally& tally) {
  std::size_t at = 0;
  for (std::uint64_t n = 0; n < limit && at < code.size(); ++n) {
    const std::size_t length = oracle.compare(code.subspan(at), tally);
    at += length == 0 ? 1 : length;
  }
}

}  // namespace detrec::guest::test
