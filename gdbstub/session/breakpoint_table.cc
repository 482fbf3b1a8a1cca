#include "gdbstub/session/breakpoint_table.h"

#include <utility>

namespace detrec::gdbstub {

void BreakpointTable::insert(Breakpoint breakpoint) {
  touched_.insert(breakpoint.spec);
  const auto spec = breakpoint.spec;
  wanted_.insert_or_assign(spec, std::move(breakpoint));
}

void BreakpointTable::remove(const BreakpointSpec& spec) {
  if (wanted_.erase(spec) != 0) touched_.insert(spec);
}

void BreakpointTable::clear() {
  for (const auto& [spec, breakpoint] : wanted_) touched_.insert(spec);
  wanted_.clear();
}

BreakpointChange BreakpointTable::take_change() {
  BreakpointChange change;
  for (const auto& spec : touched_) {
    const auto wanted = wanted_.find(spec);
    const auto applied = applied_.find(spec);
    const bool is_wanted = wanted != wanted_.end();
    const bool is_applied = applied != applied_.end();
    if (is_wanted && is_applied && wanted->second == applied->second) continue;
    if (is_applied) {
      change.removed.push_back(spec);
      applied_.erase(applied);
    }
    if (is_wanted) {
      change.added.push_back(wanted->second);
      applied_.insert(*wanted);
    }
  }
  touched_.clear();
  return change;
}

}  // namespace detrec::gdbstub
