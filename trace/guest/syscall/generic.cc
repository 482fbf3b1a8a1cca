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

/// The branch table's range has a gap that sanitizers may map; the rest is the engine's.
bool in_engine_table(GuestAddr address) {
  return address >= kTableBase && address < kTableEnd && memory::find(address) == nullptr;
}

SysResult prepare_range(Turn& turn, const Range& range) {
  if (range.begin >= kUserEnd) return 0;  // the kernel refuses it
  if (is_engine_range(range.begin, range.begin + 1) || in_engine_table(range.begin)) return error(EFAULT);
  u64 end = range.length > kUserEnd - range.begin ? kUserEnd : range.begin + range.length;
  u64 limit = engine_memory_above(range.begin);
  if (end > limit) {
    if (range.exact) return error(EFAULT);
    end = limit;
  }
  translate::before_write(turn, range.begin, end);
  return 0;
}

/// A buffer that ends in the engine's memory is made shorter: a program may name a size beyond its buffer if
/// it knows that less will come.
void clamp_lengths(const SyscallRow& row, Args& args) {
  for (int i = 0; i < row.arg_count; ++i) {
    const syscalls::Arg& a = row.args[i];
    if (!a.is_written() || a.length != syscalls::Length::kMinArgResult || a.size != 1 || args[i] == 0)
      continue;
    u64 room = engine_memory_above(args[i]) - args[i];
    if (args[i] < kUserEnd && args[a.ref] > room && room > a.header) args[a.ref] = room - a.header;
  }
}

}  // namespace

SysResult prepare(Turn& turn, const SyscallRow& row, Args& args) {
  if (names_engine_fd(row, args)) return error(EBADF);
  clamp_lengths(row, args);
  return for_each_written(row, args, [&turn](const Range& range) { return prepare_range(turn, range); });
}

SysResult direct(Turn& turn, const SyscallRow& row) {
  Args args = arguments(turn);
  if (SysResult r = prepare(turn, row, args); failed(r)) return r;
  return raw_syscall(row.number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

}  // namespace detrec::guest::syscall
