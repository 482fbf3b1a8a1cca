#include "trace/guest/memory/address_choice.h"

#include <gtest/gtest.h>

#include <vector>

namespace detrec::guest::memory {
namespace {

struct Space {
  std::vector<RegionMap::Node> nodes = std::vector<RegionMap::Node>(4096);
  RegionMap map{nodes.data(), 4096};
  ForeignRanges foreign;

  GuestAddr pick(Area area, u64 length, u64 align = kPageSize) const {
    return choose(map, foreign,
                  {.length = length, .align = align, .area = area, .ceiling = window_ceiling(8 << 20)});
  }
  GuestAddr take(Area area, u64 length, u64 align = kPageSize) {
    GuestAddr at = pick(area, length, align);
    if (at != 0) put(at, length);
    return at;
  }
  void put(GuestAddr at, u64 length, u32 prot = 3) {
    Region r{};
    r.begin = at;
    r.end = at + length;
    r.prot = prot;
    map.insert(r);
  }
};

constexpr u64 kMiB = 1 << 20;

TEST(AddressChoice, TheProgramLiesAtTheBottomAndLibrariesAtTheTopOfTheLowArea) {
  Space s;
  EXPECT_EQ(s.take(Area::kImage, kMiB), kLowCodeBegin);
  GuestAddr linker = s.take(Area::kCode, 2 * kMiB), library = s.take(Area::kCode, 2 * kMiB);
  EXPECT_LT(linker, kLowCodeEnd);
  EXPECT_GT(linker, kLowCodeEnd - 3 * kMiB);
  EXPECT_EQ(library, linker - 2 * kMiB);
}

TEST(AddressChoice, WhatDoesNotFitLowGoesToTheWindow) {
  Space s;
  GuestAddr big = s.take(Area::kCode, kLargestLowCode + kPageSize);
  EXPECT_GE(big, kGuestWindowBegin);
  EXPECT_LT(big, kGuestWindowEnd);
  int low = 0;
  GuestAddr at = 0;
  while ((at = s.take(Area::kCode, 64 * kMiB)) < kGuestWindowBegin) ++low;
  EXPECT_EQ(low, static_cast<int>((kLowCodeEnd - kLowCodeBegin) / (64 * kMiB)) - 1);
  EXPECT_NE(at, 0u);
}

TEST(AddressChoice, NeverInEngineRanges) {
  Space s;
  for (Area area : {Area::kImage, Area::kCode, Area::kData, Area::kLow32}) {
    for (int i = 0; i < 300; ++i) {
      GuestAddr at = s.take(area, 16 * kMiB);
      if (at == 0) break;
      EXPECT_FALSE(is_engine_range(at, at + 16 * kMiB)) << std::hex << at;
      EXPECT_FALSE(touches_table(at, at + 16 * kMiB)) << std::hex << at;
      EXPECT_EQ(at % kPageSize, 0u);
    }
  }
}

TEST(AddressChoice, LowMemoryStaysBelow2GiBOrFails) {
  Space s;
  int taken = 0;
  for (GuestAddr at; (at = s.take(Area::kLow32, 64 * kMiB)) != 0; ++taken)
    EXPECT_LE(at + 64 * kMiB, 0x8000'0000u);
  EXPECT_GE(taken, 14);
  EXPECT_EQ(s.pick(Area::kLow32, 64 * kMiB), 0u);
}

TEST(AddressChoice, DataGoesTopDownBelowTheStacksRoomAndReusesGaps) {
  Space s;
  GuestAddr first = s.take(Area::kData, kMiB), second = s.take(Area::kData, kMiB),
            third = s.take(Area::kData, kMiB);
  EXPECT_LT(first, kStackEnd - 128 * kMiB);
  EXPECT_EQ(second, first - kMiB);
  EXPECT_EQ(third, second - kMiB);
  s.map.erase(second, second + kMiB);
  EXPECT_EQ(s.take(Area::kData, kMiB / 2), second + kMiB / 2);
}

TEST(AddressChoice, AlignsAndSkipsForeignRanges) {
  Space s;
  GuestAddr plain = s.pick(Area::kData, 2 * kMiB);
  s.foreign.add(plain, plain + kPageSize);
  GuestAddr at = s.pick(Area::kData, 2 * kMiB, 2 * kMiB);
  EXPECT_EQ(at % (2 * kMiB), 0u);
  EXPECT_LE(at + 2 * kMiB, plain);
}

TEST(AddressChoice, HugeReservationsFitBesideTheHeap) {
  Space s;
  EXPECT_NE(s.take(Area::kData, 1ull << 45), 0u);  // 32 TiB
  EXPECT_NE(s.take(Area::kData, 1ull << 43), 0u);
  EXPECT_EQ(s.pick(Area::kData, 1ull << 46), 0u);
  EXPECT_EQ(s.pick(Area::kData, ~0ull << 12), 0u);
}

TEST(AddressChoice, HintsAreHonouredWhereNothingIs) {
  Space s;
  auto free = [&](GuestAddr a, u64 n) { return is_free(s.map, s.foreign, a, a + n); };
  EXPECT_TRUE(free(0xc0'0000'0000, 64 * kMiB));  // Go's arena
  EXPECT_TRUE(free(0x7e80'0000'0000, kMiB));
  EXPECT_TRUE(free(0x40'0000, kMiB));
  EXPECT_FALSE(free(kCacheBegin, kPageSize));
  EXPECT_FALSE(free(kCacheBegin - kPageSize, 2 * kPageSize));
  EXPECT_FALSE(free(kEngineHeapBegin + kMiB, kPageSize));
  EXPECT_FALSE(free(0x1'0000'0000, kPageSize));  // the branch table
  EXPECT_FALSE(free(kUserEnd - kPageSize, 2 * kPageSize));
  s.put(0xc0'0000'0000, kPageSize);
  EXPECT_FALSE(free(0xc0'0000'0000 - kPageSize, 2 * kPageSize));
  EXPECT_TRUE(free(0xc0'0000'0000 - kPageSize, kPageSize));
}

TEST(AddressChoice, TheTableAndItsPcs) {
  PcRange pcs = pcs_of_table(0x7fff'8000, 0x8fff'7000);  // AddressSanitizer's low shadow
  EXPECT_EQ(pcs.pc_begin, 0xff'e000u);
  EXPECT_EQ(pcs.pc_end, 0x4ff'dc00u);
  EXPECT_LE(pcs.pc_end, kLowCodeBegin);
  EXPECT_EQ(pcs_of_table(0x1000, 0x2000).pc_end, 0u);
  ForeignRanges::Range entries = table_of_pcs(kLowCodeBegin, kLowCodeEnd);
  EXPECT_EQ(entries.begin, 0xbc00'0000u);
  EXPECT_EQ(entries.end, 0x1'9c00'0000u);
  EXPECT_GE(entries.begin, 0x8fff'7000u);
  EXPECT_EQ(table_of_pcs(kGuestWindowBegin, kGuestWindowEnd).end, 0u);
}

TEST(AddressChoice, TheStacksRoomFollowsItsLimit) {
  EXPECT_LE(window_ceiling(8 << 20), kStackEnd - 128 * kMiB);
  EXPECT_LE(window_ceiling(1ull << 30), kStackEnd - (1ull << 30));
  EXPECT_GT(window_ceiling(~0ull), kHeapZoneEnd);
}

}  // namespace
}  // namespace detrec::guest::memory
