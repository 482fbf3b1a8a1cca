// The guest's mappings in address order: a treap that also knows the largest free gap below every node.
//
// Pure data structure, no system calls: nodes lie in memory that the owner hands over. Regions never overlap;
// neighbours that nothing known here tells apart are one region (the kernel may still have several rows
// there: it also looks at which pages were touched). Finding, inserting and searching a gap take O(log n)
// steps.
#pragma once

#include "trace/guest/memory/guest_map.h"

namespace detrec::guest::memory {

/// What keeps neighbours apart beyond what Mapping says, and what the engine must remember of a region.
enum Attribute : u32 {
  kNoReserve = 1u << 0,  ///< MAP_NORESERVE
  kLocked = 1u << 1,     ///< MAP_LOCKED
  kHugeTlb = 1u << 2,    ///< MAP_HUGETLB or a file of hugetlbfs
  kShm = 1u << 3,        ///< a System V segment
  kTableBacked =
      1u << 4,  ///< the guest's (inaccessible), but what the kernel has there is the engine's branch table
  kDontFork = 1u << 5,     ///< MADV_DONTFORK
  kWipeOnFork = 1u << 6,   ///< MADV_WIPEONFORK
  kDontDump = 1u << 7,     ///< MADV_DONTDUMP
  kHugePage = 1u << 8,     ///< MADV_HUGEPAGE
  kNoHugePage = 1u << 9,   ///< MADV_NOHUGEPAGE
  kMergeable = 1u << 10,   ///< MADV_MERGEABLE
  kRandom = 1u << 11,      ///< MADV_RANDOM
  kSequential = 1u << 12,  ///< MADV_SEQUENTIAL
};

struct Region : Mapping {
  u32 attributes = 0;

  bool has(Attribute a) const { return (attributes & a) != 0; }
  u64 bytes() const { return end - begin; }
  bool is_file() const { return inode != 0; }
  /// Counts against RLIMIT_DATA (kernel: is_data_mapping).
  bool is_data() const { return (prot & 2) != 0 && !shared && !grows_down; }
};

/// The kernel leaves this much free below a mapping that grows down (stack_guard_gap).
inline constexpr u64 kStackGuardGap = 256 * kPageSize;

class RegionMap {
 public:
  struct Node {
    Region region;
    u32 left, right, priority;
    u64 low, high;  ///< of the subtree; `low` includes the guard gap below
    u64 gap;        ///< largest free gap between regions of the subtree
  };

  RegionMap() = default;
  /// `nodes` is zero-filled or not, room for `capacity` nodes (index 0 is never used).
  RegionMap(Node* nodes, u32 capacity) : nodes_(nodes), capacity_(capacity) {}

  /// The region that holds `address`, or nullptr. Pointers are valid until the next change.
  const Region* find(GuestAddr address) const;
  /// The first region that ends above `address`.
  const Region* at_or_after(GuestAddr address) const;
  /// The last region that begins below `address`.
  const Region* before(GuestAddr address) const;
  bool overlaps(GuestAddr begin, GuestAddr end) const;
  /// True when every byte of [begin, end) is mapped.
  bool covers(GuestAddr begin, GuestAddr end) const;

  /// Adds a region whose place is free, and merges it with its neighbours. The caller has seen to room().
  void insert(const Region& region);
  /// Removes [begin, end); regions at the edges are cut.
  void erase(GuestAddr begin, GuestAddr end);
  /// Applies `change` to every part of a region inside [begin, end) (regions at the edges are cut), then
  /// merges. `change` leaves begin and end alone.
  template <class F>
  void update(GuestAddr begin, GuestAddr end, F change) {
    split_region(begin);
    split_region(end);
    for (GuestAddr at = begin; Node* n = node_at_or_after(at);) {
      if (n->region.begin >= end) break;
      account(n->region, -1);
      change(n->region);
      account(n->region, 1);
      at = n->region.end;
    }
    // Only grows_down enters the sums over subtrees, and it does not change by update.
    coalesce(begin, end);
  }
  /// Moves the beginning of the region at `begin` down to `new_begin` (free space).
  void grow_down(GuestAddr begin, GuestAddr new_begin);

  /// The highest address (aligned to `align`, a power of two) in [floor, ceiling) where `length` bytes are
  /// free; 0 when none.
  GuestAddr gap_top_down(GuestAddr floor, GuestAddr ceiling, u64 length, u64 align) const;
  /// The same, lowest.
  GuestAddr gap_bottom_up(GuestAddr floor, GuestAddr ceiling, u64 length, u64 align) const;

  /// True when a change may add `more` regions.
  bool room(u32 more) const { return used_ + more < capacity_; }
  u32 count() const { return used_; }
  u64 total_bytes() const { return total_bytes_; }
  u64 peak_bytes() const { return peak_bytes_; }
  u64 data_bytes() const { return data_bytes_; }
  /// How many regions are shared, writable and of a file (or another object that can be mapped twice).
  u32 shared_writable() const { return shared_writable_; }
  /// False when none of these is of this file; true does not say that one is.
  bool may_share_writable(u64 device, u64 inode) const {
    return shared_writable_ != 0 && shared_writable_of_[file_class(device, inode)] != 0;
  }

 private:
  struct Halves {
    u32 left, right;
  };

  Node& at(u32 i) { return nodes_[i]; }
  const Node& at(u32 i) const { return nodes_[i]; }
  u32 allocate(const Region& region);
  void release_tree(u32 root);
  void pull(u32 i);
  Halves split(u32 root, GuestAddr key);
  u32 join(u32 left, u32 right);
  void insert_node(const Region& region);
  void split_region(GuestAddr address);
  void coalesce(GuestAddr begin, GuestAddr end);
  void account(const Region& region, int sign);
  Node* node_at_or_after(GuestAddr address);
  GuestAddr search_down(u32 root, u64 low, u64 high, u64 length, u64 align) const;
  GuestAddr search_up(u32 root, u64 low, u64 high, u64 length, u64 align) const;
  u64 largest_gap(const Node& n, u64 low, u64 high) const;

  Node* nodes_ = nullptr;
  u32 capacity_ = 0;
  u32 root_ = 0;
  u32 fresh_ = 1;  ///< nodes from here on were never used
  u32 free_ = 0;   ///< list of freed nodes, through `left`
  u32 used_ = 0;
  u32 random_ = 0x9e3779b9;
  u64 total_bytes_ = 0;
  u64 peak_bytes_ = 0;
  u64 data_bytes_ = 0;
  u32 shared_writable_ = 0;
  /// The same by a hash of the file: the translator asks for most pages of code whether they have an alias,
  /// and a virtual machine has hundreds of regions.
  static constexpr u32 kFileClasses = 64;
  static u32 file_class(u64 device, u64 inode) {
    return static_cast<u32>(((inode ^ device << 32) * 0x9e37'79b9'7f4a'7c15) >> 58);
  }
  u32 shared_writable_of_[kFileClasses] = {};
};

/// True when the kernel would show `a` and the region `b` right after it as one.
bool can_merge(const Region& a, const Region& b);

}  // namespace detrec::guest::memory
