// Small pools of virtual identities: ports, inodes and file times, devices (PORT, INODE, DEV), unsupported
// calls.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "server/core/base/ids.h"
#include "server/core/base/log.h"
#include "server/core/time/logical_time.h"

namespace detrec::core {

struct PortRange {
  std::uint16_t first = 32768;
  std::uint16_t last = 60999;  ///< inclusive
};

class PortPool {
 public:
  /// `range` is asked at construction and at every allocation (PORT-1); the caller reads the kernel's
  /// setting.
  explicit PortPool(std::function<PortRange()> range) : range_(std::move(range)), next_(range_().first) {}
  /// Nothing when every port of the range is in use (PORT-3).
  std::optional<std::uint16_t> allocate(OpenFileId file);
  void add(std::uint16_t port, OpenFileId file);          ///< PORT-4
  std::optional<std::uint16_t> release(OpenFileId file);  ///< PORT-5
  std::uint32_t candidate() const { return next_; }

 private:
  std::function<PortRange()> range_;
  std::uint32_t next_;
  std::multiset<std::uint16_t> used_;
  std::map<OpenFileId, std::uint16_t> ports_;
};

/// What a caller saw of a file's host modification time (INODE-4).
struct SeenTime {
  enum class Kind : std::uint8_t { kNothing, kHostSpecific, kCanonical };
  Kind kind = Kind::kNothing;
  LogicalTime canonical;
  static SeenTime classify(std::int64_t seconds, std::int64_t nanoseconds);
  friend bool operator==(const SeenTime&, const SeenTime&) = default;
};

struct VirtualInode {
  std::uint64_t number = 0;
  LogicalTime time;
  friend bool operator==(const VirtualInode&, const VirtualInode&) = default;
};

class InodePool {
 public:
  /// INODE-10: special files are outside the pool.
  static constexpr std::uint64_t kReservedBase = 1000;
  static constexpr std::uint64_t reserved(int descriptor) {
    return kReservedBase + static_cast<std::uint64_t>(descriptor);
  }
  explicit InodePool(LogicalTime epoch) : epoch_(epoch) {}
  VirtualInode map(std::uint64_t host, SeenTime seen);  // INODE-2, INODE-5, INODE-6, INODE-9
  bool forget(std::uint64_t host);                      // INODE-3
  VirtualInode touch(std::uint64_t host, LogicalTime now) { return set_time(host, now); }
  VirtualInode set_time(std::uint64_t host, LogicalTime time);  // INODE-8
  std::optional<std::uint64_t> host_of(std::uint64_t number) const;

 private:
  struct Entry {
    std::uint64_t number;
    std::optional<LogicalTime> time;
  };
  Entry& entry(std::uint64_t host);
  LogicalTime epoch_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Entry> entries_;
  std::map<std::uint64_t, std::uint64_t> hosts_;
};

class DevicePool {
 public:
  std::uint64_t map(std::uint64_t host);  ///< 1, 2, 3, ... by first observation (DEV-1), DEV-2, DEV-3

 private:
  std::map<std::uint64_t, std::uint64_t> numbers_;
};

/// UNSUP: one run-wide set of names.
class UnsupportedCalls {
 public:
  /// `report` gets each new name once; it may be empty.
  explicit UnsupportedCalls(std::function<void(const std::string&)> report) : report_(std::move(report)) {}
  void add(const std::string& name);
  /// Empty when nothing was reported (UNSUP-4).
  std::string warning() const { return format(names_); }
  static std::string format(const std::set<std::string>& names);

 private:
  std::function<void(const std::string&)> report_;
  std::set<std::string> names_;
};

}  // namespace detrec::core
