#include "trace/guest/debug/requests.h"

#include <asm/errno.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/base/syscall.h"
#include "trace/guest/debug/mailbox.h"
#include "trace/guest/debug/points.h"
#include "trace/guest/debug/trail.h"
#include "trace/guest/debug/writes.h"
#include "trace/guest/events/ring.h"
#include "trace/guest/memory/address_space.h"
#include "trace/guest/memory/recorded_objects.h"
#include "trace/guest/process.h"
#include "trace/guest/run/machine_state.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/run/threads.h"

namespace detrec::guest::debug {
namespace {

/// As much as can be read from the beginning.
SysResult read_memory(GuestAddr address, u64 bytes, u8* to) {
  if (bytes > wire::kTransferBytes) bytes = wire::kTransferBytes;
  u64 done = 0;
  while (done < bytes) {
    u64 to_page_end = kPageSize - (address + done) % kPageSize;
    u64 piece = bytes - done < to_page_end ? bytes - done : to_page_end;
    if (memory::touches_engine(address + done, address + done + piece)) break;
    if (!read_guest(to + done, address + done, piece)) break;
    done += piece;
  }
  return static_cast<SysResult>(done);
}

SysResult read_registers(Turn& turn, u32 number, wire::DebugRegisters& to) {
  Thread* thread = run::find_thread(number);
  if (thread == nullptr) return -ESRCH;
  bool running = thread == &turn.thread();
  Registers regs = running ? turn.regs() : thread->saved_regs;
  run::settle_flags(regs);
  memset(&to, 0, sizeof to);
  for (int i = 0; i < 16; ++i) to.gpr[i] = regs.gpr[i];
  to.rflags = regs.rflags;
  to.pc = regs.pc;
  to.xsave_bytes = sizeof to.xsave;
  const run::ReplayedState& waiting = run::kernel_thread(*thread).replayed;
  if (running) {
    to.fs_base = run::fs_base();
    to.gs_base = run::gs_base();
    alignas(64) static u8 aligned[run::kVectorBytes];
    memset(aligned, 0, sizeof aligned);
    run::save_vectors(aligned);
    static_assert(sizeof to.xsave == sizeof aligned);
    memcpy(to.xsave, aligned, sizeof to.xsave);
  } else {
    to.fs_base = waiting.fs_base;
    to.gs_base = waiting.gs_base;
    if (waiting.vectors != nullptr) memcpy(to.xsave, waiting.vectors, sizeof to.xsave);
  }
  return 0;
}

SysResult list_threads(wire::DebugThread* to) {
  u32 count = 0;
  for (const Thread* t = process().threads; t != nullptr; t = t->next) {
    if ((count + 1) * sizeof(wire::DebugThread) > wire::kTransferBytes) break;
    to[count++] = {t->number, t->tid, t->pid, 0};
  }
  return count;
}

SysResult list_mappings(GuestAddr from, u8* to) {
  const memory::AddressSpace& space = memory::address_space();
  u64 used = 0;
  for (const memory::Region* r = space.map.at_or_after(from); r != nullptr;
       r = space.map.at_or_after(r->end)) {
    if (r->begin < from) continue;
    const char* name = space.names.text(r->name);
    if (space.stack_start >= r->begin && space.stack_start < r->end) name = "[stack]";
    u64 name_size = strlen(name), padded = (name_size + 7) & ~u64{7};
    if (used + sizeof(wire::DebugMapping) + padded > wire::kTransferBytes) break;
    wire::DebugMapping row{
        r->begin, r->end, r->file_offset, r->device, r->inode, r->prot, static_cast<u32>(name_size)};
    memcpy(to + used, &row, sizeof row);
    memcpy(to + used + sizeof row, name, name_size);
    used += sizeof row + padded;
  }
  return static_cast<SysResult>(used);
}

/// A fork that is a child of the server, as this process is. Returns the pid; in the checkpoint it goes on in
/// its slot.
SysResult split_checkpoint(Turn& turn, u32 slot) {
  if (slot == 0 || slot >= wire::kDebugSlots) return -EINVAL;
  u64 server = static_cast<u64>(raw_syscall(__NR_getppid));
  SysResult pid = raw_syscall(__NR_clone, CLONE_PARENT | 17 /* SIGCHLD */, 0, 0, 0, 0);
  if (pid != 0) return pid;
  constexpr u64 kSigKill = 9;
  raw_syscall(__NR_prctl, PR_SET_PDEATHSIG, kSigKill);
  if (static_cast<u64>(raw_syscall(__NR_getppid)) != server) raw_syscall(__NR_exit_group, 125);
  i32 fd = process().own_fds[kLaunchFd];
  wire::DebugStop stop = mailbox().stop;
  enter_slot(fd, slot);
  events::move_ring(process().launch->debug_offset + slot * wire::slot_bytes(process().launch->ring_bytes) +
                    sizeof(wire::DebugMailbox));
  mailbox().stop = stop;
  memory::unshare_objects(turn);
  answer();  // the server has posted a request for this: before it the other process must not go on
  return 0;
}

}  // namespace

void serve_requests(Turn& turn) {
  for (;;) {
    wait_for_request();
    wire::DebugMailbox& box = mailbox();
    u8* transfer = box.transfer;
    switch (box.command) {
      case wire::DebugCommand::kRun:
        return;
      case wire::DebugCommand::kReadMemory:
        box.result = read_memory(box.args[0], box.args[1], transfer);
        break;
      case wire::DebugCommand::kReadRegisters:
        box.result = read_registers(turn, static_cast<u32>(box.args[0]),
                                    *reinterpret_cast<wire::DebugRegisters*>(transfer));
        break;
      case wire::DebugCommand::kThreads:
        box.result = list_threads(reinterpret_cast<wire::DebugThread*>(transfer));
        break;
      case wire::DebugCommand::kMappings:
        box.result = list_mappings(box.args[0], transfer);
        break;
      case wire::DebugCommand::kSetBreakpoints:
        box.result = set_breakpoints(turn, reinterpret_cast<const u64*>(transfer), box.args[0]);
        break;
      case wire::DebugCommand::kSetWatchpoints:
        box.result = set_watchpoints(turn, reinterpret_cast<const wire::DebugWatch*>(transfer), box.args[0]);
        break;
      case wire::DebugCommand::kCheckpoint: {
        SysResult pid = split_checkpoint(turn, static_cast<u32>(box.args[0]));
        if (pid == 0) continue;  // the checkpoint: nobody has asked it anything yet
        box.result = pid;
        break;
      }
      case wire::DebugCommand::kReadTrail:
        box.result = read_trail(box.args[0], reinterpret_cast<wire::DebugTrailEntry*>(transfer));
        break;
      case wire::DebugCommand::kReadVectors:
        box.result = read_trail_vectors(box.args[0], transfer);
        break;
      case wire::DebugCommand::kWriteMemory:
        box.result = write_memory(turn, box.args[0], transfer, box.args[1]);
        break;
      case wire::DebugCommand::kWriteRegisters:
        box.result = write_registers(turn, static_cast<u32>(box.args[0]),
                                     *reinterpret_cast<const wire::DebugRegisters*>(transfer));
        break;
      default:
        box.result = -ENOSYS;
        break;
    }
    answer();
  }
}

}  // namespace detrec::guest::debug
