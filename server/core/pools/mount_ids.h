// Virtual mount ids (MNT).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace detrec::core {

/// Order in which mounts were seen: rows of the mount table, then ids not listed there.
struct MountOrders {
  std::vector<std::uint64_t> table;
  std::vector<std::uint64_t> unlisted;
  bool captured = false;  ///< complete, from an earlier pool's provenance
};

class MountIdPool {
 public:
  static constexpr std::uint32_t kMaxNumber = 0x7fffffff;
  explicit MountIdPool(std::optional<MountOrders> orders = std::nullopt,
                       std::uint32_t last_number = kMaxNumber);

  bool check_order(const std::vector<std::uint64_t>& order);  ///< MNT-5, MNT-6
  std::optional<std::uint32_t> map(std::uint64_t raw);
  std::optional<std::uint32_t> map(std::uint64_t raw, const std::vector<std::uint64_t>& order);  ///< MNT-7
  enum class Provenance { kNone, kInvalid, kReady };
  Provenance provenance(MountOrders& out) const;  ///< MNT-10

 private:
  enum class State { kUninitialised, kInvalid, kReady };
  bool make_ready(const MountOrders& orders);
  State state_ = State::kUninitialised;
  bool subsets_ = false;
  std::uint32_t limit_;
  std::vector<std::uint64_t> table_;
  std::vector<std::uint64_t> unlisted_;
  std::map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t next_ = 1;
};

}  // namespace detrec::core
