#include "trace/guest/memory/address_choice.h"

namespace detrec::guest::memory {
namespace {

/// Below the low code area, where programs with fixed addresses live: the last resort of MAP_32BIT.
constexpr u64 kLowestData = 0x10'0000;

/// Left free at the top of the low code area and the window: overruns at the very end hit nothing of ours.
constexpr u64 kMargin = 0x1'0000;

enum class Direction { kDown, kUp };

GuestAddr search(const RegionMap& map, const ForeignRanges& foreign, GuestAddr floor, GuestAddr ceiling,
                 const Choice& choice, Direction direction) {
  for (;;) {
    GuestAddr found = direction == Direction::kDown
                          ? map.gap_top_down(floor, ceiling, choice.length, choice.align)
                          : map.gap_bottom_up(floor, ceiling, choice.length, choice.align);
    if (found == 0) return 0;
    const ForeignRanges::Range* taken = foreign.overlapping(found, found + choice.length);
    if (taken == nullptr) return found;
    if (direction == Direction::kDown) {
      ceiling = taken->begin;
    } else {
      floor = page_up(taken->end);
    }
  }
}

}  // namespace

void ForeignRanges::add(GuestAddr begin, GuestAddr end) {
  if (count < kMax && begin < end) ranges[count++] = {begin, end};
}

const ForeignRanges::Range* ForeignRanges::overlapping(GuestAddr begin, GuestAddr end) const {
  for (int i = 0; i < count; ++i) {
    if (ranges[i].begin < end && ranges[i].end > begin) return &ranges[i];
  }
  return nullptr;
}

GuestAddr window_ceiling(u64 stack_limit) {
  constexpr u64 kLeast = 0x800'0000, kMost = 0x100'0000'0000;
  u64 gap = stack_limit;
  if (gap < kLeast) gap = kLeast;
  if (gap > kMost) gap = kMost;
  return page_down(kStackEnd - gap - kStackGuardGap);
}

GuestAddr choose(const RegionMap& map, const ForeignRanges& foreign, const Choice& choice) {
  if (choice.length == 0 || choice.length > kGuestWindowEnd - kGuestWindowBegin) return 0;
  GuestAddr found = 0;
  switch (choice.area) {
    case Area::kImage:
      found = search(map, foreign, kLowCodeBegin, kLowCodeEnd - kMargin, choice, Direction::kUp);
      break;
    case Area::kCode:
      if (choice.length <= kLargestLowCode)
        found = search(map, foreign, kLowCodeBegin, kLowCodeEnd - kMargin, choice, Direction::kDown);
      break;
    case Area::kLow32:
      found = search(map, foreign, kLowCodeBegin, kLowCodeEnd - kMargin, choice, Direction::kDown);
      if (found == 0) found = search(map, foreign, kLowestData, kLowCodeBegin, choice, Direction::kDown);
      return found;
    case Area::kData:
      break;
  }
  if (found == 0) found = search(map, foreign, kHeapZoneEnd, choice.ceiling, choice, Direction::kDown);
  // Whoever reserves tens of TiB gets what is left beside the heap and the stack.
  if (found == 0) found = search(map, foreign, kGuestWindowBegin, kStackEnd, choice, Direction::kDown);
  return found;
}

bool is_free(const RegionMap& map, const ForeignRanges& foreign, GuestAddr begin, GuestAddr end) {
  if (begin >= end || end > kUserEnd) return false;
  if (is_engine_range(begin, end) || touches_table(begin, end) || foreign.overlapping(begin, end) != nullptr)
    return false;
  if (map.overlaps(begin, end)) return false;
  const Region* above = map.at_or_after(end);
  return above == nullptr || !above->grows_down || above->begin - end >= kStackGuardGap;
}

PcRange pcs_of_table(GuestAddr begin, GuestAddr end) {
  if (!touches_table(begin, end)) return {0, 0};
  if (begin < kTableBase) begin = kTableBase;
  if (end > kTableEnd) end = kTableEnd;
  return {(begin - kTableBase) / 4, (end - kTableBase + 3) / 4};
}

ForeignRanges::Range table_of_pcs(GuestAddr pc_begin, GuestAddr pc_end) {
  constexpr u64 kPcs = (kTableEnd - kTableBase) / 4;
  if (pc_begin >= kPcs || pc_begin >= pc_end) return {0, 0};
  if (pc_end > kPcs) pc_end = kPcs;
  return {page_down(kTableBase + 4 * pc_begin), page_up(kTableBase + 4 * pc_end)};
}

}  // namespace detrec::guest::memory
