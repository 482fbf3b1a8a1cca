#include "trace/guest/translate/code_notes.h"

#include "trace/guest/base/string.h"

namespace detrec::guest::translate {

void CodeRead::note(GuestAddr pc, const u8* code, u32 length) {
  bool follows = ranges_ > kept_ranges_ && range_[ranges_ - 1].begin + range_[ranges_ - 1].length == pc;
  if (used_ + length > kMaxBytes || (!follows && ranges_ == kMaxRanges)) {
    whole_ = false;
    return;
  }
  if (!follows) range_[ranges_++] = {pc, 0, static_cast<u16>(used_)};
  memcpy(bytes_ + used_, code, length);
  used_ += length;
  range_[ranges_ - 1].length = static_cast<u16>(range_[ranges_ - 1].length + length);
}

/// Keeps the provisional ranges, but for those that are part of one kept before.
void CodeRead::keep() {
  if (!whole_) complete_ = false;
  int end = ranges_;
  for (int i = kept_ranges_; i < end; ++i) {
    Range r = range_[i];
    if (has(r)) continue;
    memmove(bytes_ + kept_used_, bytes_ + r.at, r.length);
    r.at = static_cast<u16>(kept_used_);
    kept_used_ += r.length;
    range_[kept_ranges_++] = r;
  }
}

bool CodeRead::has(const Range& r) const {
  for (int i = 0; i < kept_ranges_; ++i) {
    const Range& k = range_[i];
    if (r.begin >= k.begin && r.begin + r.length <= k.begin + k.length &&
        memcmp(bytes_ + k.at + (r.begin - k.begin), bytes_ + r.at, r.length) == 0)
      return true;
  }
  return false;
}

}  // namespace detrec::guest::translate
