// The ring of event records in the channel, the memory that the server shares with the engines of a run
// (docs/wire-layout.md).
//
// The channel is one memfd: the Launch page (launch.h), then the ring: a page of control words and
// `ring_bytes` of data. Both sides map the data twice in a row, so that a record at its end is contiguous.
#pragma once

#include <cstdint>

namespace detrec::wire {

inline constexpr std::uint64_t kChannelPage = 4096;

/// A writer wakes a sleeping reader only when less than this part of the ring is left, and a reader a
/// sleeping writer only when more than half is free: both otherwise look by themselves, every kNapNs.
inline constexpr std::uint64_t kNapNs = 2'000'000;

enum class ChannelMode : std::uint32_t {
  kNone = 0,    ///< there is no ring
  kRecord = 1,  ///< engines append, the server consumes
  kReplay = 2,  ///< the server appends, an engine consumes
};

/// Control words of a ring. Positions count bytes since the beginning and never wrap; the place of position p
/// is p & (ring_bytes - 1). Only the writer changes `written`, only the reader `read`; accessed atomically,
/// stores with release and loads with acquire order.
struct RingControl {
  alignas(64) std::uint64_t written;        ///< end of the last complete record
  std::uint32_t writer_waits;               ///< futex: 1 while the writer waits for `read` to move
  std::uint32_t ended;                      ///< 1: nothing more will be written
  alignas(64) std::uint64_t read;           ///< begin of the first record not consumed
  std::uint32_t reader_waits;               ///< futex: 1 while the reader waits for `written` to move
  alignas(64) std::uint32_t captures_read;  ///< futex: number of the last capture whose content was read
};
static_assert(sizeof(RingControl) <= kChannelPage);

}  // namespace detrec::wire
