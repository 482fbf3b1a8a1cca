// Numbers that look random and are the same in every run.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest {

/// Marsaglia's xorshift, 64 bits.
class Random {
 public:
  u64 next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  u64 state_ = 0x9e37'79b9'7f4a'7c15ull;
};

}  // namespace detrec::guest
