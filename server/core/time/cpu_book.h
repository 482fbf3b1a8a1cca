// CPU time of processes and of their reaped children (CPU-1 .. CPU-4).
#pragma once

#include <map>
#include <unordered_map>

#include "server/core/base/ids.h"
#include "server/core/time/thread_clock.h"

namespace detrec::core {

struct CpuTime {
  LogicalTime user;
  LogicalTime system;
  friend bool operator==(const CpuTime&, const CpuTime&) = default;
};

class CpuBook {
 public:
  /// Adds what the thread's projections grew by since its last account; without progress nothing (CPU-1).
  void account(ProcessId process, ThreadId tid, LogicalTime user, LogicalTime system);
  /// A new thread starts from its inherited projections, which are its creator's work.
  void start(ThreadId tid, LogicalTime user, LogicalTime system) { seen_[tid] = {user, system}; }
  /// CPU-4: the survivor of a non-leader exec goes on under the leader's id.
  void move_owner(ThreadId worker, ThreadId leader);
  /// CPU-2: the last owner is gone; the record waits in the parent's table.
  void process_ended(ProcessId process, ProcessId parent);
  /// CPU-3: exactly once.
  void reap(ProcessId parent, ProcessId child);
  bool knows(ThreadId tid) const { return seen_.contains(tid); }
  void thread_ended(ThreadId tid) { seen_.erase(tid); }

  CpuTime of(ProcessId process) const;
  CpuTime children_of(ProcessId process) const;
  std::map<ProcessId, CpuTime> exited_children(ProcessId parent) const;

 private:
  std::unordered_map<ProcessId, CpuTime> records_;
  std::map<ProcessId, CpuTime> children_;
  std::map<ProcessId, std::map<ProcessId, CpuTime>> exited_;
  std::unordered_map<ThreadId, CpuTime> seen_;
};

}  // namespace detrec::core
