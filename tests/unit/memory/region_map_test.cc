// The region map against a model: an array with one entry for every page.
#include "trace/guest/memory/region_map.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace detrec::guest::memory {
namespace {

constexpr GuestAddr kBase = 0x1000'0000;
constexpr int kPages = 96;

constexpr GuestAddr page(int i) { return kBase + static_cast<u64>(i) * kPageSize; }

struct Fixture {
  std::vector<RegionMap::Node> nodes = std::vector<RegionMap::Node>(4096);
  RegionMap map{nodes.data(), 4096};
};

Region make_region(int first, int end, u32 prot, u64 inode = 0, u64 offset_pages = 0) {
  Region r{};
  r.begin = page(first);
  r.end = page(end);
  r.prot = prot;
  r.inode = inode;
  r.file_offset = inode != 0 ? offset_pages * kPageSize : 0;
  return r;
}

std::vector<Region> regions(const RegionMap& map) {
  std::vector<Region> out;
  for (const Region* r = map.at_or_after(0); r != nullptr; r = map.at_or_after(r->end)) out.push_back(*r);
  return out;
}

TEST(RegionMap, FindsWhatWasInserted) {
  Fixture f;
  EXPECT_EQ(f.map.find(page(0)), nullptr);
  f.map.insert(make_region(2, 5, 3));
  EXPECT_EQ(f.map.find(page(2) - 1), nullptr);
  ASSERT_NE(f.map.find(page(2)), nullptr);
  EXPECT_EQ(f.map.find(page(5) - 1)->begin, page(2));
  EXPECT_EQ(f.map.find(page(5)), nullptr);
  EXPECT_EQ(f.map.at_or_after(0)->begin, page(2));
  EXPECT_EQ(f.map.before(page(2)), nullptr);
  EXPECT_EQ(f.map.before(page(2) + 1)->begin, page(2));
}

TEST(RegionMap, EqualAnonymousNeighboursBecomeOneRow) {
  Fixture f;
  f.map.insert(make_region(0, 1, 3));
  f.map.insert(make_region(2, 3, 3));
  f.map.insert(make_region(1, 2, 3));
  ASSERT_EQ(f.map.count(), 1u);
  EXPECT_EQ(regions(f.map)[0].end, page(3));
}

TEST(RegionMap, FileNeighboursNeedMatchingOffsets) {
  Fixture f;
  f.map.insert(make_region(0, 2, 1, 7, 10));
  f.map.insert(make_region(2, 3, 1, 7, 12));
  EXPECT_EQ(f.map.count(), 1u);
  f.map.insert(make_region(3, 4, 1, 7, 20));
  EXPECT_EQ(f.map.count(), 2u);
  f.map.insert(make_region(4, 5, 1, 8, 21));
  EXPECT_EQ(f.map.count(), 3u);
}

TEST(RegionMap, CuttingAFileRegionMovesItsOffset) {
  Fixture f;
  f.map.insert(make_region(0, 10, 1, 7, 100));
  f.map.erase(page(3), page(5));
  ASSERT_EQ(f.map.count(), 2u);
  EXPECT_EQ(f.map.find(page(5))->file_offset, 105 * kPageSize);
  f.map.update(page(7), page(8), [](Region& r) { r.prot = 3; });
  ASSERT_EQ(f.map.count(), 4u);
  EXPECT_EQ(f.map.find(page(8))->file_offset, 108 * kPageSize);
  f.map.update(page(7), page(8), [](Region& r) { r.prot = 1; });
  EXPECT_EQ(f.map.count(), 2u);
}

TEST(RegionMap, AccountsBytes) {
  Fixture f;
  f.map.insert(make_region(0, 4, 3));
  f.map.insert(make_region(6, 8, 1));
  Region shared = make_region(10, 11, 3, 9);
  shared.shared = true;
  f.map.insert(shared);
  EXPECT_EQ(f.map.total_bytes(), 7 * kPageSize);
  EXPECT_EQ(f.map.data_bytes(), 4 * kPageSize);
  EXPECT_EQ(f.map.shared_writable(), 1u);
  f.map.update(page(0), page(1), [](Region& r) { r.prot = 1; });
  EXPECT_EQ(f.map.data_bytes(), 3 * kPageSize);
  f.map.erase(page(0), page(20));
  EXPECT_EQ(f.map.total_bytes(), 0u);
  EXPECT_EQ(f.map.data_bytes(), 0u);
  EXPECT_EQ(f.map.shared_writable(), 0u);
  EXPECT_EQ(f.map.peak_bytes(), 7 * kPageSize);
}

TEST(RegionMap, KnowsWhichFilesAreSharedWritable) {
  Fixture f;
  Region shared = make_region(10, 20, 3, 9);
  shared.shared = true;
  f.map.insert(shared);
  f.map.insert(make_region(30, 31, 3, 8));  // private
  EXPECT_TRUE(f.map.may_share_writable(0, 9));
  EXPECT_FALSE(f.map.may_share_writable(0, 8));
  f.map.erase(page(12), page(13));  // two regions of it
  f.map.update(page(10), page(12), [](Region& r) { r.prot = 1; });
  EXPECT_TRUE(f.map.may_share_writable(0, 9));
  f.map.update(page(13), page(20), [](Region& r) { r.prot = 1; });
  EXPECT_FALSE(f.map.may_share_writable(0, 9));
}

TEST(RegionMap, AGuardGapIsKeptBelowWhatGrowsDown) {
  Fixture f;
  Region stack = make_region(1000, 1001, 3);
  stack.grows_down = true;
  f.map.insert(stack);
  EXPECT_EQ(f.map.gap_top_down(kBase, page(1001), kPageSize, kPageSize),
            page(1000) - kStackGuardGap - kPageSize);
  f.map.grow_down(page(1000), page(998));
  EXPECT_EQ(f.map.find(page(998))->end, page(1001));
  EXPECT_EQ(f.map.gap_top_down(kBase, page(1001), kPageSize, kPageSize),
            page(998) - kStackGuardGap - kPageSize);
}

/// What every page is; the model.
using PageModel = std::vector<std::optional<Region>>;

bool same_row(const Region& a, const Region& b) {  // b's page right after a's
  return a.prot == b.prot && a.inode == b.inode && a.attributes == b.attributes && a.shared == b.shared &&
         (a.inode == 0 || a.file_offset + kPageSize == b.file_offset);
}

std::vector<Region> expected_regions(const PageModel& model) {
  std::vector<Region> out;
  for (int i = 0; i < kPages; ++i) {
    if (!model[i]) continue;
    if (!out.empty() && out.back().end == page(i) && i > 0 && model[i - 1] &&
        same_row(*model[i - 1], *model[i])) {
      out.back().end = page(i + 1);
    } else {
      out.push_back(*model[i]);
    }
  }
  return out;
}

void expect_equal(const RegionMap& map, const PageModel& model, int step) {
  std::vector<Region> want = expected_regions(model), got = regions(map);
  ASSERT_EQ(got.size(), want.size()) << "step " << step;
  EXPECT_EQ(map.count(), want.size());
  u64 total = 0, data = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].begin, want[i].begin);
    EXPECT_EQ(got[i].end, want[i].end);
    EXPECT_EQ(got[i].prot, want[i].prot);
    EXPECT_EQ(got[i].inode, want[i].inode);
    EXPECT_EQ(got[i].file_offset, want[i].file_offset);
    EXPECT_EQ(got[i].attributes, want[i].attributes);
    total += want[i].bytes();
    if (want[i].is_data()) data += want[i].bytes();
  }
  EXPECT_EQ(map.total_bytes(), total);
  EXPECT_EQ(map.data_bytes(), data);
}

GuestAddr model_gap(const PageModel& model, int floor, int ceiling, int length, int align, bool down) {
  GuestAddr found = 0;
  for (int i = floor; i + length <= ceiling; ++i) {
    if (page(i) % (static_cast<u64>(align) * kPageSize) != 0) continue;
    bool free = true;
    for (int k = i; k < i + length; ++k) free = free && !model[k];
    if (!free) continue;
    found = page(i);
    if (!down) return found;
  }
  return found;
}

TEST(RegionMap, AgreesWithAModelOverRandomChanges) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Fixture f;
    PageModel model(kPages);
    for (int step = 0; step < 1500; ++step) {
      int first = below(kPages - 1), end = first + 1 + below(std::min(12, kPages - first));
      end = std::min(end, kPages);
      int what = below(10);
      if (what < 4) {  // map over whatever is there
        Region r = make_region(first, end, static_cast<u32>(below(4)), static_cast<u64>(below(3)),
                               static_cast<u64>(first + below(2)));
        r.attributes = below(8) == 0 ? u32{kNoReserve} : 0u;
        f.map.erase(r.begin, r.end);
        f.map.insert(r);
        for (int i = first; i < end; ++i) {
          Region p = r;
          p.begin = page(i);
          p.end = page(i + 1);
          if (p.inode != 0) p.file_offset += static_cast<u64>(i - first) * kPageSize;
          model[i] = p;
        }
      } else if (what < 6) {
        f.map.erase(page(first), page(end));
        for (int i = first; i < end; ++i) model[i].reset();
      } else if (what < 8) {
        u32 prot = static_cast<u32>(below(4));
        f.map.update(page(first), page(end), [&](Region& r) { r.prot = prot; });
        for (int i = first; i < end; ++i)
          if (model[i]) model[i]->prot = prot;
      } else {
        int length = 1 + below(6), align = 1 << below(3);
        bool down = below(2) == 0;
        u64 bytes = static_cast<u64>(length) * kPageSize, alignment = static_cast<u64>(align) * kPageSize;
        GuestAddr got = down ? f.map.gap_top_down(page(first), page(end), bytes, alignment)
                             : f.map.gap_bottom_up(page(first), page(end), bytes, alignment);
        EXPECT_EQ(got, model_gap(model, first, end, length, align, down))
            << "seed " << seed << " step " << step;
        bool overlaps = false, covers = true;
        for (int i = first; i < end; ++i) {
          overlaps = overlaps || model[i];
          covers = covers && model[i];
        }
        EXPECT_EQ(f.map.overlaps(page(first), page(end)), overlaps);
        EXPECT_EQ(f.map.covers(page(first), page(end)), covers);
      }
      expect_equal(f.map, model, step);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RegionMap, ReusesNodes) {
  std::vector<RegionMap::Node> nodes(16);
  RegionMap map(nodes.data(), 16);
  for (int i = 0; i < 1000; ++i) {
    map.insert(make_region(0, 10, 3));
    map.update(page(2), page(4), [](Region& r) { r.prot = 1; });
    ASSERT_EQ(map.count(), 3u);
    map.erase(page(0), page(10));
    ASSERT_EQ(map.count(), 0u);
    ASSERT_TRUE(map.room(8));
  }
}

TEST(RegionMap, HoldsManyRegions) {
  constexpr int kMany = 60'000;
  std::vector<RegionMap::Node> nodes(kMany + 10);
  RegionMap map(nodes.data(), kMany + 10);
  for (int i = 0; i < kMany; ++i) {
    GuestAddr at = map.gap_top_down(kBase, page(2 * kMany), kPageSize, kPageSize);
    ASSERT_NE(at, 0u);
    Region r = make_region(0, 1, static_cast<u32>(i % 2) + 1);
    r.begin = at;
    r.end = at + kPageSize;
    map.insert(r);
  }
  EXPECT_EQ(map.count(), static_cast<u32>(kMany));
  for (int i = 0; i < kMany; i += 2) map.erase(page(kMany + i), page(kMany + i + 1));
  EXPECT_EQ(map.count(), static_cast<u32>(kMany / 2));
  EXPECT_EQ(map.gap_top_down(kBase, page(2 * kMany), 2 * kPageSize, kPageSize), page(kMany - 1));
}

}  // namespace
}  // namespace detrec::guest::memory
