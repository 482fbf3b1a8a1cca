#include "trace/guest/memory/region_map.h"

namespace detrec::guest::memory {
namespace {

constexpr u64 align_down(u64 a, u64 align) { return a & ~(align - 1); }
constexpr u64 align_up(u64 a, u64 align) { return (a + align - 1) & ~(align - 1); }
constexpr u64 max(u64 a, u64 b) { return a > b ? a : b; }
constexpr u64 min(u64 a, u64 b) { return a < b ? a : b; }

u64 low_end(const Region& r) {
  if (!r.grows_down) return r.begin;
  return r.begin > kStackGuardGap ? r.begin - kStackGuardGap : 0;
}

/// Free bytes from `from` to `to`; guard gaps may overlap the neighbour.
u64 distance(u64 from, u64 to) { return to > from ? to - from : 0; }

}  // namespace

bool can_merge(const Region& a, const Region& b) {
  if (a.end != b.begin || a.prot != b.prot || a.shared != b.shared || a.grows_down != b.grows_down)
    return false;
  if (a.attributes != b.attributes || a.device != b.device || a.inode != b.inode || a.name != b.name)
    return false;
  if (a.has(kHugeTlb)) return false;
  return !a.is_file() || a.file_offset + a.bytes() == b.file_offset;
}

const Region* RegionMap::find(GuestAddr address) const {
  const Region* r = at_or_after(address);
  return r != nullptr && r->begin <= address ? r : nullptr;
}

const Region* RegionMap::at_or_after(GuestAddr address) const {
  const Region* best = nullptr;
  for (u32 i = root_; i != 0;) {
    const Node& n = at(i);
    if (n.region.end > address) {
      best = &n.region;
      i = n.left;
    } else {
      i = n.right;
    }
  }
  return best;
}

RegionMap::Node* RegionMap::node_at_or_after(GuestAddr address) {
  Node* best = nullptr;
  for (u32 i = root_; i != 0;) {
    Node& n = at(i);
    if (n.region.end > address) {
      best = &n;
      i = n.left;
    } else {
      i = n.right;
    }
  }
  return best;
}

const Region* RegionMap::before(GuestAddr address) const {
  const Region* best = nullptr;
  for (u32 i = root_; i != 0;) {
    const Node& n = at(i);
    if (n.region.begin < address) {
      best = &n.region;
      i = n.right;
    } else {
      i = n.left;
    }
  }
  return best;
}

bool RegionMap::overlaps(GuestAddr begin, GuestAddr end) const {
  const Region* r = at_or_after(begin);
  return r != nullptr && r->begin < end;
}

bool RegionMap::covers(GuestAddr begin, GuestAddr end) const {
  while (begin < end) {
    const Region* r = find(begin);
    if (r == nullptr) return false;
    begin = r->end;
  }
  return true;
}

void RegionMap::account(const Region& r, int sign) {
  auto add = [sign](u64& to, u64 by) { to = sign > 0 ? to + by : to - by; };
  add(total_bytes_, r.bytes());
  peak_bytes_ = max(peak_bytes_, total_bytes_);
  if (r.is_data()) add(data_bytes_, r.bytes());
  if (!r.shared || (r.prot & 2) == 0 || !r.is_file()) return;
  shared_writable_ += static_cast<u32>(sign);
  shared_writable_of_[file_class(r.device, r.inode)] += static_cast<u32>(sign);
}

u32 RegionMap::allocate(const Region& region) {
  u32 i = free_;
  if (i != 0) {
    free_ = at(i).left;
  } else {
    i = fresh_++;
  }
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  Node& n = at(i);
  n.region = region;
  n.left = n.right = 0;
  n.priority = random_;
  ++used_;
  account(region, 1);
  pull(i);
  return i;
}

void RegionMap::release_tree(u32 root) {
  while (root != 0) {  // right spines by loop, left subtrees by recursion
    Node& n = at(root);
    release_tree(n.left);
    u32 right = n.right;
    account(n.region, -1);
    --used_;
    n.left = free_;
    free_ = root;
    root = right;
  }
}

void RegionMap::pull(u32 i) {
  Node& n = at(i);
  u64 own_low = low_end(n.region);
  n.low = own_low;
  n.high = n.region.end;
  n.gap = 0;
  if (n.left != 0) {
    const Node& l = at(n.left);
    n.low = min(l.low, own_low);
    n.gap = max(l.gap, distance(l.high, own_low));
  }
  if (n.right != 0) {
    const Node& r = at(n.right);
    n.high = r.high;
    n.gap = max(n.gap, max(r.gap, distance(n.region.end, r.low)));
  }
}

RegionMap::Halves RegionMap::split(u32 root, GuestAddr key) {
  if (root == 0) return {0, 0};
  Node& n = at(root);
  if (n.region.begin < key) {
    Halves h = split(n.right, key);
    n.right = h.left;
    pull(root);
    return {root, h.right};
  }
  Halves h = split(n.left, key);
  n.left = h.right;
  pull(root);
  return {h.left, root};
}

u32 RegionMap::join(u32 left, u32 right) {
  if (left == 0) return right;
  if (right == 0) return left;
  if (at(left).priority >= at(right).priority) {
    at(left).right = join(at(left).right, right);
    pull(left);
    return left;
  }
  at(right).left = join(left, at(right).left);
  pull(right);
  return right;
}

void RegionMap::insert_node(const Region& region) {
  u32 node = allocate(region);
  Halves h = split(root_, region.begin);
  root_ = join(join(h.left, node), h.right);
}

void RegionMap::insert(const Region& region) {
  Region whole = region;
  const Region* below = before(region.begin);
  if (below != nullptr && can_merge(*below, whole)) {
    Region joined = *below;
    joined.end = whole.end;
    erase(joined.begin, joined.end);
    whole = joined;
  }
  const Region* above = at_or_after(whole.end);
  if (above != nullptr && can_merge(whole, *above)) {
    GuestAddr begin = above->begin;
    whole.end = above->end;
    erase(begin, whole.end);
  }
  insert_node(whole);
}

void RegionMap::split_region(GuestAddr address) {
  const Region* r = find(address);
  if (r == nullptr || r->begin == address) return;
  Region lower = *r, upper = *r;
  lower.end = address;
  upper.begin = address;
  if (upper.is_file()) upper.file_offset += address - lower.begin;
  Halves h = split(root_, lower.begin);
  Halves rest = split(h.right, lower.begin + 1);
  release_tree(rest.left);
  root_ = join(h.left, rest.right);
  insert_node(lower);
  insert_node(upper);
}

void RegionMap::erase(GuestAddr begin, GuestAddr end) {
  if (begin >= end) return;
  split_region(begin);
  split_region(end);
  Halves h = split(root_, begin);
  Halves rest = split(h.right, end);
  release_tree(rest.left);
  root_ = join(h.left, rest.right);
}

void RegionMap::coalesce(GuestAddr begin, GuestAddr end) {
  const Region* first = before(begin);
  if (first == nullptr) first = at_or_after(begin);
  while (first != nullptr && first->begin <= end) {
    const Region* second = at_or_after(first->end);
    if (second == nullptr) return;
    if (!can_merge(*first, *second)) {
      first = second;
      continue;
    }
    Region joined = *first;
    joined.end = second->end;
    Halves h = split(root_, joined.begin);
    Halves rest = split(h.right, joined.end);
    release_tree(rest.left);
    root_ = join(h.left, rest.right);
    insert_node(joined);
    first = find(joined.begin);
  }
}

void RegionMap::grow_down(GuestAddr begin, GuestAddr new_begin) {
  const Region* r = find(begin);
  if (r == nullptr || r->begin != begin || new_begin >= begin) return;
  Region grown = *r;
  grown.begin = new_begin;
  erase(begin, grown.end);
  insert(grown);
}

u64 RegionMap::largest_gap(const Node& n, u64 low, u64 high) const {
  return max(n.gap, max(distance(low, n.low), distance(n.high, high)));
}

GuestAddr RegionMap::search_down(u32 root, u64 low, u64 high, u64 length, u64 align) const {
  if (distance(low, high) < length) return 0;
  if (root == 0) {
    u64 begin = align_down(high - length, align);
    return begin >= low ? begin : 0;
  }
  const Node& n = at(root);
  if (largest_gap(n, low, high) < length) return 0;
  GuestAddr found = search_down(n.right, max(low, n.region.end), high, length, align);
  if (found != 0) return found;
  return search_down(n.left, low, min(high, low_end(n.region)), length, align);
}

GuestAddr RegionMap::search_up(u32 root, u64 low, u64 high, u64 length, u64 align) const {
  if (distance(low, high) < length) return 0;
  if (root == 0) {
    u64 begin = align_up(low, align);
    return begin >= low && begin <= high - length ? begin : 0;
  }
  const Node& n = at(root);
  if (largest_gap(n, low, high) < length) return 0;
  GuestAddr found = search_up(n.left, low, min(high, low_end(n.region)), length, align);
  if (found != 0) return found;
  return search_up(n.right, max(low, n.region.end), high, length, align);
}

GuestAddr RegionMap::gap_top_down(GuestAddr floor, GuestAddr ceiling, u64 length, u64 align) const {
  if (length == 0) return 0;
  return search_down(root_, max(floor, kPageSize), ceiling, length, align);
}

GuestAddr RegionMap::gap_bottom_up(GuestAddr floor, GuestAddr ceiling, u64 length, u64 align) const {
  if (length == 0) return 0;
  return search_up(root_, max(floor, kPageSize), ceiling, length, align);
}

}  // namespace detrec::guest::memory
