#include "server/core/sched/timed_events.h"

namespace detrec::core {

std::optional<LogicalTime> TimedEvents::next_deadline() const {
  if (events_.empty()) return std::nullopt;
  return events_.begin()->deadline;
}

std::size_t TimedEvents::buckets() const {
  std::set<LogicalTime> times;
  for (const TimedEvent& e : events_) times.insert(e.deadline);
  return times.size();
}

std::optional<TimedEvent> TimedEvents::pop_due(LogicalTime now) {
  if (events_.empty() || events_.begin()->deadline > now) return std::nullopt;
  const TimedEvent event = *events_.begin();
  events_.erase(events_.begin());
  switch (event.kind) {
    case TimedKind::kAlarm: {
      const auto it = alarms_.find({event.first});
      if (it->second.interval.ns == 0) {
        alarms_.erase(it);
      } else {
        it->second.deadline = event.deadline + it->second.interval;
        events_.insert({it->second.deadline, TimedKind::kAlarm, event.first, 0});
      }
      break;
    }
    case TimedKind::kPosixTimer: {
      const auto it = posix_.find({{event.first}, event.second});
      if (it->second.interval.ns == 0) {
        posix_.erase(it);
      } else {
        it->second.deadline = event.deadline + it->second.interval;
        events_.insert({it->second.deadline, TimedKind::kPosixTimer, event.first, event.second});
      }
      break;
    }
    case TimedKind::kRealTimer:
      real_.erase({event.first});
      break;
    case TimedKind::kThread:
      threads_.erase({{event.first}, event.deadline});
      break;
    case TimedKind::kChildExit:
      break;
  }
  return event;
}

void TimedEvents::add_thread(ThreadId tid, LogicalTime deadline) {
  if (!events_.insert({deadline, TimedKind::kThread, tid.value, 0}).second)
    fatal("thread {} has two deadlines at {}", tid.value, to_string(deadline));
  threads_.insert({tid, deadline});
}

std::optional<LogicalTime> TimedEvents::thread_deadline(ThreadId tid) const {
  const auto it = threads_.lower_bound({tid, {}});
  if (it == threads_.end() || it->first != tid) return std::nullopt;
  return it->second;
}

std::optional<LogicalTime> TimedEvents::remove_thread(ThreadId tid) {
  const auto it = threads_.lower_bound({tid, {}});
  if (it == threads_.end() || it->first != tid) return std::nullopt;
  const LogicalTime deadline = it->second;
  const auto next = threads_.erase(it);
  if (next != threads_.end() && next->first == tid) fatal("thread {} has deadlines at two times", tid.value);
  events_.erase({deadline, TimedKind::kThread, tid.value, 0});
  return deadline;
}

std::optional<TimerValue> TimedEvents::set_alarm(ProcessId process, LogicalTime deadline,
                                                 LogicalTime interval, ThreadId via) {
  const auto previous = remove_alarm(process);
  alarms_[process] = {deadline, interval, via, {}};
  events_.insert({deadline, TimedKind::kAlarm, process.value, 0});
  return previous;
}

std::optional<TimerValue> TimedEvents::remove_alarm(ProcessId process) {
  const auto it = alarms_.find(process);
  if (it == alarms_.end()) return std::nullopt;
  const TimerValue previous{it->second.deadline, it->second.interval};
  events_.erase({previous.time, TimedKind::kAlarm, process.value, 0});
  alarms_.erase(it);
  return previous;
}

std::optional<TimerValue> TimedEvents::alarm(ProcessId process) const {
  const auto it = alarms_.find(process);
  if (it == alarms_.end()) return std::nullopt;
  return TimerValue{it->second.deadline, it->second.interval};
}

ThreadId TimedEvents::alarm_thread(ProcessId process) const {
  const auto it = alarms_.find(process);
  return it == alarms_.end() ? ThreadId{} : it->second.via;
}

void TimedEvents::set_posix(ProcessId process, std::int64_t id, LogicalTime deadline, LogicalTime interval,
                            Signal signal) {
  remove_posix(process, id);
  posix_[{process, id}] = {deadline, interval, {}, signal};
  events_.insert({deadline, TimedKind::kPosixTimer, process.value, id});
}

bool TimedEvents::remove_posix(ProcessId process, std::int64_t id) {
  const auto it = posix_.find({process, id});
  if (it == posix_.end()) return false;
  events_.erase({it->second.deadline, TimedKind::kPosixTimer, process.value, id});
  posix_.erase(it);
  return true;
}

void TimedEvents::remove_all_posix(ProcessId process) {
  for (auto it = posix_.lower_bound({process, INT64_MIN}); it != posix_.end() && it->first.first == process;
       it = posix_.erase(it)) {
    events_.erase({it->second.deadline, TimedKind::kPosixTimer, process.value, it->first.second});
  }
}

Signal TimedEvents::posix_signal(ProcessId process, std::int64_t id) const {
  const auto it = posix_.find({process, id});
  return it == posix_.end() ? Signal{} : it->second.signal;
}

std::optional<TimerValue> TimedEvents::posix(ProcessId process, std::int64_t id) const {
  const auto it = posix_.find({process, id});
  if (it == posix_.end()) return std::nullopt;
  return TimerValue{it->second.deadline, it->second.interval};
}

void TimedEvents::add_child_exit(ProcessId child, ProcessId parent, LogicalTime deadline) {
  events_.insert({deadline, TimedKind::kChildExit, child.value, parent.value});
}

void TimedEvents::set_real_timer(ProcessId process, LogicalTime deadline) {
  remove_real_timer(process);
  real_[process] = deadline;
  events_.insert({deadline, TimedKind::kRealTimer, process.value, 0});
}

bool TimedEvents::remove_real_timer(ProcessId process) {
  const auto it = real_.find(process);
  if (it == real_.end()) return false;
  events_.erase({it->second, TimedKind::kRealTimer, process.value, 0});
  real_.erase(it);
  return true;
}

std::int64_t PosixTimerTable::create(std::optional<Signal> signal) {
  timers_[next_] = {signal, std::nullopt, {}};
  return next_++;
}

LogicalTime PosixTimerTable::remaining(std::optional<LogicalTime> deadline, LogicalTime interval,
                                       LogicalTime now) {
  if (!deadline) return {};
  if (*deadline > now) return *deadline - now;
  if (interval.ns == 0) return {};
  return interval - LogicalTime{(now - *deadline).ns % interval.ns};
}

std::optional<TimerValue> PosixTimerTable::read(std::int64_t id, LogicalTime now) const {
  const auto it = timers_.find(id);
  if (it == timers_.end()) return std::nullopt;
  return TimerValue{remaining(it->second.deadline, it->second.interval, now), it->second.interval};
}

std::optional<TimerValue> PosixTimerTable::set(std::int64_t id, LogicalTime now,
                                               std::optional<LogicalTime> deadline, LogicalTime interval) {
  const auto previous = read(id, now);
  if (!previous) return std::nullopt;
  Timer& timer = timers_[id];
  timer.deadline = deadline;
  timer.interval = interval;
  return previous;
}

std::optional<Signal> PosixTimerTable::signal(std::int64_t id) const {
  const auto it = timers_.find(id);
  return it == timers_.end() ? std::nullopt : it->second.signal;
}

bool PosixTimerTable::remove(std::int64_t id) { return timers_.erase(id) != 0; }

}  // namespace detrec::core
