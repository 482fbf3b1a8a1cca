// Rows of /proc/<pid>/maps as text: written exactly as the kernel does (fs/proc/task_mmu.c), and read. Pure.
#pragma once

#include "trace/guest/base/types.h"

namespace detrec::guest::procfs {

struct MapsRow {
  GuestAddr begin = 0, end = 0;
  u32 prot = 0;  ///< PROT_*
  bool shared = false;
  u64 offset = 0;
  u32 major = 0, minor = 0;
  u64 inode = 0;
  const char* name = "";
  u64 name_bytes = 0;
};

/// Longest row: numbers, padding and a path whose every byte is escaped.
inline constexpr u64 kLongestRow = 256 + 4 * 4096;

/// Writes one row with its newline, no NUL; returns its length. `to` has room for kLongestRow. The name is
/// written as it is.
u64 format_row(char* to, const MapsRow& row);

/// Reads one row, without its newline. `name` points into the line. False when it is not one.
bool parse_row(const char* line, u64 n, MapsRow& row);

/// The parts of a dev_t as the kernel encodes it for user space (new_encode_dev).
constexpr u32 major_of(u64 device) {
  return static_cast<u32>((device >> 8) & 0xfff) | static_cast<u32>((device >> 32) & ~0xfffull);
}
constexpr u32 minor_of(u64 device) {
  return static_cast<u32>(device & 0xff) | static_cast<u32>((device >> 12) & ~0xffull);
}

}  // namespace detrec::guest::procfs
