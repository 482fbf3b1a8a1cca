// The breakpoints of the client, and which of them the Target has heard of.
#pragma once

#include <unordered_set>

#include "gdbstub/breakpoint.h"

namespace detrec::gdbstub {

/// gdb takes all breakpoints out at each stop and puts them back at each resume. So insert and remove only
/// touch hash tables, and take_change() looks at what was touched since the last resume: what came back is no
/// change.
class BreakpointTable {
 public:
  /// Idempotent, as Z packets must be; an existing breakpoint gets the new conditions.
  void insert(Breakpoint breakpoint);
  /// Idempotent: what is not there is removed already.
  void remove(const BreakpointSpec& spec);
  void clear();

  const BreakpointSet& all() const { return wanted_; }
  /// What the Target is to change; from then on it is taken to have done so.
  BreakpointChange take_change();

 private:
  BreakpointSet wanted_;
  BreakpointSet applied_;
  std::unordered_set<BreakpointSpec, BreakpointSpecHash> touched_;
};

}  // namespace detrec::gdbstub
