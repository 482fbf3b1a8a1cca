#include "trace/guest/debug/writes.h"

#include <asm/errno.h>

#include "trace/guest/base/arena.h"
#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/memory/guest_map.h"
#include "trace/guest/memory/recorded_objects.h"
#include "trace/guest/run/cpu_model.h"
#include "trace/guest/run/machine_state.h"
#include "trace/guest/run/threads.h"

namespace detrec::guest::debug {
namespace {

/// CF PF AF ZF SF DF OF AC ID: what a program can set.
constexpr u64 kOwnFlags = 0x24'0cd5;

// Of an XSAVE image (Intel SDM 1, 13.4).
constexpr u64 kMxcsr = 24, kMxcsrMask = 28, kHeader = 512, kHeaderBytes = 64;

template <class T>
T load(const u8* from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

/// Loading it must not fault: what the processor refuses is left out. `own` is an image that it has stored.
void make_loadable(u8* image, const u8* own) {
  u32 mask = load<u32>(own + kMxcsrMask);
  u32 mxcsr = load<u32>(image + kMxcsr) & (mask != 0 ? mask : 0xffbf);
  memcpy(image + kMxcsr, &mxcsr, sizeof mxcsr);
  u64 in_use = load<u64>(image + kHeader) & run::guest_xcr0();
  memset(image + kHeader, 0, kHeaderBytes);
  memcpy(image + kHeader, &in_use, sizeof in_use);
}

}  // namespace

SysResult write_memory(Turn& turn, GuestAddr to, const u8* from, u64 bytes) {
  if (bytes > wire::kTransferBytes) return -EINVAL;
  u8 now;  // nothing is written when the end is missing
  for (GuestAddr at = to; at < to + bytes; at = page_down(at) + kPageSize) {
    if (memory::find(at) == nullptr && !read_guest(now, at)) return -EFAULT;
  }
  return memory::write_recorded(turn, to, from, bytes) ? static_cast<SysResult>(bytes) : -EFAULT;
}

SysResult write_registers(Turn& turn, u32 number, const wire::DebugRegisters& from) {
  Thread* thread = run::find_thread(number);
  if (thread == nullptr) return -ESRCH;
  bool running = thread == &turn.thread();
  Registers& regs = running ? turn.regs() : thread->saved_regs;
  for (int i = 0; i < 16; ++i) regs.gpr[i] = from.gpr[i];
  regs.rflags = (regs.rflags & ~kOwnFlags) | (from.rflags & kOwnFlags);
  regs.pc = from.pc;

  alignas(64) static u8 image[run::kVectorBytes], own[run::kVectorBytes];
  static_assert(sizeof from.xsave == sizeof image);
  memcpy(image, from.xsave, sizeof image);
  run::save_vectors(own);
  make_loadable(image, own);
  if (running) {
    run::load_vectors(image);
    run::set_fs_base(from.fs_base);
    run::set_gs_base(from.gs_base);
    return 0;
  }
  run::ReplayedState& waiting = run::kernel_thread(*thread).replayed;
  if (waiting.vectors == nullptr) waiting.vectors = static_cast<u8*>(engine_reserve(run::kVectorBytes));
  memcpy(waiting.vectors, image, sizeof image);
  waiting.fs_base = from.fs_base;
  waiting.gs_base = from.gs_base;
  return 0;
}

}  // namespace detrec::guest::debug
