// Names of mapped files, each kept once; a mapping refers to one by index.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::memory {

class Names {
 public:
  struct Slot {
    u32 offset, length, hash;
    bool used, marked;
  };

  Names() = default;
  /// Memory is the owner's and zero-filled.
  Names(Slot* slots, u32 slot_count, char* text, u32 text_size)
      : slots_(slots), slot_count_(slot_count), text_(text), text_size_(text_size) {}

  /// The index of `name`, entered when new; 0 for an empty name or when there is no room even though `full()`
  /// said so.
  u32 intern(const char* name);
  /// "" for 0.
  const char* text(u32 index) const;

  /// True when the next new name may not fit: the owner then marks what it still uses and calls sweep().
  bool full() const { return text_used_ + 4200 > text_size_ || slots_used_ + 1 >= slot_count_; }
  void mark(u32 index) {
    if (index != 0) slots_[index].marked = true;
  }
  /// Forgets names that were not marked since the last sweep; indices of the others stay.
  void sweep();

 private:
  Slot* slots_ = nullptr;  ///< [0] is "no name"
  u32 slot_count_ = 0;
  u32 slots_used_ = 1;  ///< slots that were ever used, the highest index + 1
  u32 last_ = 0;        ///< what the last call found
  char* text_ = nullptr;
  u32 text_size_ = 0;
  u32 text_used_ = 0;
};

}  // namespace detrec::guest::memory
