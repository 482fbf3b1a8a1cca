#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {
namespace {

using syscalls::Arg;
using syscalls::ArgKind;
using syscalls::Length;

/// Structures of unknown size: as much as is looked at for code, from the start on.
constexpr u64 kUnknownLength = kPageSize;

u64 pointee(GuestAddr address) {
  u32 value = 0;
  if (address == 0 || !read_guest(value, address)) return 0;
  return value;
}

u64 bits_to_bytes(u64 bits) { return (bits + 63) / 64 * 8; }

u64 length_of(const SyscallRow& row, const Args& args, int index, bool& exact) {
  const Arg& a = row.args[index];
  u64 count = a.ref == syscalls::kNoArg ? 0 : args[a.ref];
  switch (a.length) {
    case Length::kNone:
      return 0;
    case Length::kFixed:
      return a.size;
    case Length::kArg:
    case Length::kMinArgResult:
      return count == 0 ? 0 : a.header + (count < kMaxTransfer ? count : kMaxTransfer) * a.size;
    case Length::kPointee:
      return pointee(count);
    case Length::kFdSet:
      return static_cast<i32>(count) <= 0 ? 0 : bits_to_bytes(static_cast<u32>(count));
    case Length::kNodeMask:
      return count == 0 ? 0 : bits_to_bytes((count - 1) & 0xffff'ffff);
    case Length::kPages:
      return (count + kPageSize - 1) / kPageSize;
    case Length::kPollfd:
      return static_cast<u32>(count) * u64{8};
    case Length::kMsghdr:
      return sizeof(Msghdr);
    case Length::kMmsghdr:
      return (static_cast<u32>(count) < kMaxIovecs ? static_cast<u32>(count) : kMaxIovecs) * sizeof(Mmsghdr);
    case Length::kFileHandle:
      return 8 + pointee(args[index]);
    case Length::kSiginfoWait:
      return 128;
    case Length::kIovec:
    case Length::kString:
    case Length::kStringArray:
      return 0;
    default:
      break;
  }
  exact = false;
  return kUnknownLength;
}

/// Whether a command's argument can be a pointer at all; numbers are left alone.
bool may_be_pointer(u64 value) { return value >= 0x10000 && value < kUserEnd; }

}  // namespace

Range range_of(const SyscallRow& row, const Args& args, int index) {
  bool exact = true;
  if (row.args[index].kind == ArgKind::kByCommand) {
    return may_be_pointer(args[index]) ? Range{args[index], kUnknownLength, false}
                                       : Range{args[index], 0, false};
  }
  if (!row.args[index].is_memory() || args[index] == 0) return {args[index], 0, true};
  u64 length = length_of(row, args, index, exact);
  return {args[index], length, exact};
}

}  // namespace detrec::guest::syscall
