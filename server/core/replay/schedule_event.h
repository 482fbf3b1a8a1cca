// What happened in a run, step by step: schedule events (TRACE-1 .. TRACE-3, TRACE-11).
#pragma once

#include <optional>
#include <string>

#include "server/core/base/ids.h"
#include "server/core/time/logical_time.h"

namespace detrec::core {

enum class OperationKind : std::uint8_t { kTicks, kTimeStamp, kCpuId, kSyscall, kOther, kSignal, kPostExit };
enum class SyscallPhase : std::uint8_t { kPre, kPolling, kPost };

struct Operation {
  OperationKind kind = OperationKind::kOther;
  std::int32_t number = 0;  ///< system call or signal
  SyscallPhase phase = SyscallPhase::kPre;
  static Operation ticks() { return {OperationKind::kTicks, 0, {}}; }
  static Operation other() { return {OperationKind::kOther, 0, {}}; }
  static Operation syscall(std::int32_t nr, SyscallPhase phase) {
    return {OperationKind::kSyscall, nr, phase};
  }
  friend constexpr auto operator<=>(const Operation&, const Operation&) = default;
};

struct ScheduleEvent {
  ThreadId tid;
  Operation op;
  std::uint64_t count = 1;             ///< run length; 0 is not recorded
  std::optional<std::uint64_t> start;  ///< guest addresses
  std::optional<std::uint64_t> end;
  std::optional<LogicalTime> end_time;  ///< local duration without origin
  bool bootstrap = false;               ///< from the command bootstrap: never serialised (TRACE-7)

  /// Equal where the expected event (*this) says something (TRACE-11).
  bool matches(const ScheduleEvent& seen) const;
  /// Agrees in everything but count and end time.
  bool consistent(const ScheduleEvent& seen) const;
  /// For logs; bootstrap addresses are marked "host:".
  std::string text() const;
  std::string serialised() const;  ///< JSON
  static std::optional<ScheduleEvent> parse(const std::string& json);
  friend bool operator==(const ScheduleEvent&, const ScheduleEvent&) = default;
};

}  // namespace detrec::core
