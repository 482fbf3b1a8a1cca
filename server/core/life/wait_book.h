// Wait metadata, process groups, sessions and exit records (WAIT).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "server/core/sched/request.h"

namespace detrec::core {

struct WaitMeta {
  ProcessId parent;    ///< wait parent; 0 for the root
  ThreadId owner;      ///< creating thread
  Signal exit_signal;  ///< 0: clone child without signal
  ProcessId group;
  ProcessId session;
  bool exited = false;    ///< logically exited, not consumed
  bool physical = false;  ///< and its physical exit was reported
};

class WaitBook {
 public:
  static constexpr Signal kChildSignal{17};  ///< SIGCHLD on x86-64 Linux, signal(7)

  void add_root(ProcessId process);
  /// A process created by `creator` of `creator_process`; `clone_parent` as CLONE_PARENT (WAIT-1, WAIT-2).
  void add_child(ProcessId child, ProcessId creator_process, ThreadId creator, Signal exit_signal,
                 bool clone_parent);
  const WaitMeta* meta(ProcessId process) const;
  bool matches(ProcessId child, ProcessId parent, const WaitSpec& spec) const;  ///< WAIT-4
  void mark_exited(ProcessId process);
  void mark_physical(ProcessId process);
  /// The lowest exited match, and whether any match exists (WAIT-6).
  struct Ready {
    std::optional<ProcessId> child;
    bool any = false;
    friend bool operator==(const Ready&, const Ready&) = default;
  };
  Ready ready(ProcessId parent, const WaitSpec& spec) const;
  /// Removes record and metadata; false when it is not a child of `parent` or has not exited (WAIT-9).
  bool consume(ProcessId parent, ProcessId child);
  std::optional<ProcessId> group(ProcessId process) const;
  bool set_group(ProcessId process, ProcessId group);
  bool create_session(ProcessId process);
  /// EXEC-21
  void move_owner(ThreadId from, ThreadId to, ProcessId process);

 private:
  std::map<ProcessId, WaitMeta> meta_;
  std::multimap<ProcessId, ProcessId> children_;  ///< wait parent -> child
};

}  // namespace detrec::core
