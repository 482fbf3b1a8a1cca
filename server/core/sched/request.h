// What a thread asks the scheduler for and what it is answered: plain data that lives in the arena.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/base/ids.h"
#include "server/core/time/logical_time.h"

namespace detrec::core {

/// A set of signals 1..64.
struct SignalSet {
  std::uint64_t bits = 0;
  void add(Signal signal) { bits |= std::uint64_t{1} << (signal.value - 1); }
  SignalSet with(Signal signal) const {
    SignalSet out = *this;
    out.add(signal);
    return out;
  }
  bool contains(Signal signal) const { return (bits >> (signal.value - 1) & 1) != 0; }
  bool empty() const { return bits == 0; }
  /// Sorted by number, free of duplicates (TURN-30).
  std::vector<Signal> list() const;
  friend constexpr auto operator<=>(const SignalSet&, const SignalSet&) = default;
};

enum class ExitClass : std::uint8_t { kChildSignal, kClone, kAll };

/// WAIT-3
struct WaitSpec {
  enum class Selector : std::uint8_t { kExact, kAny, kGroup };
  Selector selector = Selector::kAny;
  ProcessId value;  ///< the child or the group
  ThreadId owner;   ///< 0: no owner restriction
  ExitClass exit_class = ExitClass::kAll;
  friend constexpr auto operator<=>(const WaitSpec&, const WaitSpec&) = default;
};

enum class ResourceKind : std::uint8_t {
  kFileContents,
  kFileMetadata,
  kDirectoryContents,
  kAddressSpace,
  kPath,
  kPathTree,
  kDevice,
  kExit,
  kParentContinue,
  kSleepUntil,
  kPolledIo,
  kReplayYield,
  kFutexWait,
  kExternalBlock,
  kVforkBlock,
  kExternalDone,
  kVforkFailed,
  kWaitChild,
  kWaitPhysicalChild,
  kPriorityPoint,
  kInboundSignal,
  kPendingSignals,
  kYield,
  kOrderCheckpoint,
};

struct Resource {
  ResourceKind kind = ResourceKind::kYield;
  bool write = false;
  bool group = false;        ///< kExit: group exit
  ThreadId tid;              ///< parent of kParentContinue; thread of an external operation
  ThreadId child;            ///< kParentContinue
  ProcessId process;         ///< kExit, kAddressSpace, kWaitChild (parent), kWaitPhysicalChild (child)
  AddressSpaceId as;         ///< kExit
  std::uint64_t number = 0;  ///< object, operation sequence, signal, checkpoint
  LogicalTime time;          ///< kSleepUntil, kPriorityPoint
  std::uint64_t ticks = 0;   ///< kPriorityPoint
  std::uint64_t pc = 0;      ///< kPriorityPoint: our points are (ticks, pc)
  Priority priority;         ///< kPriorityPoint
  SignalSet signals;         ///< kPendingSignals
  WaitSpec wait;             ///< kWaitChild

  static Resource object(ResourceKind kind, std::uint64_t number, bool write = false);
  static Resource address_space(ProcessId process);
  static Resource exit(bool group, ProcessId process, AddressSpaceId as);
  static Resource parent_continue(ThreadId parent, ThreadId child);
  static Resource sleep_until(LogicalTime t);
  static Resource polled_io(bool write = true);
  static Resource of(ResourceKind kind);
  static Resource external(ResourceKind kind, ExternalOpId op);
  /// `chaos_draw`: what the child's priority is derived from in chaos mode (VFORK-4).
  static Resource vfork_block(ExternalOpId op, std::optional<std::uint64_t> chaos_draw);
  static Resource wait_child(ProcessId parent, WaitSpec spec);
  static Resource wait_physical(ProcessId child);
  static Resource priority_point(Priority priority, LogicalTime time = {}, std::uint64_t ticks = 0,
                                 std::uint64_t pc = 0);
  static Resource inbound_signal(Signal signal);
  static Resource pending_signals(SignalSet signals);
  ExternalOpId op() const { return {tid, number}; }
  std::string text() const;
  friend bool operator==(const Resource&, const Resource&) = default;
};

struct ResourceRequest {
  static constexpr int kMaxItems = 2;  ///< more than one is fatal at the decision (TURN-16)
  std::uint8_t count = 0;
  bool bootstrap = false;     ///< uncharged backend bootstrap (TIME-22)
  std::uint32_t attempt = 0;  ///< poll attempt (TURN-18)
  Resource items[kMaxItems];

  static ResourceRequest none() { return {}; }
  static ResourceRequest one(const Resource& r) {
    ResourceRequest request;
    request.count = 1;
    request.items[0] = r;
    return request;
  }
  static ResourceRequest two(const Resource& a, const Resource& b) {
    ResourceRequest request = one(a);
    request.count = 2;
    request.items[1] = b;
    return request;
  }
  ResourceRequest with_attempt(std::uint32_t n) const {
    ResourceRequest request = *this;
    request.attempt = n;
    return request;
  }
  bool is(ResourceKind kind) const { return count == 1 && items[0].kind == kind; }
  /// A request the scheduler makes itself (TURN-6).
  bool scheduler_made() const {
    return is(ResourceKind::kInboundSignal) || is(ResourceKind::kPendingSignals);
  }
  std::string text() const;
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

/// Content of a filled request slot: a request, or "thread exited" (TURN-7).
struct RequestFill {
  bool exited = false;
  ResourceRequest request;
  std::string text() const { return exited ? "exited" : request.text(); }
};

enum class TurnReplyKind : std::uint8_t { kGo, kGoTimedOut, kGoSlice, kSignaled, kControl };

/// TURN-29
struct TurnReply {
  TurnReplyKind kind = TurnReplyKind::kGo;
  LogicalTime slice;  ///< kGoSlice
  SignalSet signals;  ///< kSignaled
  friend bool operator==(const TurnReply&, const TurnReply&) = default;
};

}  // namespace detrec::core
