// Failure, state text and summary (FAIL, TURN-42, SUM).
#include <fmt/core.h>

#include <algorithm>

#include "server/core/core.h"

namespace detrec::core {

void Core::fail(std::optional<ProcessId> process, std::optional<ThreadId> thread,
                std::string phase) {  // FAIL-1
  if (failure_) return;
  failure_ = RunFailure{process, thread, std::move(phase)};
  if (queue_.selection_open()) queue_.undo();  // FAIL-2: in the same step
  progress_ = {};
  wake_failure_waiters_ = true;
  note_loop_wake();
  if (config_.log != nullptr) {  // FAIL-13
    config_.log->line(
        LogLevel::kWarning,
        fmt::format("run failed: process {} thread {}: {}", process ? std::to_string(process->value) : "-",
                    thread ? std::to_string(thread->value) : "-", failure_->phase));
  }
}

std::uint64_t Core::watch_failure() {  // FAIL-3
  const std::uint64_t waiter = ++failure_waiters_;
  if (failed() && !wake_failure_waiters_) {
    effects_.push_back(FailureNotice{waiter});
  } else {
    unnotified_.push_back(waiter);
  }
  run_deferred();
  return waiter;
}

std::string Core::state_text() const {
  std::string out = fmt::format("turn {} committed {}", turn_.value, to_string(committed_));
  std::vector<ThreadId> threads;
  for (const auto& [process, members] : live_) threads.insert(threads.end(), members.begin(), members.end());
  std::sort(threads.begin(), threads.end());
  for (const ThreadId tid : threads) {
    const TurnRecord* r = record(tid);
    if (r == nullptr) continue;
    out += fmt::format("\n  thread {} of process {}: {}", tid.value, process_of(tid).value,
                       r->request.filled() ? r->request.value().text() : std::string("running"));
    if (const auto entry = clock_.entry(tid))
      out += fmt::format(", since {}", to_string(clock_.origin() + entry->elapsed));
    if (const auto p = queue_.queued_priority(tid)) out += fmt::format(", queued at {}", p->value);
  }
  for (const FutexKey& key : futexes_.keys()) {
    out += fmt::format("\n  futex {}:", to_string(key));
    for (const ThreadId tid : futexes_.waiters_of(key))
      out += fmt::format(" {} mask {:#x}", tid.value, futexes_.mask_of(tid));
  }
  std::string timed_out;
  for (const ThreadId tid : threads) {
    if (futexes_.timed_out(tid)) timed_out += fmt::format(" {}", tid.value);
  }
  if (!timed_out.empty()) out += "\n  timed out:" + timed_out;
  for (const TimedEvent& e : timed_.all()) {
    static constexpr const char* kNames[] = {"alarm of process", "real timer of process", "timer of process",
                                             "exit of child", "thread"};
    out += fmt::format("\n  at {}: {} {}", e.deadline.indefinite() ? "indefinite" : to_string(e.deadline),
                       kNames[static_cast<int>(e.kind)], e.first);
    if (e.kind == TimedKind::kPosixTimer) out += fmt::format(" timer {}", e.second);
    if (e.kind == TimedKind::kChildExit) out += fmt::format(" of parent {}", e.second);
  }
  for (const auto& [tid, op] : external_)
    out += fmt::format("\n  external operation {} of thread {}", op.sequence, tid.value);
  for (const ThreadId tid : host_waits_)
    out += fmt::format("\n  thread {} waits on the host's clock", tid.value);
  for (const auto& [tid, wait] : child_waiters_)
    out += fmt::format("\n  thread {} waits for a child of {}", tid.value, wait.first.value);
  for (const auto& [tid, child] : physical_waiters_)
    out += fmt::format("\n  thread {} waits for the end of process {}", tid.value, child.value);
  for (const ThreadId tid : deferred_)
    out += fmt::format("\n  deferred child signal of thread {}", tid.value);
  for (const ThreadId tid : child_signal_ready_)
    out += fmt::format("\n  ready child signal of thread {}", tid.value);
  return out;
}

Outcome<RunSummary, std::string> Core::summary() {
  RunSummary s;
  if (config_.virtual_time) {  // SUM-10
    if (clock_.value() < clock_.origin()) return std::string("the global clock lies before its origin");
    s.virtual_final = clock_.value();
    s.virtual_elapsed = clock_.value() - clock_.origin();
  }
  const LogicalTime host = config_.host_time();
  if (host < host_start_) return std::string("the host clock went backwards");  // SUM-11
  s.host_elapsed_ns = (host - host_start_).ns;
  s.scheduler_turns = turn_.value;
  s.events_recorded = events_recorded_;
  if (replayer_) {
    s.events_replayed = replayer_->consumed();
    s.events_desynced = replayer_->desynced();
    if (s.events_desynced != 0) s.desync_text = replayer_->describe();
  }
  s.thread_tree = tree_.text();
  s.process_count = tree_.processes();
  s.thread_count = tree_.threads();
  std::uint64_t calls = 0;
  for (const auto& [tid, n] : syscalls_) calls += n;
  s.syscall_count = calls;  // SUM-12
  for (const auto& [tid, stats] : slices_) {
    s.timeslices.merge(stats);
    s.thread_timeslices.emplace_back(tid, stats);
  }
  if (writer_ && !summarised_) {  // SUM-8, SUM-9
    const PreemptionRecord& record_of = writer_->record();
    std::size_t epochs = 0;
    for (const auto& [tid, h] : record_of.threads) epochs += h.epochs.size();
    PreemptionText text;
    text.count_line = fmt::format("preemption events: {} changes, {} epochs", record_of.changes(), epochs);
    if (writer_->destination() != nullptr) {
      text.destination = writer_->destination()->name();
      if (const auto error = writer_->flush(); error && config_.log != nullptr)
        config_.log->line(LogLevel::kWarning, "preemption record: " + *error);
    } else {
      text.excerpt = record_of.json().substr(0, 200);
    }
    finished_record_ = record_of;
    writer_.reset();
    s.preemption = text;
  }
  summarised_ = true;
  return s;
}

FailureCleanup Core::clean_up_after_failure(std::optional<std::string> loop_outcome) {  // FAIL-10 .. FAIL-12
  FailureCleanup out;
  out.loop = std::move(loop_outcome);
  if (writer_) {
    if (writer_->destination() != nullptr) {
      out.recording = writer_->flush();
    } else {
      writer_->discard();
    }
    writer_.reset();
  }
  return out;
}

}  // namespace detrec::core
