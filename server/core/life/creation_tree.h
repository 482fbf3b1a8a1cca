// Who created whom (ID-19 .. ID-21). Entries survive death.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/core/base/ids.h"

namespace detrec::core {

class CreationTree {
 public:
  /// `creator` of a root is itself. A known thread keeps its first entry, except that a reused id (EXEC-43)
  /// and an exec may set its leadership anew.
  void add(ThreadId tid, ThreadId creator, bool leader);
  bool contains(ThreadId tid) const { return entries_.contains(tid); }
  bool is_leader(ThreadId tid) const;
  ThreadId creator(ThreadId tid) const;
  /// ID-2: the thread's process; {0} when unknown.
  ProcessId process_of(ThreadId tid) const;
  /// ID-20, ascending.
  std::vector<ThreadId> group_of(ThreadId tid) const;
  /// ID-21
  std::string text() const;
  std::size_t threads() const { return entries_.size(); }
  std::size_t processes() const;

 private:
  struct Entry {
    ThreadId creator;
    ProcessId process;
    bool leader = false;
    std::vector<ThreadId> children;  ///< in creation order
  };
  void collect(ThreadId tid, std::vector<ThreadId>& out) const;
  std::string print(ThreadId tid) const;
  std::unordered_map<ThreadId, Entry> entries_;
  std::vector<ThreadId> roots_;
};

}  // namespace detrec::core
