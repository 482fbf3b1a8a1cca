#include "server/core/life/wait_book.h"

namespace detrec::core {

void WaitBook::add_root(ProcessId process) {
  if (meta_.contains(process)) return;
  meta_[process] = {{}, {}, {}, process, process, false, false};
}

void WaitBook::add_child(ProcessId child, ProcessId creator_process, ThreadId creator, Signal exit_signal,
                         bool clone_parent) {
  WaitMeta meta{creator_process, creator, exit_signal, creator_process, creator_process, false, false};
  if (const WaitMeta* creating = this->meta(creator_process); creating != nullptr) {
    meta.group = creating->group;
    meta.session = creating->session;
    if (clone_parent) {
      meta.parent = creating->parent;
      meta.owner = creating->owner;
    }
  }
  if (const auto old = meta_.find(child); old != meta_.end()) consume(old->second.parent, child);
  meta_[child] = meta;
  children_.emplace(meta.parent, child);
}

const WaitMeta* WaitBook::meta(ProcessId process) const {
  const auto it = meta_.find(process);
  return it == meta_.end() ? nullptr : &it->second;
}

bool WaitBook::matches(ProcessId child, ProcessId parent, const WaitSpec& spec) const {
  const WaitMeta* m = meta(child);
  if (m == nullptr || m->parent != parent || parent.value == 0) return false;
  if (spec.owner.value != 0 && m->owner != spec.owner) return false;
  const bool child_signal = m->exit_signal == kChildSignal;
  if (spec.exit_class == ExitClass::kChildSignal && !child_signal) return false;
  if (spec.exit_class == ExitClass::kClone && child_signal) return false;
  switch (spec.selector) {
    case WaitSpec::Selector::kExact:
      return child == spec.value;
    case WaitSpec::Selector::kAny:
      return true;
    case WaitSpec::Selector::kGroup:
      return m->group == spec.value;
  }
  return false;
}

void WaitBook::mark_exited(ProcessId process) {
  if (const auto it = meta_.find(process); it != meta_.end()) it->second.exited = true;
}

void WaitBook::mark_physical(ProcessId process) {
  if (const auto it = meta_.find(process); it != meta_.end()) it->second.physical = true;
}

WaitBook::Ready WaitBook::ready(ProcessId parent, const WaitSpec& spec) const {
  Ready out;
  const auto [begin, end] = children_.equal_range(parent);
  for (auto it = begin; it != end; ++it) {
    if (!matches(it->second, parent, spec)) continue;
    out.any = true;
    if (meta_.at(it->second).exited && (!out.child || it->second < *out.child)) out.child = it->second;
  }
  return out;
}

bool WaitBook::consume(ProcessId parent, ProcessId child) {
  const auto it = meta_.find(child);
  if (it == meta_.end() || it->second.parent != parent) return false;
  const bool exited = it->second.exited;
  const auto [begin, end] = children_.equal_range(parent);
  for (auto c = begin; c != end; ++c) {
    if (c->second == child) {
      children_.erase(c);
      break;
    }
  }
  meta_.erase(it);
  return exited;
}

std::optional<ProcessId> WaitBook::group(ProcessId process) const {
  const WaitMeta* m = meta(process);
  return m == nullptr ? std::nullopt : std::optional(m->group);
}

bool WaitBook::set_group(ProcessId process, ProcessId group) {  // WAIT-13
  const auto it = meta_.find(process);
  if (it == meta_.end()) return false;
  it->second.group = group;
  return true;
}

bool WaitBook::create_session(ProcessId process) {
  const auto it = meta_.find(process);
  if (it == meta_.end()) return false;
  it->second.group = it->second.session = process;
  return true;
}

void WaitBook::move_owner(ThreadId from, ThreadId to, ProcessId process) {
  if (from == to) return;
  const auto [begin, end] = children_.equal_range(process);
  for (auto it = begin; it != end; ++it) {
    WaitMeta& m = meta_.at(it->second);
    if (m.owner == from) m.owner = to;
  }
}

}  // namespace detrec::core
