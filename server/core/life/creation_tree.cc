#include "server/core/life/creation_tree.h"

#include <fmt/core.h>

#include <algorithm>

namespace detrec::core {

void CreationTree::add(ThreadId tid, ThreadId creator, bool leader) {
  const auto [it, fresh] = entries_.try_emplace(tid);
  Entry& entry = it->second;
  if (!fresh && entry.creator == creator && entry.leader == leader) return;
  if (!fresh) {  // a reused id moves to its new place
    auto& siblings = entry.creator == tid ? roots_ : entries_[entry.creator].children;
    siblings.erase(std::remove(siblings.begin(), siblings.end(), tid), siblings.end());
  }
  entry.creator = creator;
  entry.leader = leader;
  const bool root = creator == tid || !entries_.contains(creator);
  entry.process = leader || root ? process_led_by(tid) : entries_[creator].process;
  if (creator == tid) {
    roots_.push_back(tid);
  } else {
    entries_[creator].children.push_back(tid);
    if (!entries_[creator].creator.value) {  // an unknown creator is a root of its own
      entries_[creator].creator = creator;
      entries_[creator].leader = true;
      entries_[creator].process = process_led_by(creator);
      roots_.push_back(creator);
      if (!leader) entry.process = entries_[creator].process;
    }
  }
}

bool CreationTree::is_leader(ThreadId tid) const {
  const auto it = entries_.find(tid);
  return it != entries_.end() && it->second.leader;
}

ThreadId CreationTree::creator(ThreadId tid) const {
  const auto it = entries_.find(tid);
  return it == entries_.end() ? ThreadId{} : it->second.creator;
}

ProcessId CreationTree::process_of(ThreadId tid) const {
  const auto it = entries_.find(tid);
  return it == entries_.end() ? ProcessId{} : it->second.process;
}

void CreationTree::collect(ThreadId tid, std::vector<ThreadId>& out) const {
  out.push_back(tid);
  for (const ThreadId child : entries_.at(tid).children) {
    if (!entries_.at(child).leader) collect(child, out);
  }
}

std::vector<ThreadId> CreationTree::group_of(ThreadId tid) const {
  std::vector<ThreadId> out;
  if (!entries_.contains(tid)) return out;
  collect(leader_of(process_of(tid)), out);
  std::sort(out.begin(), out.end());
  return out;
}

std::string CreationTree::print(ThreadId tid) const {
  const Entry& entry = entries_.at(tid);
  std::string inner = fmt::format("{}", tid.value);
  for (const ThreadId child : entry.children) inner += " " + print(child);
  if (entry.leader) return "[" + inner + "]";
  return entry.children.empty() ? inner : "(" + inner + ")";
}

std::string CreationTree::text() const {
  if (roots_.empty()) return "[]";
  std::string out;
  for (const ThreadId root : roots_) out += (out.empty() ? "" : " ") + print(root);
  return out;
}

std::size_t CreationTree::processes() const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const auto& e) { return e.second.leader; }));
}

}  // namespace detrec::core
