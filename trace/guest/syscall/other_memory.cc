// process_vm_readv and process_vm_writev: to the guest's own address space through the engine's door, to
// others natively.

#include <asm/errno.h>
#include <asm/unistd_64.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mappings.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/process.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/ranges.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::syscall {
namespace {

bool is_own_address_space(i32 pid) {
  for (Thread* t = process().threads; t != nullptr; t = t->next) {
    if (pid == t->tid || pid == t->pid) return true;
  }
  return false;
}

/// What locking every mapping came to.
struct Locking {
  u64 flags;
  SysResult result;
};

void lock_mapping(const memory::Mapping& mapping, const char*, void* locking_of_all) {
  auto* locking = static_cast<Locking*>(locking_of_all);
  if (failed(locking->result) || mapping.prot == 0) return;
  locking->result = raw_syscall(__NR_mlock2, mapping.begin, mapping.end - mapping.begin, locking->flags);
  if (locking->result == error(EFAULT)) locking->result = 0;  // beyond the end of a file
}

}  // namespace

SysResult mlockall(Turn& turn) {
  constexpr u64 kCurrent = 1, kFuture = 2, kOnFault = 4;  // MCL_*
  u64 flags = turn.arg(0);
  if (flags == 0 || (flags & ~(kCurrent | kFuture | kOnFault)) != 0 || flags == kOnFault)
    return error(EINVAL);
  Locking locking{(flags & kOnFault) ? u64{1} : 0, 0};
  if (flags & kCurrent) memory::for_each(lock_mapping, &locking);
  return locking.result;  // mappings of the future are not locked: docs/limits.md
}

SysResult process_vm(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  if (is_own_address_space(static_cast<i32>(args[0]))) {
    // Both sides are the guest's own memory: what is the engine's there does not exist, what is code is about
    // to change.
    bool writes = row.number == __NR_process_vm_writev;
    bool good = true;
    for_each_iovec(args[3], args[4], [&turn, writes, &good](const Iovec& entry) {
      GuestAddr end = entry.base + entry.length;
      good = end >= entry.base && !memory::touches_engine(entry.base, end);
      if (good && writes) translate::before_write(turn, entry.base, end);
      return good;
    });
    if (!good) return error(EFAULT);
  }
  SysResult r = execute(row.number, args);
  bool own_writes = row.number == __NR_process_vm_writev && is_own_address_space(static_cast<i32>(args[0]));
  if (r > 0 && own_writes) {
    auto left = static_cast<u64>(r);
    for_each_iovec(args[3], args[4], [&left](const Iovec& entry) {
      u64 size = entry.length < left ? entry.length : left;
      events::note_memory_change(entry.base, entry.base + size);
      left -= size;
      return left != 0;
    });
  }
  return r;
}

}  // namespace detrec::guest::syscall
