// Breakpoints and watchpoints of a debugged process.
#pragma once

#include "trace/guest/run/turn.h"
#include "trace/wire/debug.h"

namespace detrec::guest::debug {

/// What an operand does to memory. Reads must not cost anything where only writes are watched: a variable
/// that is polled is read a million times for each write.
enum class Access : u8 { kRead, kWrite, kBoth };
inline constexpr u32 kAccessKinds = 3;

/// Replaces all breakpoints. 0 or -errno.
SysResult set_breakpoints(Turn& turn, const u64* pcs, u64 count);
/// Replaces all watchpoints; the first and the last one for reads or for writes change how code is
/// translated.
SysResult set_watchpoints(Turn& turn, const wire::DebugWatch* watches, u64 count);

bool has_watchpoints();
/// Whether anything is watched for such accesses.
bool watches_any(Access access);

/// What the instruction at regs().pc is about to access of what is watched.
struct WatchedAccess {
  bool any = false;
  GuestAddr address = 0;
  wire::WatchKind kind = wire::WatchKind::kWrite;
  GuestAddr begin = 0, end = 0;  ///< all that is accessed, at most
};
WatchedAccess watched_access(Turn& turn);
/// The same for memory that the engine writes.
WatchedAccess watched_write(GuestAddr begin, GuestAddr end);

/// A byte for each value of the low 16 bits of an address: not 0 where an access of `size` bytes (up to
/// kWidestAccess) that begins there may touch memory watched for it. Generated code asks it before each
/// access while there are watchpoints.
inline constexpr u64 kFilterBytes = 64 * 1024;
inline constexpr u32 kWidestAccess = 64;
const u8* watch_filter(u32 size, Access access);

}  // namespace detrec::guest::debug
