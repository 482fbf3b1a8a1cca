// The deterministic core: one object per run that owns the guest schedule, logical time, signals, process
// life cycle and the pools of virtual identities. No I/O, no wall clock, no threads, no globals: messages go
// in by send(), the caller drives the loop by step(), replies and effects come out by take_replies() and
// take_effects(). docs/core.md tells how a turn goes. Not thread-safe; every call is one atomic step ("under
// the core lock" in the specification).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "server/core/config.h"
#include "server/core/life/creation_tree.h"
#include "server/core/life/wait_book.h"
#include "server/core/messages.h"
#include "server/core/report/summary.h"
#include "server/core/sched/futex_table.h"
#include "server/core/time/cpu_book.h"
#include "server/core/time/global_clock.h"

namespace detrec::core {

/// What one step() did. A caller steps again at once after kGranted and kSkip; after the others
/// when something happened: a message, a report of the host.
enum class StepKind : std::uint8_t {
  kNotStarted,    ///< nobody is registered yet (TURN-8)
  kGranted,       ///< one thread got the turn
  kSkip,          ///< a turn without productive work
  kWaitRequest,   ///< not quiescent: `thread` has to ask first
  kWaitControl,   ///< a control barrier or an observation stands
  kWaitExternal,  ///< only the host can wake somebody: external operation, host timer, physical exit, vfork
                  ///< child
  kFinished,      ///< TURN-39
  kTerminal,      ///< a terminal report was made (deadlock, limit, divergence)
  kFailed,        ///< FAIL-6
};

struct StepResult {
  StepKind kind = StepKind::kSkip;
  ThreadId thread;
};

struct RunFailure {
  std::optional<ProcessId> process;
  std::optional<ThreadId> thread;
  std::string phase;
};

struct TerminalReport {
  std::string text;  ///< the same on every run
  int status = 1;
};

// Effects: what the caller has to do or tell.
struct DeliverSignal {
  ThreadId thread;
  Signal signal;
};  ///< by the host; a target that just exited is no error
struct ArmHostTimer {
  ThreadId thread;
  LogicalTime deadline;
};  ///< kRecord: report by host_expired()
struct FailureNotice {
  std::uint64_t waiter;
};  ///< FAIL-3
struct TakeStackTrace {
  ThreadId thread;
  std::uint64_t event;
  std::optional<Signal> signal;
};
struct RunEnds {
  int status = 1;
};  ///< see terminal_report()
using Effect = std::variant<DeliverSignal, ArmHostTimer, FailureNotice, TakeStackTrace, RunEnds>;

/// An exec under way (EXEC-1, EXEC-3).
struct ExecPreparation {
  ThreadId caller;
  AddressSpaceId as;
  std::vector<int> restored;
  std::set<ThreadId> siblings;  ///< frozen
  std::set<ThreadId> observed;  ///< of them, physically exited meanwhile
};

struct VforkBarrier {
  std::optional<ThreadId> child;
};
struct VforkProof {
  ProcessId process;
  AddressSpaceId as;
};

struct SavedMembership {
  std::optional<LogicalTime> deadline;
  std::optional<SuspendedEntry> entry;
};

/// PARK-1
struct ParkedRequest {
  enum class Phase : std::uint8_t { kWaiting, kObserving, kAwaitingResume };
  Phase phase = Phase::kWaiting;
  Slot<RequestFill> request;
  SlotId response = 0;
  Origin origin;
  CallSite site;
  std::uint32_t cycle = 0;
  std::uint64_t lease = 0;
  std::optional<ResumeTicket> ticket;
  SavedMembership saved;
  ReadyReadWitness witness;
};

struct ExitFence {
  DeliveryPermit permit;
  ProcessId process;
  AddressSpaceId as;
  bool group = false;
};

enum class TerminalClass : std::uint8_t { kRoot, kLiveParent, kTerminalParent };
struct TerminalProcess {
  TerminalClass kind = TerminalClass::kRoot;
  ProcessKey parent;
  WaitStatus status;
  friend bool operator==(const TerminalProcess&, const TerminalProcess&) = default;
};

struct ChildReservation {
  enum class Phase : std::uint8_t { kAwaitingStatus, kAwaitingPublication, kPublished };
  ProcessKey parent;
  Phase phase = Phase::kAwaitingStatus;
  WaitStatus status;
  ChildExitCompletion completion;
  ChildExitResult result;
};

/// Both outcomes of clean-up after failure (FAIL-10, FAIL-11).
struct FailureCleanup {
  std::optional<std::string> loop;       ///< how the caller's loop ended abnormally
  std::optional<std::string> recording;  ///< why the partial record could not be written
};

class Core {
 public:
  explicit Core(CoreConfig config);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  virtual ~Core();

  // --- guests ---
  /// Admits and serves one message. The reply, now or later, comes with the returned number; a message after
  /// which the run failed stays without (FAIL-4).
  CallId send(const Message& message);
  /// Replies that are due, in the order in which their calls became ready (RPC-6: checked again here).
  std::vector<Reply> take_replies();

  // --- the loop ---
  /// Logs the start-up announcement once; a caller that wants it earlier than the first step (TURN-9).
  void announce();
  StepResult step();
  std::vector<Effect> take_effects() { return std::exchange(effects_, {}); }
  bool started() const { return started_; }
  /// True once, after the first registration (TURN-8).
  bool take_start_signal() { return std::exchange(start_signal_, false); }

  // --- host reports ---
  void host_expired(ThreadId tid);                   ///< kRecord: a host timer fired
  void deliver_signal(ThreadId tid, Signal signal);  ///< SIG-17, SIG-18
  bool begin_physical_exit(ProcessId process);
  bool complete_physical_exit(ProcessId process);
  std::size_t release_all_physical_exits();

  // --- signals and exits (controlled mode) ---
  enum class ControlMode : std::uint8_t { kUnchanged, kToolControlled };
  System<ControlMode> install_control(SignalControl* control);
  System<std::optional<DeliveryPermit>> authorise(const TaskIdentity& task, AddressSpaceId as);
  System<Done> consume_boundary(const BoundaryReceipt& receipt);
  System<Done> consume_retirement(const RetirementReceipt& receipt);
  enum class ExitMode : std::uint8_t { kUncontrolled, kControlled };
  Protocol<ExitMode> reserve_exit(ThreadId tid, bool group, ProcessId process, AddressSpaceId as,
                                  std::optional<ProcessKey> child = std::nullopt);
  // The two steps of a publication callback (CHILD-15); ChildExitCallback drives them.
  enum class Admission : std::uint8_t { kPublished, kDuplicate };
  Protocol<Admission> admit_child_exit(const std::optional<ChildExitCompletion>& event);
  System<Done> complete_child_exit(const ChildExitCompletion& completion);
  Protocol<Done> cancel_child_exit(const ChildExitCompletion& completion);

  // --- failure and end ---
  void fail(std::optional<ProcessId> process, std::optional<ThreadId> thread, std::string phase);
  bool failed() const { return failure_.has_value(); }
  const std::optional<RunFailure>& failure() const { return failure_; }
  /// A waiter for failure; already failed: its notice comes at once.
  std::uint64_t watch_failure();
  const std::optional<TerminalReport>& terminal_report() const { return terminal_; }
  std::optional<TerminalReport> take_terminal_report();
  /// Error text when a clock contradicts its origin (SUM-10, SUM-11).
  Outcome<RunSummary, std::string> summary();
  FailureCleanup clean_up_after_failure(std::optional<std::string> loop_outcome);

  // --- queries ---
  TurnNumber turn() const { return turn_; }
  LogicalTime committed_time() const { return committed_; }
  const GlobalClock& clock() const { return clock_; }
  const CoreConfig& config() const { return config_; }
  std::optional<ThreadId> running() const { return running_; }
  bool is_registered(ThreadId tid) const;
  bool is_tombstoned(ThreadId tid) const { return tombstones_.contains(tid); }
  bool accepts(ThreadId tid, AddressSpaceId as) const;  ///< ID-7
  bool process_exited(ProcessId process) const;
  /// Threads in the run queue, the running one included.
  std::size_t queued() const { return queue_.size(); }
  /// Where a thread waits now; nothing when it does not wait at a futex.
  std::optional<FutexKey> waits_at(ThreadId tid) const { return futexes_.key_of(tid); }
  const std::vector<Decision>& decisions() const { return decisions_; }
  const std::optional<PreemptionRecord>& finished_record() const { return finished_record_; }
  PreemptionWriter* preemption_writer() { return writer_.get(); }
  /// State summary: every list sorted by stable keys, no host fact (TURN-40, TURN-42).
  std::string state_text() const;
  MountIdPool& mounts() { return mounts_; }
  /// The POSIX timer table of a process, shared by its threads (TIMED-15).
  PosixTimerTable& posix_timers(ProcessId process) { return posix_tables_[process]; }
  CpuBook& cpu() { return cpu_; }
  /// Every thread ever registered, for ordering constraints (FORK-5).
  const std::vector<ThreadId>& creation_order() const { return creation_order_; }
  /// A watch on a thread's request slot: filled, exited or still empty (TURN-7).
  enum class RequestState : std::uint8_t { kEmpty, kFilled, kExited };
  SlotId watch_request(ThreadId tid);
  RequestState watched(SlotId slot) const;

 protected:
  enum class CallKind : std::uint8_t {
    kResources,
    kParkable,
    kResume,
    kParentContinue,
    kTraceYield,
    kStart,
    kFutex,
    kExit,
    kFinish
  };
  struct Call {
    CallId id = 0;
    ThreadId sender;
    AddressSpaceId as;
    LogicalTime clock;
    CallKind kind = CallKind::kResources;
    bool in_use = false;
    Resource exit;   ///< of kExit
    ThreadId child;  ///< of kParentContinue
  };
  using CallIndex = std::uint32_t;
  struct Ready {
    CallIndex call;
    TurnReply reply;
    std::optional<ObservationControl> control;
  };
  enum class Admit : std::uint8_t { kFront, kBack, kPostFork };
  enum class Removal : std::uint8_t { kRetire, kReplaceThenAdmit };
  struct Intent {
    std::variant<FinishObservation, ResumeTicket> what;
    CallIndex call = 0;
    ThreadId thread;
  };
  struct TurnProgress {  // PARK-13
    bool maintained = false;
    bool due_spent = false;
    bool selected = false;
    bool jumped = false;
  };
  enum class Decided : std::uint8_t { kGranted, kSkipped, kFailed };

  // steps/admission.cc: admission, replies
  bool given_up(ThreadId tid) const { return given_up_.contains(tid); }
  bool failed_or_refused(const Call& call) const;
  void reply_now(CallId id, ThreadId tid, LogicalTime clock, Answer answer, bool timed = true);
  void refuse(CallId id, ThreadId tid);
  CallIndex new_call(CallId id, const Message& m, CallKind kind);
  void free_call(CallIndex call);
  void await_response(ThreadId tid, CallIndex call);
  void complete(const Ready& ready);
  void account(const Message& m);
  void account_cpu(ThreadId tid, const ThreadClock& clock);
  std::optional<AddressSpaceId> exec_candidate(ThreadId sender) const;
  bool is_reconnect(const Message& m) const;
  bool dead_or_stale(ThreadId tid, AddressSpaceId as) const;
  bool admit(CallId id, const Message& m);
  void dispatch(CallId id, const Message& m);

  // steps/handlers.cc: one function per message that needs more than a line
  void on_resources(CallId id, const Message& m, const ResourceRequest& request, const Capability& capability,
                    bool parkable);
  void on_register_child(CallId id, const Message& m, const RegisterChild& r);
  void on_register_vfork(CallId id, const Message& m, const RegisterVforkChild& r);
  void on_start(CallId id, const Message& m, const StartThread& r);
  void begin_start(CallIndex call, const StartThread& r, const ThreadClock& clock);
  void on_deregister(CallId id, const Message& m, const Deregister& r);
  void on_futex_wait(CallId id, const Message& m, const FutexWait& r);
  void on_futex_wake(CallId id, const Message& m, const FutexWake& r);
  std::uint32_t wake_waiters(const FutexKey& key, std::uint32_t count, std::uint32_t mask);
  void on_futex_requeue(CallId id, const Message& m, const FutexRequeue& r);
  void on_robust(CallId id, const Message& m, const RobustWakes& r);
  void on_trace(CallId id, const Message& m, const TraceEvent& r);
  void on_set_alarm(CallId id, const Message& m, const SetAlarm& r);
  void on_query_alarm(CallId id, const Message& m);
  void on_posix_timer(CallId id, const Message& m, const SetPosixTimer& r);
  void on_signal_pending(CallId id, const Message& m, const SignalPending& r);
  void on_dequeued(CallId id, const Message& m, const SignalDequeued& r);
  ChildStatus child_status(ProcessId parent, ProcessId child) const;

  // steps/turn.cc: the loop
  bool physical_hold() const;
  bool vfork_hold();
  bool barrier_children_blocked() const;  ///< then the queue counts as empty
  void charge_and_sample(bool may_charge);
  void drain();
  void apply_signal_notes();
  void apply_host_expiries();
  bool wake_from_host(ThreadId tid);
  bool handle_due_event();
  void handle_timed(const TimedEvent& event);
  void harvest_external();
  void requeue_deferred();
  bool external_work() const;
  StepResult handle_empty_queue();
  void wake_decided();
  bool diverges();
  std::optional<ThreadId> choose();
  Decided revalidate(ThreadId tid);
  Decided decide(ThreadId tid);
  Decided grant(ThreadId tid, bool background, bool yield, bool charged);
  StepResult finish_turn(Decided decided, ThreadId tid);
  bool nothing_left() const;
  bool control_barrier() const;
  bool log_decision(ThreadId tid, const ResourceRequest& request, Decision::Outcome outcome);
  void terminal(std::string text, int status);
  void note_loop_wake() { ++loop_wakes_; }

  // steps/threads.cc: registration, slots, pools, death
  TurnRecord* record(ThreadId tid);
  const TurnRecord* record(ThreadId tid) const;
  void renew_slots(ThreadId tid);
  void fill_request(ThreadId tid, const ResourceRequest& request);
  void replace_request(ThreadId tid, const ResourceRequest& request);
  void note_external(ThreadId tid, const ResourceRequest& request);  ///< that an operation is over
  void fill_response(ThreadId tid, const TurnReply& reply,
                     std::optional<ObservationControl> control = std::nullopt);
  void admit_at_drain(ThreadId tid, Admit where);
  void remove_at_drain(ThreadId tid, Removal how);
  void mark_registered(ThreadId tid, ProcessId process);
  void drop_registration(ThreadId tid);
  void register_thread(ThreadId child, ThreadId creator, ProcessId creator_process, CloneFlags flags,
                       Signal exit_signal, std::uint64_t child_tid_address, std::optional<Priority> priority,
                       AddressSpaceId as);
  Priority initial_priority(ThreadId child, ThreadId parent, std::optional<Priority> supplied, bool vfork);
  void wake_starters(ThreadId tid);
  bool reopen(ThreadId tid, AddressSpaceId as);
  bool leave_pools(ThreadId tid);  ///< every pool a blocked thread can be in; true when it was in one
  void force_unblock(ThreadId tid, const ResourceRequest& request);
  void kill_thread(ThreadId tid, AddressSpaceId as);
  void process_emptied(ProcessId process);
  void release_waiters(ProcessId child);
  std::vector<ThreadId> live_threads(ProcessId process) const;
  ProcessId process_of(ThreadId tid) const { return tree_.process_of(tid); }
  std::optional<ThreadId> signal_target(ProcessId process, ThreadId preferred);
  bool proof_matches(ThreadId parent, ThreadId child, AddressSpaceId as, bool shares) const;

  // steps/exec.cc
  bool prepare_exec(ThreadId caller, const PrepareExec& p, AddressSpaceId header);
  void end_exec(ProcessId process, ThreadId caller, AddressSpaceId as, bool success);
  bool observe_sibling(ProcessId process, ThreadId tid, AddressSpaceId as);
  void reconnect(CallId id, const Message& m, const RegisterChild& r);
  void commit_exec(ProcessId process, std::uint64_t child_tid_address, std::optional<Priority> supplied);
  void on_exec_completed(CallId id, const Message& m, const ExecCompleted& r);
  void drop_barriers_naming(ThreadId tid);

  // steps/park.cc
  Protocol<Done> install_origin(ThreadId tid, const Origin& origin);
  void protocol_failure(std::optional<ThreadId> tid, std::optional<ProcessId> process,
                        const ProtocolFailure& failure);
  bool post_intent(ThreadId sender, AddressSpaceId as, Intent intent);
  bool apply_intents();
  Protocol<Done> finish_observation(const FinishObservation& finish, CallIndex call);
  Protocol<Done> register_resume(const ResumeTicket& ticket, CallIndex call);
  bool select_observations();
  bool eligible(const TaskIdentity& task);
  Protocol<Done> begin_observation(ThreadId tid);
  bool witness_matches(const TurnRecord& r) const;
  bool may_lend_poll(const TurnRecord& r) const;
  void retire_parked(ThreadId tid);
  void drop_parked_of_slot(SlotId slot);

  // steps/signal.cc
  bool process_has_permit(ProcessId process) const;
  void expire_real_timer(ProcessId process, LogicalTime deadline);
  Protocol<TerminalProcess> classify(ProcessId process) const;
  Protocol<ProcessKey> terminal_key(ProcessId pid) const;
  Protocol<Done> check_final(ProcessKey key, WaitStatus status) const;
  void record_final(ProcessKey key, WaitStatus status);
  void finish_publication(ProcessKey key);
  void run_deferred();  ///< forwarding, then wake-ups: what must happen after a step (SIG-23, CHILD-27)

  CoreConfig config_;
  Arena arena_;
  RunQueue queue_;
  FutexTable futexes_;
  TimedEvents timed_;
  GlobalClock clock_;
  CpuBook cpu_;
  CreationTree tree_;
  WaitBook waits_;
  NonceCounter nonce_;
  RandomStream fuzz_;

  // Loop.
  bool announced_ = false;
  bool started_ = false;
  bool start_signal_ = false;
  TurnNumber turn_;
  std::uint64_t iterations_ = 0;
  LogicalTime committed_;
  bool last_charged_ = false;
  bool last_polled_ = false;
  TurnProgress progress_;
  std::optional<ThreadId> running_;
  std::uint64_t loop_wakes_ = 0;
  std::map<ThreadId, Admit> admissions_;
  std::map<ThreadId, Removal> removals_;
  std::map<ThreadId, SignalSet> signal_notes_;
  std::set<ThreadId> host_expiries_;
  std::optional<PctPlan> pct_;
  std::vector<Decision> decisions_;
  std::size_t next_decision_ = 0;
  std::uint64_t pct_step_ = 0;
  std::optional<TerminalReport> terminal_;
  bool terminal_ended_ = false;

  // Threads.
  std::unordered_set<ThreadId> tombstones_;
  std::unordered_set<ThreadId> given_up_;
  std::unordered_map<ThreadId, AddressSpaceId> accepted_;
  std::map<ProcessId, std::set<ThreadId>> live_;
  std::set<ProcessId> logically_exited_;
  std::vector<ThreadId> creation_order_;
  std::unordered_map<ThreadId, LogicalTime> staged_slices_;
  std::unordered_map<ThreadId, std::vector<ChaosEpoch>> pending_epochs_;
  std::unordered_map<ThreadId, PreemptionHistory> first_grant_history_;
  std::map<std::uint32_t, std::set<FutexKey>> cleared_;  ///< FUTEX-13: by thread id
  std::set<ThreadId> accounted_;
  std::map<ThreadId, std::uint64_t> syscalls_;
  std::map<ThreadId, TimesliceStats> slices_;

  // Blocked pools outside the arena.
  std::map<ThreadId, ExternalOpId> external_;
  std::set<ThreadId> external_done_;  ///< of them, those that have said so
  std::set<ThreadId> deferred_;
  std::set<ThreadId> child_signal_ready_;
  std::map<ThreadId, std::pair<ProcessId, WaitSpec>> child_waiters_;
  std::map<ThreadId, ProcessId> physical_waiters_;
  std::set<ThreadId> host_waits_;
  std::set<ThreadId> expired_sleeps_;  ///< whose host wait is over: granted when selected
  std::set<ProcessId> physical_exits_;
  std::set<ProcessId> physical_reported_;
  std::map<ThreadId, VforkBarrier> barriers_;
  std::map<ThreadId, VforkProof> proofs_;
  std::map<ThreadId, std::uint64_t> vfork_random_;

  // Exec.
  std::map<ProcessId, ExecPreparation> preparations_;
  std::map<ThreadId, std::vector<int>> restored_;
  bool first_exec_passed_ = false;

  // Calls.
  std::vector<Call> calls_;
  std::vector<CallIndex> free_calls_;
  std::map<ThreadId, std::vector<std::tuple<CallIndex, StartThread, ThreadClock>>> starting_;
  std::deque<Ready> ready_;
  std::vector<Reply> replies_;
  std::vector<Effect> effects_;
  CallId next_call_ = 0;
  std::unordered_map<SlotId, RequestState> watches_;

  // Parked requests and signals.
  SignalControl* control_ = nullptr;
  RealTimers timers_;
  std::map<ContinuationId, ParkedRequest> parked_;
  std::vector<Intent> intents_;
  std::map<ThreadId, DeliveryPermit> permits_;
  std::map<ThreadId, BoundaryReceipt> last_receipts_;
  std::map<ThreadId, ExitFence> fences_;
  std::map<ProcessKey, ChildReservation> reservations_;
  std::map<ProcessKey, std::pair<ChildExitCompletion, ChildExitResult>> completed_;
  std::map<ProcessKey, TerminalProcess> terminals_;
  std::map<ProcessKey, WaitStatus> retirements_;
  std::map<ProcessKey, RetirementReceipt> completed_retirements_;
  std::optional<ProtocolFailure> protocol_failure_;
  std::vector<ProcessId> forward_queue_;
  std::set<ProcessKey> forwarded_;

  // Failure.
  std::optional<RunFailure> failure_;
  std::uint64_t failure_waiters_ = 0;
  std::vector<std::uint64_t> unnotified_;
  bool wake_failure_waiters_ = false;

  // Pools, replay.
  PortPool ports_;
  InodePool inodes_;
  DevicePool devices_;
  MountIdPool mounts_;
  UnsupportedCalls unsupported_;
  std::map<ProcessId, PosixTimerTable> posix_tables_;
  std::optional<Replayer> replayer_;
  std::unique_ptr<PreemptionWriter> writer_;
  std::optional<PreemptionRecord> finished_record_;
  std::optional<PreemptionText> preemption_text_;
  bool summarised_ = false;
  std::uint64_t events_recorded_ = 0;
  LogicalTime host_start_;
};

}  // namespace detrec::core
