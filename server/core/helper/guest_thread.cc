#include "server/core/helper/guest_thread.h"

#include <cerrno>

namespace detrec::core {

GuestThread::Verdict GuestThread::receive(const Reply& reply) {
  if (std::holds_alternative<ThreadExited>(reply.answer)) {
    retired_ = true;
    return Verdict::kRetire;
  }
  if (reply.time) clock_.advance_to(*reply.time);
  return Verdict::kReturn;
}

void GuestThread::apply_slice(std::optional<LogicalTime> slice) {
  if (!slice || !first_exec_passed_) return;
  slice_end_ = clock_.elapsed() + *slice;
  if (maximum_end_) maximum_end_ = slice_end_;
}

std::optional<ProtocolFailure> GuestThread::check_control(const ObservationControl& control,
                                                          const CallSite& current) const {
  if (control.tid == tid_ && control.as == as_ && control.site == current) return std::nullopt;
  return ProtocolFailure::identity();
}

std::optional<Priority> initial_priority_for(const InitialPriorityRule& rule, ThreadId child,
                                             std::uint64_t chaos_draw) {
  if (rule.preemption_replay) return std::nullopt;
  if (rule.schedule_replay) return child.value <= kRootProcess.value ? kReplayForeground : kReplayDeferred;
  if (rule.race_targeted) return chaos_draw % 2 == 0 ? kFirstPriority : kLastPriority;
  if (rule.chaos) return priority_from_random(chaos_draw);
  return kDefaultPriority;
}

std::optional<Request> ExactWait::next() {
  if (!asked_) {
    asked_ = true;
    return ChildState{child_};
  }
  if (status_ == ChildStatus::kPhysicalExitPending && !parked_) {
    parked_ = true;
    return RequestResources{ResourceRequest::one(Resource::wait_physical(child_))};
  }
  return std::nullopt;
}

void ExactWait::told(ChildStatus status) { status_ = status; }

Request sleep_request(LogicalTime deadline, const std::optional<CallSite>& site) {
  const ResourceRequest request = ResourceRequest::one(Resource::sleep_until(deadline));
  if (!site) return RequestResources{request};
  return RequestParkable{
      request, deadline.indefinite() ? Capability::pause(*site) : Capability::sleep(*site, deadline)};
}

std::optional<SignalPending> pending_note(bool group_kill, const std::vector<ThreadId>& targets,
                                          Signal signal, std::optional<ProcessId> process) {
  if (group_kill || targets.size() != 1) return std::nullopt;
  return SignalPending{targets.front(), signal, process};
}

System<Done> check_dequeue(std::uint64_t sent, const DequeueAnswer& answer) {
  if (!answer.ack || answer.ack->sequence != sent) return Errno{EIO};
  return Done{};
}

}  // namespace detrec::core
