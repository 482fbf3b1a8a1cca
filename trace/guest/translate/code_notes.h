// What a block's translation relies on, noted on the way so that the block can be kept and used again
// (stored_block.h).
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::translate {

/// Guest code that was read to find flags dead. Nothing is noted for an answer "no": it is always right.
class CodeRead {
 public:
  struct Range {
    GuestAddr begin;
    u16 length;
    u16 at;  ///< its bytes are at(range)
  };

  /// Between begin() and keep() the ranges are provisional; what is not kept is dropped by the next begin().
  void begin() {
    ranges_ = kept_ranges_;
    used_ = kept_used_;
    whole_ = true;
  }
  void note(GuestAddr pc, const u8* code, u32 length);
  void keep();

  /// False when there was more than can be noted.
  bool complete() const { return complete_; }
  int count() const { return kept_ranges_; }
  const Range& range(int i) const { return range_[i]; }
  const u8* bytes(const Range& r) const { return bytes_ + r.at; }
  u32 bytes_used() const { return kept_used_; }

 private:
  bool has(const Range& r) const;

  static constexpr int kMaxRanges = 128;
  static constexpr u32 kMaxBytes = 6144;
  Range range_[kMaxRanges];
  u8 bytes_[kMaxBytes];
  int ranges_ = 0, kept_ranges_ = 0;
  u32 used_ = 0, kept_used_ = 0;
  bool whole_ = true, complete_ = true;
};

}  // namespace detrec::guest::translate
