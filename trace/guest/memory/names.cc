#include "trace/guest/memory/names.h"

#include "trace/guest/base/string.h"

namespace detrec::guest::memory {
namespace {

u32 hash_of(const char* s) {
  u32 h = 2166136261u;  // FNV-1a
  for (; *s != 0; ++s) h = (h ^ static_cast<u8>(*s)) * 16777619u;
  return h;
}

}  // namespace

u32 Names::intern(const char* name) {
  if (name == nullptr || *name == 0) return 0;
  u32 hash = hash_of(name);
  u32 vacant = 0;
  auto matches = [&](u32 i) {
    return slots_[i].used && slots_[i].hash == hash && strcmp(text_ + slots_[i].offset, name) == 0;
  };
  if (last_ != 0 && matches(last_)) return last_;
  for (u32 i = 1; i < slots_used_; ++i) {
    if (matches(i)) return last_ = i;
    if (!slots_[i].used) vacant = i;
  }
  std::size_t length = strlen(name);
  if (text_used_ + length + 1 > text_size_) return 0;
  if (vacant == 0) {
    if (slots_used_ >= slot_count_) return 0;
    vacant = slots_used_++;
  }
  memcpy(text_ + text_used_, name, length + 1);
  slots_[vacant] = {text_used_, static_cast<u32>(length), hash, true, false};
  text_used_ += static_cast<u32>(length + 1);
  return last_ = vacant;
}

const char* Names::text(u32 index) const {
  return index == 0 || index >= slots_used_ || !slots_[index].used ? "" : text_ + slots_[index].offset;
}

void Names::sweep() {
  // Texts lie in the order of their offsets; moving them down in that order never overwrites one still to
  // move.
  u32 to = 0;
  for (u32 from = 0; from < text_used_;) {
    u32 length = static_cast<u32>(strlen(text_ + from));
    for (u32 i = 1; i < slots_used_; ++i) {
      Slot& slot = slots_[i];
      if (!slot.used || slot.offset != from) continue;
      if (slot.marked) {
        memmove(text_ + to, text_ + from, length + 1);
        slot.offset = to;
        to += length + 1;
      } else {
        slot.used = false;
      }
      break;
    }
    from += length + 1;
  }
  text_used_ = to;
  last_ = 0;
  while (slots_used_ > 1 && !slots_[slots_used_ - 1].used) --slots_used_;
  for (u32 i = 1; i < slots_used_; ++i) slots_[i].marked = false;
}

}  // namespace detrec::guest::memory
