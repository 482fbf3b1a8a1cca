// Identities of the deterministic core (requirements ID-1 .. ID-18). Plain values, totally ordered.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace detrec::core {

/// A number that cannot be confused with another kind of number.
template <class Tag, class Rep>
struct StrongId {
  Rep value{};
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

using ThreadId = StrongId<struct ThreadTag, std::int32_t>;    ///< ID-1: positive; 0 means "none"
using ProcessId = StrongId<struct ProcessTag, std::int32_t>;  ///< ID-2: numerically the leader's thread id
using Signal = StrongId<struct SignalTag, std::int32_t>;  ///< signal number, real-time ones included (SIG-22)
using Priority = StrongId<struct PriorityTag, std::uint32_t>;  ///< lower runs first (RUNQ-1)
using TurnNumber = StrongId<struct TurnTag, std::uint64_t>;

/// ID-3: the root process of a normal run in its fresh pid namespace.
inline constexpr ProcessId kRootProcess{3};

constexpr ThreadId leader_of(ProcessId process) { return {process.value}; }
constexpr ProcessId process_led_by(ThreadId leader) { return {leader.value}; }

/// ID-4: the address space a process got by its exec number `exec_count`.
struct AddressSpaceId {
  ThreadId owner;
  std::uint32_t exec_count = 0;

  static constexpr AddressSpaceId initial(ThreadId leader) { return {leader, 0}; }
  /// ID-5: what a clone by a thread at *this gives `child`.
  constexpr AddressSpaceId cloned(ThreadId child, bool shares_memory) const {
    return shares_memory ? *this : initial(child);
  }
  /// ID-6: the candidate of an exec in `process`, whichever thread calls it.
  constexpr AddressSpaceId after_exec(ProcessId process) const {
    return {leader_of(process), exec_count + 1};
  }
  friend constexpr auto operator<=>(const AddressSpaceId&, const AddressSpaceId&) = default;
};

/// ID-8: key of every child-exit, retirement and terminal-process table.
struct ProcessKey {
  ProcessId pid;
  std::uint64_t generation = 0;  ///< backend generation
  friend constexpr auto operator<=>(const ProcessKey&, const ProcessKey&) = default;
};

struct TaskIdentity {
  ProcessKey process;
  ThreadId tid;
  std::uint64_t generation = 0;
  friend constexpr auto operator<=>(const TaskIdentity&, const TaskIdentity&) = default;
};

/// ID-11: one in-flight backend callback; compared for equality only.
struct CallSite {
  TaskIdentity task;
  std::uint64_t callback = 0;
  friend constexpr bool operator==(const CallSite&, const CallSite&) = default;
};

/// ID-13: an open file description; all descriptor aliases share it.
struct OpenFileId {
  ThreadId creator;
  std::uint64_t sequence = 0;  ///< fits in 63 bits
  bool socket = false;
  /// ID-14: the cookie SO_COOKIE shows; never zero because creators are positive.
  constexpr std::uint64_t socket_cookie() const {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(creator.value)) << 32) |
           (sequence & 0xffffffffu);
  }
  friend constexpr auto operator<=>(const OpenFileId&, const OpenFileId&) = default;
};

/// ID-12
struct ExternalOpId {
  ThreadId tid;
  std::uint64_t sequence = 0;
  friend constexpr auto operator<=>(const ExternalOpId&, const ExternalOpId&) = default;
};

/// ID-15: one logical parked request for its whole life.
struct ContinuationId {
  ThreadId tid;
  std::uint64_t nonce = 0;
  friend constexpr auto operator<=>(const ContinuationId&, const ContinuationId&) = default;
};

enum class FutexKind : std::uint8_t { kPrivate, kAnonymous, kFile, kOpenFile };

/// ID-17: private (address space, address) or shared (backing object, byte offset). Private and shared never
/// meet.
struct FutexKey {
  FutexKind kind = FutexKind::kPrivate;
  std::uint64_t object_a = 0;
  std::uint64_t object_b = 0;
  std::uint64_t offset = 0;  ///< the guest address of a private key

  static constexpr std::uint64_t pack(AddressSpaceId as) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(as.owner.value)) << 32) | as.exec_count;
  }
  static constexpr FutexKey private_key(AddressSpaceId as, std::uint64_t address) {
    return {FutexKind::kPrivate, pack(as), 0, address};
  }
  /// A shared anonymous object: origin address space and the number of the mapping call.
  static constexpr FutexKey anonymous(AddressSpaceId origin, std::uint64_t mapping, std::uint64_t offset) {
    return {FutexKind::kAnonymous, pack(origin), mapping, offset};
  }
  static constexpr FutexKey file(std::uint64_t device, std::uint64_t inode, std::uint64_t offset) {
    return {FutexKind::kFile, device, inode, offset};
  }
  /// A sequence beyond 63 bits is fatal (ID-13): it would meet a socket's.
  static FutexKey open_file(OpenFileId file, std::uint64_t offset);
  friend constexpr auto operator<=>(const FutexKey&, const FutexKey&) = default;
};

/// ID-16: the run-wide source of continuation ids, leases, permit sequences and tickets. Only grows.
class NonceCounter {
 public:
  static constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  explicit constexpr NonceCounter(std::uint64_t last = 0) : last_(last) {}
  bool has_room(std::uint64_t count) const { return kMax - last_ >= count; }
  /// Needs has_room(1); callers test it before they change any state.
  std::uint64_t take() { return ++last_; }
  std::uint64_t last() const { return last_; }
  void set_last(std::uint64_t last) { last_ = last; }

 private:
  std::uint64_t last_;
};

std::string to_string(AddressSpaceId as);
std::string to_string(const FutexKey& key);

}  // namespace detrec::core

template <class Tag, class Rep>
struct std::hash<detrec::core::StrongId<Tag, Rep>> {
  std::size_t operator()(detrec::core::StrongId<Tag, Rep> id) const noexcept {
    return static_cast<std::size_t>(id.value) * 0x9e3779b97f4a7c15u;
  }
};
