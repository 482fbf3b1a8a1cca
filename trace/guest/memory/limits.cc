// RLIMIT_AS and RLIMIT_DATA, which count the guest's mappings and not the engine's, and what is set up before
// anything is mapped.
#include <asm/errno.h>
#include <asm/resource.h>
#include <linux/auxvec.h>
#include <linux/capability.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/print.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/memory/address_space.h"
#include "trace/guest/memory/guest_memory.h"
#include "trace/guest/process.h"

namespace detrec::guest::memory {
namespace {

/// What the engine needs beside the guest: the branch table, the code cache, its heap.
constexpr u64 kEngineNeeds = (kTableEnd - kTableBase) + (kCacheEnd - kCacheBegin) + 0x8000'0000;

/// An execve under a smaller RLIMIT_AS could not even map the engine's image.
constexpr u64 kLeastForExec = 0x800'0000;

SysResult kernel_limit(u32 resource, const Limit* set, Limit* get) {
  return raw_syscall(__NR_prlimit64, 0, resource, arg(set), arg(get));
}

/// Takes a limit over into `own` and lifts the kernel's as far as it goes. False when that is not enough.
bool make_virtual(u32 resource, Limit& own) {
  if (failed(kernel_limit(resource, nullptr, &own)) || own.soft == kUnlimited) return true;
  Limit lifted;
  if (!failed(kernel_limit(resource, &lifted, nullptr))) return true;
  lifted.soft = lifted.hard = own.hard;
  return !failed(kernel_limit(resource, &lifted, nullptr)) && own.hard >= kEngineNeeds;
}

/// CAP_SYS_RESOURCE allows raising hard limits.
bool may_raise_hard_limits() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (failed(raw_syscall(__NR_capget, arg(&header), arg(data)))) return false;
  return (data[0].effective & (1u << CAP_SYS_RESOURCE)) != 0;
}

/// The virtual limit of a resource, or nullptr when the kernel's own counts.
Limit* virtual_limit(u32 resource) {
  if (resource == RLIMIT_AS) return &address_space().as;
  if (resource == RLIMIT_DATA) return &address_space().data;
  return nullptr;
}

}  // namespace

bool start(const u64* kernel_auxv, char* message, u64 size) {
  AddressSpace& space = address_space();
  if (space.started) return true;
  space.started = true;
  bool enough = make_virtual(RLIMIT_AS, space.as);
  u64 short_limit = space.as.hard;
  if (enough) {
    enough = make_virtual(RLIMIT_DATA, space.data);
    short_limit = space.data.hard;
  }
  if (!enough) {
    format(message, size,
           "the hard limit of %lu KiB on address space or data (ulimit -Hv, -Hd) is too low: the engine "
           "needs %lu KiB",
           short_limit / 1024, kEngineNeeds / 1024);
    return false;
  }
  Limit stack;
  kernel_limit(RLIMIT_STACK, nullptr, &stack);
  space.stack_limit = stack.soft;

  // The kernel may yet extend the initial stack, as far as its limit or the gap it leaves for it goes.
  GuestAddr stack_page = page_down(arg(kernel_auxv));
  constexpr u64 kAroundVdso = 0x1'0000, kBelowStack = 0x80'0000, kAboveStack = 0x100'0000;
  space.foreign.add(stack_page - kBelowStack, stack_page + kAboveStack);
  for (const u64* a = kernel_auxv; a[0] != AT_NULL; a += 2) {
    if (a[0] == AT_SYSINFO_EHDR) space.foreign.add(a[1] - kAroundVdso, a[1] + kAroundVdso);
  }

  constexpr u32 kRegions = 1u << 20, kNames = 4096, kNameBytes = 1u << 20;
  space.map =
      RegionMap(static_cast<RegionMap::Node*>(engine_reserve(kRegions * sizeof(RegionMap::Node))), kRegions);
  space.names = Names(static_cast<Names::Slot*>(engine_reserve(kNames * sizeof(Names::Slot))), kNames,
                      static_cast<char*>(engine_reserve(kNameBytes)), kNameBytes);
  return true;
}

SysResult prlimit(Turn& turn, i32 pid, u32 resource, GuestAddr new_limit, GuestAddr old_limit) {
  AddressSpace& space = address_space();
  Limit wanted, old;
  if (new_limit != 0 && !read_guest(wanted, new_limit)) return -EFAULT;
  bool own = pid == 0 || pid == turn.thread().pid;
  Limit* limit = own ? virtual_limit(resource) : nullptr;
  // A vfork child shares the virtual limits with its parent: what it sets is for the program it is about to
  // execute, which takes it from the kernel.
  if (limit == nullptr || turn.thread().vfork_child) {
    SysResult r = raw_syscall(__NR_prlimit64, static_cast<u64>(static_cast<i64>(pid)), resource,
                              new_limit != 0 ? arg(&wanted) : 0, arg(&old));
    if (failed(r)) return r;
    if (own && resource == RLIMIT_STACK && new_limit != 0 && !turn.thread().vfork_child)
      space.stack_limit = wanted.soft;
  } else {
    old = *limit;
    if (new_limit != 0) {
      if (wanted.soft > wanted.hard) return -EINVAL;
      if (wanted.hard > limit->hard && !may_raise_hard_limits()) return -EPERM;
      *limit = wanted;
    }
  }
  return old_limit == 0 || write_guest(turn, old_limit, old) ? 0 : -EFAULT;
}

void prepare_exec(Turn& turn) {
  if (turn.thread().vfork_child) return;  // has set the kernel's limits itself
  // Root keeps its rights across execve.
  bool raises_hard = raw_syscall(__NR_geteuid) == 0 && may_raise_hard_limits();
  for (u32 resource : {RLIMIT_AS, RLIMIT_DATA}) {
    Limit now, wanted = *virtual_limit(resource);
    kernel_limit(resource, nullptr, &now);
    if (wanted.soft == kUnlimited && wanted.hard == kUnlimited) continue;
    if (wanted.soft < kLeastForExec) wanted.soft = kLeastForExec;
    if (wanted.hard < wanted.soft) wanted.hard = wanted.soft;
    // Without the right to raise it again, a lowered hard limit would leave the new image no room for the
    // engine.
    if (!raises_hard) wanted.hard = now.hard;
    if (wanted.soft > wanted.hard) wanted.soft = wanted.hard;
    kernel_limit(resource, &wanted, nullptr);
  }
}

void cancel_exec(Turn& turn) {
  if (turn.thread().vfork_child) return;
  for (u32 resource : {RLIMIT_AS, RLIMIT_DATA}) {
    Limit lifted;
    if (!failed(kernel_limit(resource, &lifted, nullptr))) continue;
    if (failed(kernel_limit(resource, nullptr, &lifted))) continue;
    lifted.soft = lifted.hard;
    kernel_limit(resource, &lifted, nullptr);
  }
}

}  // namespace detrec::guest::memory
