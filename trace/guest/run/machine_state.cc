#include "trace/guest/run/machine_state.h"

#include <asm/prctl.h>

#include "trace/guest/base/syscall.h"
#include "trace/guest/run/cpu_model.h"

namespace detrec::guest::run {
namespace {

u64 get_base(u64 command) {
  u64 base = 0;
  raw_syscall(__NR_arch_prctl, command, arg(&base));
  return base;
}

}  // namespace

void save_vectors(u8* area) {
  u64 features = guest_xcr0();
  asm volatile("xsave64 (%0)"
               :
               : "r"(area), "a"(static_cast<u32>(features)), "d"(static_cast<u32>(features >> 32))
               : "memory");
}

void load_vectors(const u8* area) {
  u64 features = guest_xcr0();
  asm volatile("xrstor64 (%0)"
               :
               : "r"(area), "a"(static_cast<u32>(features)), "d"(static_cast<u32>(features >> 32))
               : "memory");
}

u64 fs_base() { return get_base(ARCH_GET_FS); }
u64 gs_base() { return get_base(ARCH_GET_GS); }
void set_fs_base(u64 base) { raw_syscall(__NR_arch_prctl, ARCH_SET_FS, base); }
void set_gs_base(u64 base) { raw_syscall(__NR_arch_prctl, ARCH_SET_GS, base); }

}  // namespace detrec::guest::run
