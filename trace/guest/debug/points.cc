#include "trace/guest/debug/points.h"

#include <asm/errno.h>

#include "trace/guest/base/string.h"
#include "trace/guest/debug/debugger.h"
#include "trace/guest/run/emulate.h"
#include "trace/guest/translate/code_pages.h"
#include "trace/guest/translate/code_reader.h"
#include "trace/guest/translate/translator.h"

namespace detrec::guest::debug {
namespace {

constexpr u64 kMostBreakpoints = wire::kTransferBytes / sizeof(u64);
constexpr u64 kMostWatches = wire::kTransferBytes / sizeof(wire::DebugWatch);
// One filter for each power of two, for each kind of access: neighbours of what is watched are accessed a
// lot.
constexpr u32 kFilters = 7;
static_assert(1u << (kFilters - 1) == kWidestAccess);

u64 breakpoints[kMostBreakpoints];  // sorted
u64 breakpoint_count = 0;
wire::DebugWatch watches[kMostWatches];
u64 watch_count = 0;
alignas(64) u8 filters[kAccessKinds][kFilters][kFilterBytes];

bool wants(const wire::DebugWatch& watch, bool write) {
  return watch.kind == wire::WatchKind::kAccess || (watch.kind == wire::WatchKind::kWrite) == write;
}

bool concerns(const wire::DebugWatch& watch, Access access) {
  return (access != Access::kRead && wants(watch, true)) || (access != Access::kWrite && wants(watch, false));
}

/// Lets the filters of one kind of access find a watchpoint.
void fill_filters(Access access, const wire::DebugWatch& watch) {
  for (u32 f = 0; f < kFilters; ++f) {
    u64 reach = (1u << f) - 1;
    u64 bytes = watch.bytes + reach < kFilterBytes ? watch.bytes + reach : kFilterBytes;
    u8* filter = filters[static_cast<u32>(access)][f];
    for (u64 k = 0; k < bytes; ++k) filter[(watch.address - reach + k) % kFilterBytes] = 1;
  }
}

/// Index of the first breakpoint that is not below `pc`.
u64 lower_bound(const u64* begin, u64 count, u64 pc) {
  u64 low = 0;
  while (low < count) {
    u64 middle = low + (count - low) / 2;
    if (begin[middle] < pc) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}

bool contains(const u64* begin, u64 count, u64 pc) {
  u64 at = lower_bound(begin, count, pc);
  return at < count && begin[at] == pc;
}

void sort(u64* values, u64 count) {
  for (u64 i = 1; i < count; ++i) {
    u64 value = values[i], at = i;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
  }
}

/// One for any access is preferred: the others only count if the content changes.
WatchedAccess find_access(GuestAddr begin, GuestAddr end, bool write) {
  WatchedAccess found;
  for (u64 i = 0; i < watch_count; ++i) {
    const wire::DebugWatch& w = watches[i];
    if (!wants(w, write) || begin >= w.address + w.bytes || end <= w.address) continue;
    found = {true, begin > w.address ? begin : w.address, w.kind, begin, end};
    if (w.kind != wire::WatchKind::kWrite) break;
  }
  return found;
}

/// What a repeated string instruction may touch at most, from its first element on; going down with DF.
void widen_by_repeats(Turn& turn, const Insn& insn, GuestAddr& begin, GuestAddr& end) {
  constexpr u64 kDirection = 0x400;
  if (insn.rep == Rep::kNone) return;
  u64 count = turn.gpr(kRcx);
  constexpr u64 kMost = 1ull << 40;
  if (count == 0 || count > kMost) {
    if (count == 0) end = begin;
    return;
  }
  u64 more = (count - 1) * (end - begin);
  if (turn.regs().rflags & kDirection) {
    begin -= more;
  } else {
    end += more;
  }
}

/// How far from its operand's address bt and the like access memory: the bit's number is in a register.
u64 bit_string_offset(Turn& turn, const Insn& insn, const MemOperand& mem) {
  auto reg = static_cast<Reg>((insn.modrm >> 3 & 7) | (insn.rex & 4) << 1);
  i64 bit = static_cast<i64>(turn.gpr(reg));
  if (mem.size == 4) bit = static_cast<i32>(bit);
  if (mem.size == 2) bit = static_cast<std::int16_t>(bit);
  i64 shift = mem.size == 8 ? 6 : mem.size == 4 ? 5 : 4;
  return static_cast<u64>((bit >> shift) * mem.size);
}

WatchedAccess operand_access(Turn& turn, const Insn& insn, const MemOperand& mem) {
  if (mem.is_agen) return {};
  GuestAddr begin = run::effective_address(turn, insn, mem);
  if (insn.is_bit_string) begin += bit_string_offset(turn, insn, mem);
  if (mem.kind == MemKind::kXlat) begin -= turn.gpr(kRax) & ~u64{0xff};
  constexpr u64 kStateBytes = 4096;  // xsave and the like
  GuestAddr end = begin + (mem.size != 0 ? mem.size : kStateBytes);
  if (mem.vsib || mem.kind == MemKind::kFrame) {  // elements all over the place
    begin = 0;
    end = ~0ull;
  }
  if (insn.is_string) widen_by_repeats(turn, insn, begin, end);
  WatchedAccess access;
  if (mem.write) access = find_access(begin, end, true);
  if (!access.any && mem.read) access = find_access(begin, end, false);
  return access;
}

}  // namespace

SysResult set_breakpoints(Turn& turn, const u64* pcs, u64 count) {
  if (count > kMostBreakpoints) return -ENOSPC;
  static u64 before[kMostBreakpoints];
  u64 before_count = breakpoint_count;
  memcpy(before, breakpoints, before_count * sizeof(u64));
  memcpy(breakpoints, pcs, count * sizeof(u64));
  breakpoint_count = count;
  sort(breakpoints, count);
  for (u64 i = 0; i < before_count; ++i) {
    if (!is_breakpoint(before[i])) translate::invalidate(turn, before[i], before[i] + 1);
  }
  for (u64 i = 0; i < count; ++i) {
    if (!contains(before, before_count, breakpoints[i]))
      translate::invalidate(turn, breakpoints[i], breakpoints[i] + 1);
  }
  return 0;
}

bool is_breakpoint(GuestAddr pc) { return contains(breakpoints, breakpoint_count, pc); }

SysResult set_watchpoints(Turn& turn, const wire::DebugWatch* wanted, u64 count) {
  if (count > kMostWatches) return -ENOSPC;
  bool writes = watches_any(Access::kWrite), reads = watches_any(Access::kRead);
  memcpy(watches, wanted, count * sizeof(wire::DebugWatch));
  watch_count = count;
  if (writes || reads || has_watchpoints()) memset(filters, 0, sizeof filters);
  for (u64 i = 0; i < count; ++i) {
    for (Access access : {Access::kRead, Access::kWrite, Access::kBoth}) {
      if (concerns(watches[i], access)) fill_filters(access, watches[i]);
    }
  }
  if (writes != watches_any(Access::kWrite) || reads != watches_any(Access::kRead)) translate::flush(turn);
  return 0;
}

bool has_watchpoints() { return watch_count != 0; }

bool watches_any(Access access) {
  for (u64 i = 0; i < watch_count; ++i) {
    if (concerns(watches[i], access)) return true;
  }
  return false;
}

const u8* watch_filter(u32 size, Access access) {
  u32 f = 0;
  while (1u << f < size) ++f;
  return filters[static_cast<u32>(access)][f];
}

WatchedAccess watched_access(Turn& turn) {
  translate::CodeReader reader(turn.regs().pc);
  translate::FetchFault fault;
  Insn insn;
  if (!reader.decode_at(turn.regs().pc, insn, fault)) return {};
  for (int i = 0; i < insn.mem_count; ++i) {
    if (WatchedAccess access = operand_access(turn, insn, insn.mem[i]); access.any) return access;
  }
  return {};
}

WatchedAccess watched_write(GuestAddr begin, GuestAddr end) { return find_access(begin, end, true); }

}  // namespace detrec::guest::debug
