// madvise(2).
#include <asm/errno.h>
#include <linux/mman.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/address_space.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::memory {
namespace {

// Newer than the headers of some build machines.
constexpr i32 kPopulateWrite = 23, kDontNeedLocked = 24, kGuardInstall = 102, kGuardRemove = 103;

/// What a successful call changes in a region's attributes.
struct AttributeChange {
  u32 set, clear;
};

AttributeChange attribute_change(i32 advice) {
  switch (advice) {
    case MADV_NORMAL:
      return {0, kRandom | kSequential};
    case MADV_RANDOM:
      return {kRandom, kSequential};
    case MADV_SEQUENTIAL:
      return {kSequential, kRandom};
    case MADV_DONTFORK:
      return {kDontFork, 0};
    case MADV_DOFORK:
      return {0, kDontFork};
    case MADV_WIPEONFORK:
      return {kWipeOnFork, 0};
    case MADV_KEEPONFORK:
      return {0, kWipeOnFork};
    case MADV_DONTDUMP:
      return {kDontDump, 0};
    case MADV_DODUMP:
      return {0, kDontDump};
    case MADV_HUGEPAGE:
      return {kHugePage, kNoHugePage};
    case MADV_NOHUGEPAGE:
      return {kNoHugePage, kHugePage};
    case MADV_MERGEABLE:
      return {kMergeable, 0};
    case MADV_UNMERGEABLE:
      return {0, kMergeable};
    default:
      return {0, 0};
  }
}

}  // namespace

bool changes_content(i32 advice) {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE ||
         advice == kDontNeedLocked || advice == kGuardInstall || advice == kGuardRemove ||
         advice == MADV_HWPOISON;
}

SysResult madvise(Turn& turn, GuestAddr addr, u64 length, i32 advice) {
  // When the kernel would reclaim freed pages cannot be repeated; that they are gone at once is within its
  // rights.
  bool free = advice == MADV_FREE;
  if (free) advice = MADV_DONTNEED;
  u64 bytes = page_up(length);
  if (addr % kPageSize != 0 || (length != 0 && bytes == 0) || addr + bytes < addr || bytes == 0) {
    // Let the kernel check the advice and the arguments' form: nothing is touched.
    return raw_syscall(__NR_madvise, addr, length, static_cast<u64>(static_cast<i64>(advice)));
  }
  AddressSpace& space = address_space();
  if (!space.map.room(8)) return -ENOMEM;
  GuestAddr end = addr + bytes;
  sync_growth(addr, end);
  AttributeChange change = attribute_change(advice);
  SysResult result = 0;
  GuestAddr at = addr;
  while (at < end) {
    const Region* m = space.map.at_or_after(at);
    if (m == nullptr || m->begin >= end) break;
    if (m->begin > at) result = -ENOMEM;  // a hole: the rest is done all the same
    GuestAddr from = m->begin > at ? m->begin : at, to = m->end < end ? m->end : end;
    at = to;
    if (free && m->is_file()) return -EINVAL;  // only private anonymous memory can be freed
    if (m->has(kTableBacked)) continue;
    if (changes_content(advice)) drop_code(turn, from, to);
    if (advice == kPopulateWrite) translate::before_write(turn, from, to);
    SysResult r = raw_syscall(__NR_madvise, from, to - from, static_cast<u64>(static_cast<i64>(advice)));
    if (failed(r)) return r;
    if (change.set == kDontFork) space.keeps_from_children = true;
    if (change.set != 0 || change.clear != 0) {
      space.map.update(from, to, [&](Region& region) {
        region.attributes = (region.attributes & ~change.clear) | change.set;
      });
    }
  }
  if (at == addr) {  // nothing of the guest's there: the kernel knows unknown advice from a hole
    SysResult r = raw_syscall(__NR_madvise, addr, 0, static_cast<u64>(static_cast<i64>(advice)));
    return failed(r) ? r : -ENOMEM;
  }
  return at < end ? -ENOMEM : result;
}

}  // namespace detrec::guest::memory
