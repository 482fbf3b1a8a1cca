#include "server/record/turn_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace detrec::server {
namespace {

using wire::TurnRequestKind;
using wire::TurnState;

template <class T>
T load(T& word) {
  return std::atomic_ref(word).load();
}

core::CoreConfig record_config() {
  core::CoreConfig config;
  config.policy = core::RunPolicy::kRecord;
  // A creator goes on until its turn is over, as it mostly would with a processor of its own.
  config.post_fork = core::PostForkPolicy::kParentFirst;
  config.reports_physical_exits = false;  // one process
  return config;
}

core::RegisterChild registration_of(core::ThreadId thread, core::ProcessId process) {
  core::RegisterChild registration;
  registration.child = thread;
  registration.process = process;
  return registration;
}

/// To the core a signal that ends a wait is a fact; which one, the thread's engine knows.
constexpr core::Signal kSomeSignal{1};

}  // namespace

void TurnScheduler::serve() {
  for (;;) {
    // The turn first: whoever frees it has posted its last request before.
    const std::uint32_t turn = load(board_.turn);
    if (!take_requests()) return;
    if (wire::state_of_turn(turn) == TurnState::kLeft) {
      if (load(board_.returned) == 0) return;
      if (take_left_turn(turn)) continue;
      return;
    }
    if (wire::state_of_turn(turn) == TurnState::kHeld || core_ == nullptr) return;
    take_reports();
    grant_next();
    return;
  }
}

bool TurnScheduler::has_work() const {
  if (damage_) return false;
  if (load(board_.posted) != taken_) return true;
  const TurnState state = wire::state_of_turn(load(board_.turn));
  return state == TurnState::kFree || (state != TurnState::kHeld && load(board_.returned) != 0);
}

void TurnScheduler::refuse(std::string what) {
  if (!damage_) damage_ = "the recorded program has damaged the board of its turns: " + std::move(what);
}

bool TurnScheduler::take_requests() {
  while (!damage_ && load(board_.posted) != taken_) {
    const wire::TurnRequest request = board_.requests[taken_ & (wire::kTurnRequests - 1)];
    apply(request);
    std::atomic_ref(board_.taken).store(++taken_);
    if (std::atomic_ref(board_.post_waits).exchange(0) != 0) wake_(board_.post_waits);
  }
  return !damage_;
}

void TurnScheduler::apply(const wire::TurnRequest& request) {
  if (request.kind == TurnRequestKind::kBegin) return begin(request);
  Guest* guest = guest_at(request.slot);
  if (guest == nullptr || request.slot != running_ || guest->state != Guest::State::kRuns)
    return refuse(fmt::format("a request of slot {}, which does not run", request.slot));
  if (request.ticks < guest->ticks) return refuse(fmt::format("slot {} runs backwards", request.slot));
  guest->thread.clock().add_ticks(request.ticks - guest->ticks);
  guest->ticks = request.ticks;
  switch (request.kind) {
    case TurnRequestKind::kCreate:
      return create(*guest, request);
    case TurnRequestKind::kWake:
      return wake_waiters(*guest, request);
    case TurnRequestKind::kRequeue:
      return requeue(*guest, request);
    default:
      return end_turn(*guest, request);
  }
}

void TurnScheduler::begin(const wire::TurnRequest& request) {
  if (request.slot >= wire::kTurnSlots || request.thread <= last_thread_)
    return refuse(fmt::format("an image begins with thread {}", request.thread));
  core_ = std::make_unique<core::Core>(record_config());
  guests_.clear();
  slots_.clear();
  last_thread_ = request.thread;
  running_ = request.slot;
  const core::ThreadId tid{static_cast<std::int32_t>(request.thread)};
  process_ = core::process_led_by(tid);
  space_ = core::AddressSpaceId::initial(tid);
  slots_[tid] = request.slot;
  Guest& first =
      guests_.emplace(request.slot, Guest{core::GuestThread(tid, space_, core::ThreadClock())}).first->second;
  first.thread.clock().add_ticks(first.ticks = request.ticks);
  send(first, registration_of(tid, process_));
  const core::CallId start = send(first, core::StartThread{});
  first.state = Guest::State::kRuns;
  while (core_->step().kind == core::StepKind::kSkip) continue;
  if (!answer_to<core::StartAnswer>(start)) refuse("its first thread does not start");
}

void TurnScheduler::create(Guest& creator, const wire::TurnRequest& request) {
  if (request.other_slot >= wire::kTurnSlots || guest_at(request.other_slot) != nullptr ||
      request.other_thread <= last_thread_ || creator.continues)
    return refuse(fmt::format("thread {} is created in slot {}", request.other_thread, request.other_slot));
  last_thread_ = request.other_thread;
  const core::ThreadId tid{static_cast<std::int32_t>(request.other_thread)};
  core::RegisterChild registration = registration_of(tid, process_);
  registration.flags.bits = core::CloneFlags::kVm | core::CloneFlags::kSighand | core::CloneFlags::kThread;
  creator.awaited = send(creator, registration);
  creator.continues = true;
  slots_[tid] = request.other_slot;
  Guest& child = guests_.emplace(request.other_slot, Guest{creator.thread.child(tid, true)}).first->second;
  // Its kernel thread may still be on its way: it finds the grant when it comes.
  child.awaited = send(child, core::StartThread{});
}

void TurnScheduler::wake_waiters(Guest& guest, const wire::TurnRequest& request) {
  const auto answer = answer_to<core::FutexAnswer>(
      send(guest, core::FutexWake{key_of(request.address), request.count, request.mask}));
  const std::uint32_t woken = answer ? answer->woken : 0;
  if (request.expected == wire::kAnswerWanted) {
    wire::ThreadSlot& slot = board_.slots[request.slot];
    slot.answer = woken;
    std::atomic_ref(slot.answered).store(1);
    wake_(slot.answered);
  } else if (woken != request.expected) {
    refuse(
        fmt::format("{} threads wake up at futex {:#x}, not {}", woken, request.address, request.expected));
  }
}

void TurnScheduler::requeue(Guest& guest, const wire::TurnRequest& request) {
  const auto answer = answer_to<core::FutexAnswer>(
      send(guest, core::FutexRequeue{key_of(request.address), request.count, key_of(request.other_address),
                                     request.other_count}));
  if (!answer || answer->woken != request.expected || answer->moved != request.other_expected)
    refuse(fmt::format("another number of threads waits at futex {:#x}", request.address));
}

void TurnScheduler::end_turn(Guest& guest, const wire::TurnRequest& request) {
  if (guest.continues != (request.kind == TurnRequestKind::kContinue))
    return refuse(fmt::format("slot {} does not go on as it should", request.slot));
  guest.state = Guest::State::kQueued;
  switch (request.kind) {
    case TurnRequestKind::kContinue:  // asked for by kCreate
      guest.continues = false;
      return;
    case TurnRequestKind::kSlice:
      guest.awaited = send(guest, core::RequestResources{});
      return;
    case TurnRequestKind::kYield:
      guest.awaited = send(
          guest,
          core::RequestResources{core::ResourceRequest::one(core::Resource::of(core::ResourceKind::kYield))});
      return;
    case TurnRequestKind::kOutside:
      return go_outside(guest);
    case TurnRequestKind::kWait:
      return wait(guest, request);
    case TurnRequestKind::kEnd:
      return end(guest, request);
    default:
      return refuse(fmt::format("request {}", static_cast<std::uint32_t>(request.kind)));
  }
}

void TurnScheduler::wait(Guest& guest, const wire::TurnRequest& request) {
  guest.state = Guest::State::kWaits;
  // The thread sleeps with its timeout itself and reports; and a signal may end any wait. So every wait may
  // end by the host, and a program whose threads all wait for one another is left to do so, as natively.
  guest.awaited = send(guest, core::FutexWait{key_of(request.address), request.mask, core::kIndefinite, 0});
}

void TurnScheduler::go_outside(Guest& guest) {
  guest.state = Guest::State::kOutside;
  guest.awaited = 0;
  const core::ExternalOpId operation{guest.thread.tid(), ++guest.operations};
  send(guest, core::RequestResources{core::ResourceRequest::one(
                  core::Resource::external(core::ResourceKind::kExternalBlock, operation))});
}

void TurnScheduler::end(Guest& guest, const wire::TurnRequest& request) {
  const core::ThreadId tid = guest.thread.tid();
  core::Deregister leaves;
  leaves.tid = tid;
  leaves.process = process_;
  leaves.as = space_;
  leaves.start_entered = true;
  send(guest, leaves);
  slots_.erase(tid);
  guests_.erase(request.slot);
}

/// The holder waits outside without having said so, since nobody wanted the turn then.
bool TurnScheduler::take_left_turn(std::uint32_t word) {
  Guest* guest = guest_at(wire::slot_of_turn(word));
  if (guest == nullptr || wire::slot_of_turn(word) != running_ || guest->state != Guest::State::kRuns ||
      guest->continues) {
    refuse("the turn is left by a thread that does not have it");
    return false;
  }
  std::uint32_t expected = word;
  if (!std::atomic_ref(board_.turn)
           .compare_exchange_strong(expected, wire::turn_word(TurnState::kFree, running_)))
    return true;  // it is back; look again
  go_outside(*guest);
  return true;
}

void TurnScheduler::take_reports() {
  if (load(board_.returned) == 0) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> reports;  // when, slot
  for (std::uint32_t i = 0; i < wire::kTurnSlots / 64; ++i) {
    if (load(board_.returned_bits[i]) == 0) continue;
    std::uint64_t bits = std::atomic_ref(board_.returned_bits[i]).exchange(0);
    std::atomic_ref(board_.returned).fetch_sub(static_cast<std::uint32_t>(std::popcount(bits)));
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t slot = i * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      reports.emplace_back(board_.slots[slot].reported_at, slot);
    }
  }
  std::ranges::sort(reports);
  for (const auto& [when, slot] : reports) apply_report(slot);
}

/// What comes too late, for a thread that has been woken meanwhile, means nothing.
void TurnScheduler::apply_report(std::uint32_t slot) {
  Guest* guest = guest_at(slot);
  if (guest == nullptr) return;
  const core::ThreadId tid = guest->thread.tid();
  const wire::SlotReport report = board_.slots[slot].report;
  if (report == wire::SlotReport::kDone) {
    if (guest->state != Guest::State::kOutside) return;
    const core::ExternalOpId operation{tid, guest->operations};
    guest->state = Guest::State::kQueued;
    guest->awaited = send(*guest, core::RequestResources{core::ResourceRequest::one(core::Resource::external(
                                      core::ResourceKind::kExternalDone, operation))});
    return;
  }
  const auto waits_at = core_->waits_at(tid);
  if (!waits_at) return;
  counts_.subtract(waits_at->offset, 1);
  guest->state = Guest::State::kQueued;
  if (report == wire::SlotReport::kExpired) {
    core_->host_expired(tid);
  } else {
    core_->deliver_signal(tid, kSomeSignal);
  }
}

void TurnScheduler::grant_next() {
  for (;;) {
    const core::StepResult step = core_->step();
    core_->take_effects();  // timers are the threads' own, signals theirs to deliver
    for (const core::Reply& reply : core_->take_replies()) {
      const auto slot = slots_.find(reply.thread);
      if (slot == slots_.end()) continue;
      Guest& guest = guests_.at(slot->second);
      if (guest.thread.receive(reply) == core::GuestThread::Verdict::kRetire)
        return refuse(fmt::format("the scheduler has retired thread {}", reply.thread.value));
      if (guest.awaited == reply.call && reply.call != 0) grant(guest, reply);
    }
    if (step.kind == core::StepKind::kSkip) continue;
    if (step.kind == core::StepKind::kGranted) return;
    if (step.kind == core::StepKind::kWaitExternal || step.kind == core::StepKind::kFinished) {
      std::atomic_ref(board_.turn).store(wire::turn_word(TurnState::kIdle, running_));
      return;
    }
    return refuse(
        fmt::format("the scheduler stops ({})\n{}", static_cast<int>(step.kind), core_->state_text()));
  }
}

void TurnScheduler::grant(Guest& guest, const core::Reply& reply) {
  running_ = slots_.at(reply.thread);
  guest.state = Guest::State::kRuns;
  guest.awaited = 0;
  wire::ThreadSlot& slot = board_.slots[running_];
  slot.outcome = wire::TurnOutcome::kGo;
  if (const auto* futex = std::get_if<core::FutexAnswer>(&reply.answer)) {
    if (futex->status == core::FutexStatus::kTimedOut) slot.outcome = wire::TurnOutcome::kTimedOut;
    if (futex->status == core::FutexStatus::kInterrupted) slot.outcome = wire::TurnOutcome::kInterrupted;
  }
  const std::size_t queued = core_->queued();
  std::atomic_ref(board_.wanting).store(static_cast<std::uint32_t>(queued != 0 ? queued - 1 : 0));
  std::atomic_ref(board_.turn).store(wire::turn_word(TurnState::kHeld, running_));
  std::atomic_ref(slot.granted).store(1);
  wake_(slot.granted);
}

TurnScheduler::Guest* TurnScheduler::guest_at(std::uint32_t slot) {
  const auto found = guests_.find(slot);
  return found != guests_.end() ? &found->second : nullptr;
}

core::CallId TurnScheduler::send(Guest& guest, core::Request request) {
  return core_->send(guest.thread.message(std::move(request)));
}

template <class A>
std::optional<A> TurnScheduler::answer_to(core::CallId call) {
  std::optional<A> answer;
  for (const core::Reply& reply : core_->take_replies()) {
    if (const auto slot = slots_.find(reply.thread); slot != slots_.end())
      guests_.at(slot->second).thread.receive(reply);
    if (const A* found = std::get_if<A>(&reply.answer); found != nullptr && reply.call == call)
      answer = *found;
  }
  return answer;
}

core::FutexKey TurnScheduler::key_of(std::uint64_t address) const {
  return core::FutexKey::private_key(space_, address);
}

}  // namespace detrec::server
