// Messages from guests to the core and the answers (RPC-1, RPC-13). Plain values.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "server/core/pools/pools.h"
#include "server/core/replay/preemption_record.h"
#include "server/core/report/timeslices.h"
#include "server/core/sched/turn_record.h"
#include "server/core/signal/control.h"
#include "server/core/time/thread_clock.h"

namespace detrec::core {

/// clone(2) flags the core looks at.
struct CloneFlags {
  static constexpr std::uint64_t kVm = 0x100, kSighand = 0x800, kVfork = 0x4000, kParent = 0x8000,
                                 kThread = 0x10000, kChildClearTid = 0x200000, kChildSetTid = 0x1000000;
  std::uint64_t bits = 0;
  bool has(std::uint64_t flag) const { return (bits & flag) != 0; }
};

/// PARK-27: what an observing guest is told.
struct ObservationControl {
  ContinuationId continuation;
  ThreadId tid;
  AddressSpaceId as;
  std::uint64_t epoch = 0;
  CallSite site;
  std::uint64_t lease = 0;
  DeliveryPermit permit;
};

/// PARK-32
struct ResumeTicket {
  ContinuationId continuation;
  std::uint32_t cycle = 0;
  std::uint64_t epoch = 0;
  CallSite site;
  std::uint64_t nonce = 0;
  friend bool operator==(const ResumeTicket&, const ResumeTicket&) = default;
};

// --- requests
// ---------------------------------------------------------------------------------------------------
struct RequestResources {
  ResourceRequest request;
  std::vector<ChaosEpoch> epochs = {};  ///< of a priority point: epoch changes not recorded yet (PREEMPT-18)
};
struct RequestParkable {
  ResourceRequest request;
  Capability capability;
};
struct ResumeParked {
  ResumeTicket ticket;
};
enum class ObservationEnd : std::uint8_t { kResume, kInterrupt, kTerminate };
struct FinishObservation {
  ContinuationId continuation;
  std::uint64_t lease = 0;
  CallSite site;
  ObservationEnd end = ObservationEnd::kResume;
  CallSite selected;  ///< site of the selected signal, for kInterrupt and kTerminate
};
struct ProtocolFailed {
  ProtocolFailure failure;
};
struct SignalDequeued {
  DequeueNotice notice;
};
struct ReleaseResources {};
struct ReleaseAllResources {};
struct ReportUnsupported {
  std::string name;
};
struct PrepareExec {
  ProcessId process;
  AddressSpaceId as;
  std::vector<int> restored;
};
struct CancelExec {
  ProcessId process;
};
struct ExecCompleted {
  ProcessId process;
  std::optional<TaskIdentity> task;
};
struct RegisterChild {
  ThreadId child;
  ProcessId process;  ///< of the parent; the child's own for the root and for a reconnect
  std::uint64_t child_tid_address = 0;
  CloneFlags flags;
  Signal exit_signal;
  std::optional<Priority> priority;
};
struct RegisterVforkChild {
  ThreadId child;
  ThreadId parent;
  std::uint64_t child_tid_address = 0;
  CloneFlags flags;
  Signal exit_signal;
  std::optional<Priority> priority;
};
struct StartThread {
  std::optional<TaskIdentity> task;
};
struct Deregister {
  ThreadId tid;
  ProcessId process;
  AddressSpaceId as;
  bool start_entered = false;
  TimesliceStats timeslices;
  std::uint64_t syscalls = 0;
  std::vector<ChaosEpoch> epochs;
};
struct SetChildTidAddress {
  std::uint64_t address = 0;
};
struct FutexWait {
  FutexKey key;
  std::uint32_t mask = 0xffffffffu;
  std::optional<LogicalTime> deadline;
  std::uint32_t observed = 0;  ///< the word the waiter saw
};
struct FutexWake {
  FutexKey key;
  std::uint32_t count = 1;
  std::uint32_t mask = 0xffffffffu;
};
/// FUTEX_REQUEUE of futex(2): wakes as FutexWake with a full mask, then lets up to `move` of those that are
/// left wait at `to` instead, the longest-waiting first.
struct FutexRequeue {
  FutexKey key;
  std::uint32_t count = 1;
  FutexKey to;
  std::uint32_t move = 0;
};
struct FutexFinished {};
struct RobustWakes {
  std::vector<std::pair<ThreadId, FutexKey>> wakes;  ///< in owner order, then key order
  LogicalTime latest;                                ///< the largest member clock (ROBUST-5)
};
struct MapInode {
  std::uint64_t host = 0;
  SeenTime seen;
};
struct ForgetInode {
  std::uint64_t host = 0;
};
struct TouchFile {
  std::uint64_t host = 0;
};
struct SetFileTime {
  std::uint64_t host = 0;
  LogicalTime time;
};
struct MapDevice {
  std::uint64_t host = 0;
};
struct MapMountId {
  std::uint64_t raw = 0;
  std::optional<std::vector<std::uint64_t>> order;
};
struct CheckMountOrder {
  std::vector<std::uint64_t> order;
};
struct AskGlobalTime {};
struct TraceEvent {
  ScheduleEvent event;
};
struct SetAlarm {
  LogicalTime value;
  LogicalTime interval;
  Signal signal = kAlarmSignal;
};
struct QueryAlarm {};
struct SetPosixTimer {
  std::int64_t id = 0;
  std::optional<LogicalTime> deadline;
  LogicalTime interval;
  Signal signal;
};
struct ReadyChild {
  WaitSpec spec;
};
struct ConsumeChild {
  ProcessId child;
};
struct ChildState {
  ProcessId child;
};
struct GetProcessGroup {
  ProcessId process;
};
struct SetProcessGroup {
  ProcessId process;
  ProcessId group;
};
struct CreateSession {
  ProcessId process;
};
struct KillTargets {
  std::int32_t pid = 0;
};
struct SignalPending {
  ThreadId target;
  Signal signal;
  std::optional<ProcessId> process;
};
struct IsThreadLive {
  ThreadId tid;
};
struct Shutdown {
  int status = 0;
};
struct AllocatePort {
  OpenFileId file;
};
struct AddPort {
  std::uint16_t port = 0;
  OpenFileId file;
};
struct ReleasePort {
  OpenFileId file;
};

using Request =
    std::variant<RequestResources, RequestParkable, ResumeParked, FinishObservation, ProtocolFailed,
                 SignalDequeued, ReleaseResources, ReleaseAllResources, ReportUnsupported, PrepareExec,
                 CancelExec, ExecCompleted, RegisterChild, RegisterVforkChild, StartThread, Deregister,
                 SetChildTidAddress, FutexWait, FutexWake, FutexRequeue, FutexFinished, RobustWakes, MapInode,
                 ForgetInode, TouchFile, SetFileTime, MapDevice, MapMountId, CheckMountOrder, AskGlobalTime,
                 TraceEvent, SetAlarm, QueryAlarm, SetPosixTimer, ReadyChild, ConsumeChild, ChildState,
                 GetProcessGroup, SetProcessGroup, CreateSession, KillTargets, SignalPending, IsThreadLive,
                 Shutdown, AllocatePort, AddPort, ReleasePort>;

/// The sender is what the transport is bound to, never taken from the payload (RPC-1).
struct Message {
  ThreadId sender;
  ThreadClock clock;
  AddressSpaceId as;
  Request request;
};

// --- answers
// ----------------------------------------------------------------------------------------------------
struct ThreadExited {};  ///< refused: the sending thread ends (RPC-7)
struct Acknowledged {};
struct TurnAnswer {
  TurnReply reply;
};
struct ControlAnswer {
  ObservationControl control;
};
struct Interrupted {};
struct Terminate {};
struct TicketAnswer {
  ResumeTicket ticket;
};
struct DequeueAnswer {
  TimerOutcome<DequeueAck> ack = DequeueAck{};
  bool terminal = false;
};
struct ExecAnswer {
  std::vector<int> restored;
};
struct ReconnectAnswer {
  AddressSpaceId as;
};
struct StartAnswer {
  std::shared_ptr<const PreemptionHistory> history;
  TurnReply reply;
};
enum class FutexStatus : std::uint8_t { kWoken, kTimedOut, kInterrupted, kNothing };
struct FutexAnswer {
  FutexStatus status = FutexStatus::kWoken;
  std::uint32_t woken = 0;
  std::uint32_t moved = 0;  ///< of FutexRequeue
};
struct RobustAnswer {
  std::vector<std::uint32_t> counts;
};
struct InodeAnswer {
  VirtualInode inode;
};
struct NumberAnswer {
  std::optional<std::uint64_t> number;
};
struct BoolAnswer {
  bool value = false;
};
struct TimeAnswer {
  LogicalTime time;
};
struct TraceAnswer {
  bool yielded = false;
  std::optional<LogicalTime> slice;
  bool print_stack = false;
  std::optional<Signal> stack_signal;
};
struct TimerAnswer {
  TimerValue previous;
};
struct ReadyAnswer {
  std::optional<ProcessId> child;
  bool any = false;
};
enum class ChildStatus : std::uint8_t {
  kUnknown,
  kRunning,
  kLogicallyExited,
  kPhysicalExitPending,
  kPhysicallyExited
};
struct ChildStateAnswer {
  ChildStatus status = ChildStatus::kUnknown;
};
struct ThreadsAnswer {
  std::vector<ThreadId> threads;
};

using Answer = std::variant<ThreadExited, Acknowledged, TurnAnswer, ControlAnswer, Interrupted, Terminate,
                            TicketAnswer, DequeueAnswer, ExecAnswer, ReconnectAnswer, StartAnswer,
                            FutexAnswer, RobustAnswer, InodeAnswer, NumberAnswer, BoolAnswer, TimeAnswer,
                            TraceAnswer, TimerAnswer, ReadyAnswer, ChildStateAnswer, ThreadsAnswer>;

using CallId = std::uint64_t;

struct Reply {
  CallId call = 0;
  ThreadId thread;
  std::optional<LogicalTime> time;  ///< absolute; the guest advances its clock to it (TIME-26, TIME-27)
  Answer answer;
};

}  // namespace detrec::core
