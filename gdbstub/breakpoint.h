// What a debugger asked to be stopped at. Value types: the stub keeps the set, a Target gets it at each
// resume.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "gdbstub/ids.h"

namespace detrec::gdbstub {

/// The numbers are those of the Z packets.
enum class BreakpointKind : std::uint8_t { kSoftware = 0, kHardware = 1, kWrite = 2, kRead = 3, kAccess = 4 };

/// What is watched for: pc == address for kSoftware and kHardware (which behave alike, only the stop reply
/// differs), else an access of any of the `length` bytes at `address`.
struct BreakpointSpec {
  BreakpointKind kind = BreakpointKind::kSoftware;
  Address address;
  std::uint64_t length = 1;  ///< bytes; any length above 0 for watchpoints, 1 for the others
  ProcessId process = {};    ///< whose pc or memory: processes of one recording use the same addresses

  bool is_watch() const { return kind >= BreakpointKind::kWrite; }
  /// The watched bytes. The stub lets no specification pass whose range is empty or wraps around.
  AddressRange range() const { return {address, {address.value + length}}; }
  friend constexpr auto operator<=>(const BreakpointSpec&, const BreakpointSpec&) = default;
};

/// Agent expression bytecode, as gdb compiled it; see agent/evaluate.h.
using Bytecode = std::vector<std::uint8_t>;

/// `conditions` empty: stop always. Else stop if one of them is not zero, see agent/condition.h.
struct Breakpoint {
  BreakpointSpec spec;
  std::vector<Bytecode> conditions;
  friend bool operator==(const Breakpoint&, const Breakpoint&) = default;
};

struct BreakpointSpecHash {
  std::size_t operator()(const BreakpointSpec& spec) const {
    return (spec.address.value * 0x9e3779b97f4a7c15u) ^ (spec.length << 3) ^
           (static_cast<std::size_t>(spec.process.value) << 32) ^ static_cast<std::size_t>(spec.kind);
  }
};
using BreakpointSet = std::unordered_map<BreakpointSpec, Breakpoint, BreakpointSpecHash>;

/// The difference between the sets of two resumes. A breakpoint whose conditions changed is in both lists;
/// a Target removes first. gdb takes all of its breakpoints out at each stop and puts them back: that is no
/// change.
struct BreakpointChange {
  std::vector<BreakpointSpec> removed;
  std::vector<Breakpoint> added;
  bool empty() const { return removed.empty() && added.empty(); }
};

}  // namespace detrec::gdbstub
