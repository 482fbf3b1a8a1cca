// What every call that reaches the kernel goes through: the engine's descriptors and memory are refused, and
// the translator learns what will be written.

#include <asm/errno.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/syscall/descriptors.h"
#include "trace/guest/syscall/handlers.h"
#include "trace/guest/syscall/ranges.h"
#include "trace/guest/translate/code_pages.h"

namespace detrec::guest::syscall {
namespace {

using syscalls::ArgKind;

bool names_engine_fd(const SyscallRow& row, const Args& args) {
  for (int i = 0; i < row.arg_count; ++i) {
    ArgKind kind = row.args[i].kind;
    if ((kind == ArgKind::kFd || kind == ArgKind::kDirFd) && is_engine_fd(static_cast<i32>(args[i])))
      return true;
  }
  return false;
}

/// Where the engine's memory begins above `address`, or kUserEnd.
u64 engine_memory_above(GuestAddr address) {
  if (address < kCacheBegin) return kCacheBegin;
  return address < kEngineHeapBegin ? kEngineHeapBegin : kUserEnd;
}

/// A buffer that would end in the engine's memory is made shorter: a program may name a size beyond its
/// buffer when it knows that less will come.
void clamp_lengths(const SyscallRow& row, Args& args) {
  for (int i = 0; i < row.arg_count; ++i) {
    const syscalls::Arg& a = row.args[i];
    if (a.length != syscalls::Length::kMinArgResult || a.size != 1 || args[i] == 0 || args[i] >= kUserEnd)
      continue;
    u64 room = engine_memory_above(args[i]) - args[i];
    if (args[a.ref] > room && room > a.header) args[a.ref] = room - a.header;
  }
}

SysResult prepare_range(Turn& turn, GuestAddr begin, u64 size) {
  if (begin >= kUserEnd || size > kUserEnd - begin) return 0;  // the kernel refuses it
  if (memory::touches_engine(begin, begin + size)) return error(EFAULT);
  translate::before_write(turn, begin, begin + size);
  return 0;
}

}  // namespace

SysResult prepare(Turn& turn, const SyscallRow& row, Args& args) {
  if (names_engine_fd(row, args)) return error(EBADF);
  clamp_lengths(row, args);
  SysResult result = 0;
  auto visit = [&turn, &result](const syscalls::Range& range) {
    if (!failed(result)) result = prepare_range(turn, range.address, range.size);
  };
  syscalls::for_each_writable(row.number, args.value, guest_reader(), syscalls::visitor_of(visit));
  return result;
}

SysResult execute(long nr, const Args& a) { return raw_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]); }

SysResult direct(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  return execute(row.number, args);
}

}  // namespace detrec::guest::syscall
