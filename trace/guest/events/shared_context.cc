#include "trace/guest/events/shared_context.h"

#include <linux/mman.h>

#include "trace/guest/base/print.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/events/mode.h"
#include "trace/guest/process.h"
#include "trace/guest/translate/context.h"

namespace detrec::guest::events {
namespace {

/// Replaces the page by another mapping, content kept. Nothing may interrupt this that looks at the context.
void replace_page(u32 flags, i32 fd, u64 offset) {
  alignas(8) u8 content[sizeof(Context)];
  memcpy(content, &context(), sizeof content);
  SysResult r = raw_syscall(__NR_mmap, kContextAddress, kPageSize, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                            static_cast<u64>(static_cast<i64>(fd)), offset);
  if (static_cast<u64>(r) != kContextAddress) DETREC_PANIC("cannot map the context page: error %ld", -r);
  memcpy(&context(), content, sizeof content);
}

}  // namespace

void share_context(wire::Launch& launch, i32 fd) {
  if (launch.context_offset == 0) return;
  launch.context = {offsetof(Context, tick_base), offsetof(Context, allotted), offsetof(Context, stripe),
                    kStripes};
  replace_page(MAP_SHARED, fd, launch.context_offset);
}

void unshare_context() {
  if (recording() && process().launch->context_offset != 0) replace_page(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void share_context_again() {
  if (recording() && process().launch->context_offset != 0)
    replace_page(MAP_SHARED, process().own_fds[kLaunchFd], process().launch->context_offset);
}

}  // namespace detrec::guest::events
