#include "trace/guest/events/input_hash.h"

#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::events {
namespace {

constexpr u64 kMultiplier = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio

u64 mix(u64 hash, u64 word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 29);
}

/// Four lanes, so that the multiplications do not wait for one another.
class Hash {
 public:
  void add(const u8* data, u64 size) {
    for (; size >= 32; data += 32, size -= 32) {
      u64 words[4];
      __builtin_memcpy(words, data, sizeof words);
      for (int i = 0; i < 4; ++i) lanes_[i] = mix(lanes_[i], words[i]);
    }
    for (; size != 0; ++data, --size) lanes_[0] = mix(lanes_[0], *data);
    any_ = true;
  }
  u32 value() const {
    if (!any_) return 0;
    u64 all = mix(mix(mix(lanes_[0], lanes_[1]), lanes_[2]), lanes_[3]);
    auto folded = static_cast<u32>(all ^ (all >> 32));
    return folded != 0 ? folded : 1;
  }

 private:
  u64 lanes_[4] = {1, 2, 3, 4};
  bool any_ = false;
};

}  // namespace

u32 input_hash(i32 number, const syscall::Args& args, const syscalls::Before& before) {
  Hash hash;
  auto visit = [&hash](const syscalls::Range& range) {
    u8 buffer[4096];
    for (u64 done = 0; done < range.size;) {
      u64 piece = range.size - done < sizeof buffer ? range.size - done : sizeof buffer;
      if (!read_guest(buffer, range.address + done, piece)) return;  // the kernel will say so
      hash.add(buffer, piece);
      done += piece;
    }
  };
  syscalls::for_each_read(number, args.value, syscall::guest_reader(), syscalls::visitor_of(visit), &before);
  return hash.value();
}

}  // namespace detrec::guest::events
