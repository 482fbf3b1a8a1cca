#include "server/core/time/cpu_book.h"

namespace detrec::core {

void CpuBook::account(ProcessId process, ThreadId tid, LogicalTime user, LogicalTime system) {
  CpuTime& seen = seen_[tid];
  CpuTime& record = records_[process];
  record.user += LogicalTime::saturating_sub(user, seen.user);
  record.system += LogicalTime::saturating_sub(system, seen.system);
  seen = {std::max(user, seen.user), std::max(system, seen.system)};
}

void CpuBook::move_owner(ThreadId worker, ThreadId leader) {
  if (worker == leader) return;
  const auto it = seen_.find(worker);
  if (it == seen_.end()) return;
  seen_[leader] = it->second;
  seen_.erase(worker);
}

void CpuBook::process_ended(ProcessId process, ProcessId parent) {
  exited_[parent][process] = of(process);
  records_.erase(process);
  children_.erase(process);
}

void CpuBook::reap(ProcessId parent, ProcessId child) {
  const auto table = exited_.find(parent);
  if (table == exited_.end()) return;
  const auto it = table->second.find(child);
  if (it == table->second.end()) return;
  children_[parent].user += it->second.user;
  children_[parent].system += it->second.system;
  table->second.erase(it);
}

CpuTime CpuBook::of(ProcessId process) const {
  const auto it = records_.find(process);
  return it == records_.end() ? CpuTime{} : it->second;
}

CpuTime CpuBook::children_of(ProcessId process) const {
  const auto it = children_.find(process);
  return it == children_.end() ? CpuTime{} : it->second;
}

std::map<ProcessId, CpuTime> CpuBook::exited_children(ProcessId parent) const {
  const auto it = exited_.find(parent);
  return it == exited_.end() ? std::map<ProcessId, CpuTime>{} : it->second;
}

}  // namespace detrec::core
