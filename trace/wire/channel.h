// The channel: the memory that the server shares with the engines of a run (docs/wire-layout.md).
//
// One memfd. Header page, then `ring_count` rings, each a page of control words and `ring_bytes` of data.
// Both sides map a ring's data twice in a row, so that a record at its end is contiguous.
#pragma once

#include <atomic>
#include <cstdint>

namespace detrec::wire {

inline constexpr std::uint32_t kChannelMagic = 0x48435244;  // "DRCH"
inline constexpr std::uint32_t kChannelVersion = 1;
inline constexpr std::uint64_t kChannelPage = 4096;

enum class ChannelMode : std::uint32_t {
  kRecord = 1,  ///< engines append, the server consumes
  kReplay = 2,  ///< the server appends, an engine consumes
};

/// Control words of a ring. Positions count bytes since the beginning and never wrap; the place of position p
/// is p & (ring_bytes - 1). Only the writer changes `written`, only the reader `read`.
struct RingControl {
  alignas(64) std::atomic<std::uint64_t> written;  ///< end of the last complete record
  std::atomic<std::uint32_t> writer_waits;      ///< 1: the writer sleeps on this word until `read` has moved
  std::atomic<std::uint32_t> ended;             ///< 1: nothing more will be written
  alignas(64) std::atomic<std::uint64_t> read;  ///< begin of the first record not consumed
  std::atomic<std::uint32_t> reader_waits;  ///< 1: the reader sleeps on this word until `written` has moved
};
static_assert(sizeof(RingControl) <= kChannelPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct ChannelHeader {
  std::uint32_t magic;
  std::uint32_t version;
  ChannelMode mode;
  std::uint32_t ring_count;
  std::uint64_t ring_bytes;    ///< a power of two, at least 4 * kMaxRecordBytes
  std::uint64_t rings_offset;  ///< of the first ring's control page
  std::int32_t server_pid;
  std::uint32_t server_gone;  ///< set by the server when it ends in order
};
static_assert(sizeof(ChannelHeader) <= kChannelPage);

inline constexpr std::uint64_t ring_offset(const ChannelHeader& h, std::uint32_t index) {
  return h.rings_offset + index * (kChannelPage + h.ring_bytes);
}

}  // namespace detrec::wire
