// Addresses and numbers that the whole engine speaks in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace detrec::guest {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// An address in the guest's own terms (what the guest sees in its registers and memory).
using GuestAddr = u64;

/// An address inside the code cache (always below 2 GiB). 0 means none.
enum class CacheAddr : u32 { kNone = 0 };

constexpr u64 raw(CacheAddr a) { return static_cast<u32>(a); }
constexpr CacheAddr offset(CacheAddr a, i64 by) {
  return static_cast<CacheAddr>(static_cast<u32>(static_cast<i64>(raw(a)) + by));
}

inline constexpr u64 kPageSize = 4096;
constexpr u64 page_down(u64 a) { return a & ~(kPageSize - 1); }
constexpr u64 page_up(u64 a) { return (a + kPageSize - 1) & ~(kPageSize - 1); }

/// Result of a raw system call: -errno in [-4095, -1], else the value.
using SysResult = i64;
constexpr bool failed(SysResult r) { return r < 0 && r >= -4095; }

}  // namespace detrec::guest
