#include <asm/errno.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/syscall/blocking.h"
#include "trace/guest/syscall/ranges.h"

namespace detrec::guest::syscall {

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
  if (large_count_ == kMaxLarge) return nullptr;
  void* start = engine_reserve(bytes);
  large_[large_count_++] = {start, bytes};
  return start;
}

void* Bounce::stand_in(GuestAddr guest, u64 bytes) {
  void* buffer = take(bytes);
  if (buffer == nullptr || !read_guest(buffer, guest, bytes)) return nullptr;
  return remember(guest, bytes, buffer) ? buffer : nullptr;
}

bool Bounce::remember(GuestAddr guest, u64 bytes, void* buffer) {
  if (stands_ == nullptr) stands_ = static_cast<Stand*>(take(kMaxStands * sizeof(Stand)));
  if (stands_ == nullptr || stand_count_ == kMaxStands) return false;
  stands_[stand_count_++] = {arg(buffer), bytes, guest};
  return true;
}

GuestAddr Bounce::guest_address(u64 engine) const {
  for (int i = 0; i < stand_count_; ++i) {
    if (engine - stands_[i].engine < stands_[i].bytes) return stands_[i].guest + (engine - stands_[i].engine);
  }
  return 0;
}

SysResult Bounce::wait(Turn& turn, const SyscallRow& row, const Args& args) {
  syscalls::Before before;
  syscalls::capture_before(row.number, args.value, guest_reader(), before);
  SysResult r = kernel_wait(turn, row.number, args);
  bool good = true;
  auto copy_out = [this, &turn, &good](const syscalls::Range& range) {
    GuestAddr to = guest_address(range.address);
    if (to != 0)
      good &= memory::write_guest(turn, to, reinterpret_cast<const void*>(range.address), range.size);
  };
  syscalls::for_each_written(row.number, args.value, r, &before, guest_reader(),
                             syscalls::visitor_of(copy_out));
  return good ? r : error(EFAULT);
}

SysResult bounced_wait(Turn& turn, const SyscallRow& row, const Args& args) {
  if (alone()) return kernel_wait(turn, row.number, args);
  Bounce bounce(turn);
  Args engine_args = args;
  bool good = true;
  auto stand_in = [&](const syscalls::Range& range) {
    if (range.address != args[range.arg] || range.size > kMaxTransfer) return;  // nested: stays the guest's
    void* buffer = bounce.stand_in(range.address, range.size);
    good &= buffer != nullptr;
    engine_args[range.arg] = arg(buffer);
  };
  syscalls::for_each_writable(row.number, args.value, guest_reader(), syscalls::visitor_of(stand_in));
  if (!good) return error(EFAULT);
  return bounce.wait(turn, row, engine_args);
}

}  // namespace detrec::guest::syscall
