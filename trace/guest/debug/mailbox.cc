#include "trace/guest/debug/mailbox.h"

#include <linux/mman.h>

#include "trace/guest/base/layout.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/process.h"

namespace detrec::guest::debug {
namespace {

constexpr u64 kFutexWait = 0, kFutexWake = 1;

void map(u64 at, u64 bytes, u32 flags, i32 fd, u64 offset) {
  SysResult r = raw_syscall(__NR_mmap, at, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                            static_cast<u64>(fd), offset);
  if (static_cast<u64>(r) != at) DETREC_PANIC("cannot map the debugger's mailbox: error %ld", -r);
}

/// The other processes of the replay have pages of their own.
void make_launch_page_private() {
  static wire::Launch copy;
  wire::Launch* launch = process().launch;
  memcpy(&copy, launch, sizeof copy);
  map(arg(launch), page_up(sizeof(wire::Launch)), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(launch, &copy, sizeof copy);
}

}  // namespace

wire::DebugMailbox& mailbox() { return *reinterpret_cast<wire::DebugMailbox*>(kMailboxAddress); }

void enter_slot(i32 launch_fd, u32 slot) {
  make_launch_page_private();
  wire::Launch& launch = *process().launch;
  launch.debug_slot = slot;
  map(kMailboxAddress, sizeof(wire::DebugMailbox), MAP_SHARED, launch_fd,
      launch.debug_offset + slot * wire::slot_bytes(launch.ring_bytes));
}

void answer() {
  wire::DebugMailbox& box = mailbox();
  __atomic_store_n(&box.answered, box.posted, __ATOMIC_RELEASE);
  raw_syscall(__NR_futex, arg(&box.answered), kFutexWake, 1);
}

void wait_for_request() {
  wire::DebugMailbox& box = mailbox();
  const i64 patience[2] = {1, 0};  // struct timespec
  for (u32 idle = box.answered; __atomic_load_n(&box.posted, __ATOMIC_ACQUIRE) == idle;)
    raw_syscall(__NR_futex, arg(&box.posted), kFutexWait, idle, arg(patience));
}

}  // namespace detrec::guest::debug
