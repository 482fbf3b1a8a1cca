// process_vm_readv and process_vm_writev: to the guest's own address space through the engine's door, to
// others natively.

#include <asm/errno.h>
#include <asm/unistd_64.h>

#include "trace/guest/base/syscall.h"
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

}  // namespace

SysResult process_vm(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  if (is_own_address_space(static_cast<i32>(args[0]))) {
    // Both sides are the guest's own memory: what is the engine's there does not exist, what is code is about
    // to change.
    bool writes = row.number == __NR_process_vm_writev;
    auto visit = [&turn, writes](const Range& range) -> SysResult {
      GuestAddr end = range.begin + range.length;
      if (end < range.begin || memory::touches_engine(range.begin, end)) return error(EFAULT);
      if (writes) translate::before_write(turn, range.begin, end);
      return 0;
    };
    if (SysResult r = for_each_iovec(args[3], args[4], visit); failed(r)) return r;
  }
  return raw_syscall(row.number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

}  // namespace detrec::guest::syscall
