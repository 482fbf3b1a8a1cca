// The per-thread record of the turn protocol (TURN-4, PARK-3 .. PARK-6). Plain data in the arena.
#pragma once

#include "server/core/base/slot.h"
#include "server/core/sched/request.h"

namespace detrec::core {

/// PARK-4: which kind of message a request came with.
enum class MessageKind : std::uint8_t {
  kDirect,
  kResumed,
  kParentContinue,
  kTraceEvent,
  kFutex,
  kThreadStart
};

enum class LendKind : std::uint8_t { kNothing, kSleep, kPause, kPolledRead, kPublishOnly };

/// PARK-3: what a request lends to observation.
struct Capability {
  LendKind kind = LendKind::kNothing;
  bool has_site = false;
  CallSite site;
  LogicalTime deadline;     ///< kSleep: absolute
  std::uint64_t lease = 0;  ///< kPublishOnly

  static Capability sleep(CallSite site, LogicalTime deadline) {
    return {LendKind::kSleep, true, site, deadline, 0};
  }
  static Capability pause(CallSite site) { return {LendKind::kPause, true, site, kIndefinite, 0}; }
  static Capability polled_read(CallSite site) { return {LendKind::kPolledRead, true, site, kIndefinite, 0}; }
  static Capability publish_only(CallSite site, std::uint64_t lease) {
    return {LendKind::kPublishOnly, true, site, {}, lease};
  }
  bool parked_wait() const { return kind == LendKind::kSleep || kind == LendKind::kPause; }
  friend bool operator==(const Capability&, const Capability&) = default;
};

struct Origin {
  bool present = false;
  MessageKind kind = MessageKind::kDirect;
  AddressSpaceId as;
  Capability capability;
  ContinuationId continuation;  ///< kResumed
  std::uint32_t cycle = 0;      ///< kResumed
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// PARK-6
enum class OwnerKind : std::uint8_t { kOrdinary, kObservation, kReturningAfterCaught };

struct TurnOwner {
  OwnerKind kind = OwnerKind::kOrdinary;
  ContinuationId continuation;
  std::uint64_t lease = 0;
  friend bool operator==(const TurnOwner&, const TurnOwner&) = default;
};

/// PARK-41: proof that the loop itself made the attempt-0 copy of a polled read.
struct ReadyReadWitness {
  bool present = false;
  SlotId request = 0;
  SlotId response = 0;
  Origin origin;
  std::uint64_t epoch = 0;
  ResourceRequest original;
};

struct TurnRecord {
  Slot<RequestFill> request;
  Slot<TurnReply> response;
  std::uint32_t call = 0;  ///< 1 + index of the message that waits for the response; 0: none
  std::uint64_t child_tid_address = 0;
  std::uint64_t epoch = 0;
  TurnOwner owner;
  Origin origin;
  ReadyReadWitness witness;
};

}  // namespace detrec::core
