// Where a new mapping goes. Pure: no system calls.
#pragma once

#include "trace/guest/base/layout.h"
#include "trace/guest/memory/region_map.h"

namespace detrec::guest::memory {

/// Ranges that the kernel mapped for itself (vdso, vvar, initial stack): never the guest's.
struct ForeignRanges {
  static constexpr int kMax = 16;
  struct Range {
    GuestAddr begin, end;
  };
  Range ranges[kMax];
  int count = 0;

  void add(GuestAddr begin, GuestAddr end);
  /// The lowest-indexed range that overlaps [begin, end), or nullptr.
  const Range* overlapping(GuestAddr begin, GuestAddr end) const;
};

enum class Area {
  kCode,   ///< low code area, from the top; the window when it is full or the mapping too big
  kImage,  ///< the program itself: low code area, from the bottom
  kData,   ///< the window, from the top
  kLow32,  ///< MAP_32BIT: below 2 GiB
};

/// Bigger executable mappings (other than the program itself) would crowd out libraries: they go to the
/// window.
inline constexpr u64 kLargestLowCode = 0x1000'0000;

/// The heap (brk) starts here, or a little above, and has this much to itself.
inline constexpr u64 kHeapBegin = kGuestWindowBegin + 0x1000'0000;
inline constexpr u64 kHeapZoneEnd = kGuestWindowBegin + 0x0400'0000'0000;

/// The initial stack ends here.
inline constexpr u64 kStackEnd = kGuestWindowEnd - 0x100'0000;

/// The top for mappings in the window below a stack that may grow to `stack_limit` bytes (RLIMIT_STACK; ~0 is
/// unlimited): as the kernel's mmap_base(), at least 128 MiB are left.
GuestAddr window_ceiling(u64 stack_limit);

struct Choice {
  u64 length;             ///< whole pages
  u64 align = kPageSize;  ///< power of two
  Area area = Area::kData;
  GuestAddr ceiling;  ///< window_ceiling()
};

/// A free address, or 0 when the area is full.
GuestAddr choose(const RegionMap& map, const ForeignRanges& foreign, const Choice& choice);

/// True when [begin, end) is free in the map and belongs to nobody else (the branch table included), so that
/// a hint there can be honoured.
bool is_free(const RegionMap& map, const ForeignRanges& foreign, GuestAddr begin, GuestAddr end);

/// The guest addresses whose branch-table entries lie in [begin, end): `pc_begin == pc_end` when there are
/// none.
struct PcRange {
  GuestAddr pc_begin, pc_end;
};
PcRange pcs_of_table(GuestAddr begin, GuestAddr end);
/// The part of the table, whole pages, that holds the entries of [pc_begin, pc_end).
ForeignRanges::Range table_of_pcs(GuestAddr pc_begin, GuestAddr pc_end);

constexpr bool touches_table(GuestAddr begin, GuestAddr end) { return begin < kTableEnd && end > kTableBase; }

}  // namespace detrec::guest::memory
