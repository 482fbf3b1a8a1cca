#include "trace/guest/debug/trail.h"

#include <asm/errno.h>

#include "trace/guest/base/probe.h"
#include "trace/guest/base/string.h"
#include "trace/guest/run/emulate.h"
#include "trace/guest/run/machine_state.h"
#include "trace/guest/run/stops.h"
#include "trace/guest/translate/code_reader.h"

namespace detrec::guest::debug {
namespace {

using Entry = wire::DebugTrailEntry;
using run::kVectorBytes;

constexpr u64 kEntries = 2048, kSnapshots = 128;

// Rings: number n is at n modulo the size. Only what is used costs memory.
Entry entries[kEntries];
u64 first = 0, end = 0;
alignas(64) u8 snapshots[kSnapshots][kVectorBytes];
alignas(64) u8 current[kVectorBytes];
u64 snapshot_end = 0;

Entry& entry(u64 number) { return entries[number % kEntries]; }

bool can_step_back_over(const Insn& insn) {
  if (insn.special != Special::kNone || insn.is_bit_string) return false;
  switch (insn.branch) {
    case Branch::kFarJmp:
    case Branch::kFarCall:
    case Branch::kFarRet:
    case Branch::kIret:
    case Branch::kSyscall:
    case Branch::kXbegin:
      return false;
    default:
      break;
  }
  int writes = 0;
  for (int i = 0; i < insn.mem_count; ++i) {
    const MemOperand& mem = insn.mem[i];
    if (mem.is_agen || !mem.write) continue;
    bool simple = mem.size != 0 && mem.size <= sizeof(Entry::old) && !mem.vsib &&
                  mem.kind != MemKind::kMaskMov && insn.rep == Rep::kNone;
    if (!simple || ++writes > 1) return false;
  }
  return true;
}

/// Keeps what the instruction will overwrite. False: it cannot be read, or undone.
bool keep_old(Turn& turn, const Insn& insn, Entry& e) {
  if (!can_step_back_over(insn)) return false;
  e.written = 0;
  for (int i = 0; i < insn.mem_count; ++i) {
    const MemOperand& mem = insn.mem[i];
    if (mem.is_agen || !mem.write) continue;
    e.written_address = run::effective_address(turn, insn, mem);
    e.written = mem.size;
    return read_guest(e.old, e.written_address, e.written);
  }
  return true;
}

u64 snapshot_number() {
  memset(current, 0, sizeof current);
  run::save_vectors(current);
  if (snapshot_end == 0 || memcmp(snapshots[(snapshot_end - 1) % kSnapshots], current, kVectorBytes) != 0) {
    memcpy(snapshots[snapshot_end % kSnapshots], current, kVectorBytes);
    ++snapshot_end;
  }
  return snapshot_end - 1;
}

}  // namespace

void clear_trail() { first = end; }

void extend_trail(Turn& turn, const wire::DebugPosition& here, u64 total_ticks) {
  if (first != end) {
    const Entry& last = entry(end - 1);
    // Events change memory in ways of their own.
    if (last.position.event != here.event || last.thread != turn.thread().number) clear_trail();
    // It was not executed when it was noted before.
    if (first != end && last.position.ticks == here.ticks && last.position.pc == here.pc) --end;
  }
  Entry& e = entry(end);
  translate::CodeReader reader(here.pc);
  translate::FetchFault fault;
  Insn insn;
  if (!reader.decode_at(here.pc, insn, fault) || !keep_old(turn, insn, e)) return clear_trail();
  Registers regs = turn.regs();
  run::settle_flags(regs);
  e.position = here;
  e.total_ticks = total_ticks;
  for (int i = 0; i < 16; ++i) e.gpr[i] = regs.gpr[i];
  e.rflags = regs.rflags;
  e.thread = turn.thread().number;
  e.vectors = snapshot_number();
  ++end;
  if (end - first > kEntries) first = end - kEntries;
}

u64 trail_length(Turn& turn, const wire::DebugPosition& here) {
  if (first == end) return 0;
  const Entry& last = entry(end - 1);
  if (last.position.event != here.event || last.thread != turn.thread().number) return 0;
  while (first != end && entry(first).vectors + kSnapshots < snapshot_end) ++first;
  return end - first;
}

SysResult read_trail(u64 from, Entry* to) {
  u64 count = 0;
  while (first + from + count < end && (count + 1) * sizeof(Entry) <= wire::kTransferBytes) {
    to[count] = entry(first + from + count);
    ++count;
  }
  return static_cast<SysResult>(count);
}

SysResult read_trail_vectors(u64 number, u8* to) {
  if (number >= snapshot_end || number + kSnapshots < snapshot_end) return -ENOENT;
  memcpy(to, snapshots[number % kSnapshots], kVectorBytes);
  return static_cast<SysResult>(kVectorBytes);
}

}  // namespace detrec::guest::debug
