#include "trace/guest/translate/target_check.h"

#include <initializer_list>

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/translate/emitter.h"

namespace detrec::guest::translate {
namespace {

constexpr u64 kProtNone = 0;
constexpr u8 kJump = 0xe9;
constexpr u64 kJumpLength = 5;

/// Upper halves of targets whose lower 62 bits are a low address, and the most that the low 13 bits (those
/// that the look-up does not see as beyond user space) can add.
constexpr u64 kSecondTopBit = 8ull << 30, kTopBit = 8ull << 31, kMostAdded = 8 * 0x2000;

i32 read32(u64 at) {
  i32 v;
  memcpy(&v, reinterpret_cast<const void*>(at), sizeof v);
  return v;
}

void close_pages(u64 begin, u64 end) {
  SysResult r = raw_syscall(__NR_mprotect, begin, end - begin, kProtNone);
  if (failed(r)) DETREC_PANIC("cannot protect the engine's memory at 0x%lx: error %ld", begin, -r);
}

bool same_bytes(u64 at, const u8* bytes, u64 n) {
  return memcmp(reinterpret_cast<const void*>(at), bytes, n) == 0;
}

/// Length of the look-up (mov ecx, [r*4 + table]) at `at`; 0 when there is none.
u64 look_up_length(u64 at) {
  for (Reg r = 0; r < 16; ++r) {
    u8 expected[kMaxInsnLength];
    Emitter e(expected);
    e.look_up_landing(r);
    u64 length = raw(e.here()) - raw(Emitter(expected).here());
    if (r != kRsp && same_bytes(at, expected, length)) return length;
  }
  return 0;
}

/// Where the look-up at `at` goes when there is no entry: its jrcxz leads to a jump out of line.
u64 miss_target(u64 at) {
  u64 jrcxz = at + look_up_length(at);
  u64 jump = jrcxz + 2 + *reinterpret_cast<const u8*>(jrcxz + 1);
  return jump + kJumpLength + static_cast<u64>(static_cast<i64>(read32(jump + 1)));
}

// Between check and look-up the whole target may be loaded: mov rcx, [rsp] or mov rcx, [context].
constexpr i32 kLoadFromStack = 0x240c8b48, kLoadFromContext = 0x250c8b48;
constexpr u64 kStackLoadLength = 4, kContextLoadLength = 8;
u64 look_up_after(u64 check) {
  u64 load = check + kCheckLength;
  i32 code = read32(load);
  return load + (code == kLoadFromStack     ? kStackLoadLength
                 : code == kLoadFromContext ? kContextLoadLength
                                            : 0);
}
u64 check_before(u64 look_up) {
  u64 load = read32(look_up - kStackLoadLength) == kLoadFromStack       ? kStackLoadLength
             : read32(look_up - kContextLoadLength) == kLoadFromContext ? kContextLoadLength
                                                                        : 0;
  return look_up - load - kCheckLength;
}

}  // namespace

void open_check_gaps() {
  close_pages(kCheckPage + kPageSize, kCacheEnd);
  for (u64 bits : {kSecondTopBit, kTopBit}) {
    // From one before: the sum with the table's address may carry out of the 62 bits.
    close_pages(page_down(kCheckByte + bits - 8), page_up(kCheckByte + bits + kMostAdded));
  }
}

bool widen_target_check(u64 host_pc) {
  u8 check[kCheckLength];
  Emitter(check).check_upper_half();
  bool at_look_up = look_up_length(host_pc) != 0;
  if (!at_look_up && !same_bytes(host_pc, check, sizeof check)) return false;
  u64 at = at_look_up ? check_before(host_pc) : host_pc;
  u64 after = at + kCheckLength;
  u64 miss = miss_target(look_up_after(at));
  Emitter site(static_cast<CacheAddr>(at));
  if (*reinterpret_cast<const u8*>(at) == kJump) {
    site.jmp(miss);  // not even the upper half told: never look up here again
    return true;
  }
  CacheAddr asking = cold_room(2 + 2 * kJumpLength);
  Emitter e(asking);
  CacheAddr is_low = e.short_branch(0xe3);  // rcx is the upper half
  e.jmp(miss);
  e.bind_short(is_low);
  e.jmp(after);
  site.jmp(raw(asking));
  return true;
}

}  // namespace detrec::guest::translate
