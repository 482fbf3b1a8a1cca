#include <asm/errno.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {
namespace {

using syscalls::Arg;
using syscalls::ArgKind;
using syscalls::Length;
using syscalls::When;

/// An argument that a buffer of the engine's stands in for.
struct Stand {
  int index;
  GuestAddr guest;
  void* buffer;
  u64 length;
};

/// Whether the kernel reads it too, or leaves parts of it as they are.
bool needs_content(const Arg& a) {
  return a.kind == ArgKind::kInOut || a.kind == ArgKind::kLengthInOut || a.length == Length::kSiginfoWait;
}

bool is_written(When when, SysResult r) {
  switch (when) {
    case When::kSuccess:
      return r >= 0;
    case When::kPositive:
      return r > 0;
    case When::kInterrupt:
      return r == error(EINTR);
    case When::kAnyResult:
      return true;
    default:
      return r >= 0;
  }
}

u64 written_length(const Arg& a, const Stand& stand, const Args& engine_args, SysResult r) {
  u64 length = stand.length;
  if (a.length == Length::kMinArgResult) length = a.header + static_cast<u64>(r) * a.size;
  if (a.length == Length::kPointee) length = *reinterpret_cast<const u32*>(engine_args[a.ref]);
  return length < stand.length ? length : stand.length;
}

}  // namespace

Bounce::~Bounce() {
  for (int i = 0; i < large_count_; ++i) engine_release(large_[i].start, large_[i].bytes);
}

void* Bounce::take(u64 bytes) {
  bytes = (bytes + 15) & ~u64{15};
  if (bytes <= kOwn - used_) {
    if (thread_.bounce == nullptr) thread_.bounce = static_cast<u8*>(engine_reserve(kOwn));
    void* start = thread_.bounce + used_;
    used_ += bytes;
    return start;
  }
  DETREC_CHECK(large_count_ < kMaxLarge);
  void* start = engine_reserve(bytes);
  large_[large_count_++] = {start, bytes};
  return start;
}

void* Bounce::copy_in(GuestAddr from, u64 bytes) {
  void* to = take(bytes);
  return read_guest(to, from, bytes) ? to : nullptr;
}

SysResult bounced_wait(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  Bounce bounce(turn);
  Stand stands[syscalls::kMaxArgs];
  int count = 0;
  Args engine_args = args;
  for (int i = 0; i < row.arg_count; ++i) {
    const Arg& a = row.args[i];
    if (!a.is_written() || args[i] == 0) continue;
    Range range = range_of(row, args, i);
    if (!range.exact || range.length == 0) continue;
    void* buffer = needs_content(a) ? bounce.copy_in(range.begin, range.length) : bounce.take(range.length);
    if (buffer == nullptr) return error(EFAULT);
    stands[count++] = {i, range.begin, buffer, range.length};
    engine_args[i] = arg(buffer);
  }
  SysResult r = kernel_wait(turn, row.number, engine_args);
  for (int i = 0; i < count; ++i) {
    const Stand& stand = stands[i];
    const Arg& a = row.args[stand.index];
    if (!is_written(a.when, r)) continue;
    u64 length = written_length(a, stand, engine_args, r);
    if (!memory::write_guest(turn, stand.guest, stand.buffer, length)) return error(EFAULT);
  }
  return r;
}

}  // namespace detrec::guest::syscall
