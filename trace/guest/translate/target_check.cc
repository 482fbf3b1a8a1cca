#include "trace/guest/translate/target_check.h"

#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/translate/emitter.h"

namespace detrec::guest::translate {
namespace {

constexpr u64 kProtNone = 0;
constexpr u8 kJmp = 0xe9;

/// Upper halves of targets whose lower 62 bits are a low address, and the most that the low 13 bits (those that the
/// look-up does not see as beyond user space) can add.
constexpr u64 kSecondTopBit = 8ull << 30, kTopBit = 8ull << 31, kMostAdded = 8 * 0x2000;

void close_pages(u64 begin, u64 end) {
  SysResult r = raw_syscall(__NR_mprotect, begin, end - begin, kProtNone);
  if (failed(r)) DETREC_PANIC("cannot protect the engine's memory at 0x%lx: error %ld", begin, -r);
}

bool same_bytes(u64 at, const u8* bytes, u64 n) {
  return memcmp(reinterpret_cast<const void*>(at), bytes, n) == 0;
}

/// Where the look-up's jrcxz goes when there is no entry: a jump out of line.
u64 miss_target(u64 look_up) {
  u64 jrcxz = look_up + kLookUpLength;
  i8 distance;
  memcpy(&distance, reinterpret_cast<const void*>(jrcxz + 1), sizeof distance);
  u64 jump = jrcxz + 2 + static_cast<u64>(static_cast<i64>(distance));
  i32 displacement;
  memcpy(&displacement, reinterpret_cast<const void*>(jump + 1), sizeof displacement);
  return jump + 5 + static_cast<u64>(static_cast<i64>(displacement));
}

/// The check's load in the code of one instruction; 0 when there is none. Once changed it is a jump.
u64 find_look_up(u64 insn_cache, const u8* pattern) {
  constexpr u64 kMostBefore = 64;
  for (u64 at = insn_cache; at < insn_cache + kMostBefore; ++at) {
    if (same_bytes(at, pattern, kLookUpLength)) return at;
  }
  return 0;
}

}  // namespace

void open_check_gaps() {
  close_pages(kCheckPage + kPageSize, kCacheEnd);
  for (u64 bits : {kSecondTopBit, kTopBit}) {
    // From one before: the sum with the table's address may carry out of the 62 bits.
    close_pages(page_down(kCheckByte + bits - 8), page_up(kCheckByte + bits + kMostAdded));
  }
}

}  // namespace detrec::guest::translate
