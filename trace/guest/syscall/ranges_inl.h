// Implementation of for_each_written; included by ranges.h only.
#pragma once

#include "trace/guest/base/probe.h"

namespace detrec::guest::syscall {

template <class Visit>
SysResult for_each_iovec(GuestAddr array, u64 count, Visit& visit) {
  if (count > kMaxIovecs) return 0;  // the kernel will refuse it
  for (u64 i = 0; i < count; ++i) {
    Iovec entry;
    if (!read_guest(entry, array + i * sizeof(Iovec))) return 0;
    if (entry.length == 0) continue;
    if (SysResult r = visit(Range{entry.base, entry.length, true}); failed(r)) return r;
  }
  return 0;
}

template <class Visit>
SysResult for_each_in_msghdr(GuestAddr address, Visit& visit) {
  Msghdr header;
  if (!read_guest(header, address)) return 0;
  if (header.name != 0) {
    if (SysResult r = visit(Range{header.name, header.name_length, true}); failed(r)) return r;
  }
  if (header.control != 0) {
    if (SysResult r = visit(Range{header.control, header.control_length, true}); failed(r)) return r;
  }
  return for_each_iovec(header.iov, header.iov_count, visit);
}

template <class Visit>
SysResult for_each_written(const SyscallRow& row, const Args& args, Visit&& visit) {
  using syscalls::ArgKind;
  for (int i = 0; i < row.arg_count; ++i) {
    ArgKind kind = row.args[i].kind;
    if (!row.args[i].is_written() && kind != ArgKind::kByCommand) continue;
    SysResult r = 0;
    if (kind == ArgKind::kIovecOut) {
      r = for_each_iovec(args[i], args[row.args[i].ref], visit);
    } else if (Range range = range_of(row, args, i); range.length != 0) {
      r = visit(range);
      if (!failed(r) && kind == ArgKind::kMsghdrOut) r = for_each_in_msghdr(args[i], visit);
      if (kind == ArgKind::kMmsghdrOut) {
        u64 count = args[row.args[i].ref] < kMaxIovecs ? args[row.args[i].ref] : kMaxIovecs;
        for (u64 m = 0; m < count && !failed(r); ++m)
          r = for_each_in_msghdr(args[i] + m * sizeof(Mmsghdr), visit);
      }
    }
    if (failed(r)) return r;
  }
  return 0;
}

}  // namespace detrec::guest::syscall
