#include "trace/event/render/call_text.h"

#include <fmt/format.h>

#include "trace/event/names.h"
#include "trace/event/render/render.h"
#include "trace/syscalls/commands.h"
#include "trace/syscalls/table.h"

namespace detrec::event::render {
namespace {

using syscalls::ArgKind;

constexpr std::int64_t kMaxErrno = 4095;
constexpr std::int64_t kFirstRestartCode = 512;  // include/linux/errno.h
constexpr std::int64_t kLastRestartCode = 516;
constexpr std::int32_t kAtFdCwd = -100;
constexpr std::size_t kPathPreview = 256;

// Numbers of unistd_64.h.
constexpr std::int32_t kMmap = 9, kBrk = 12, kMremap = 25, kShmat = 30;

/// The path at an address, when the record has it.
std::string path_at(const SyscallView& call, std::uint64_t address) {
  for (const RangeView range : call.ranges) {
    if (range.direction != wire::Direction::kPath || range.address.value != address || range.data.empty())
      continue;
    return " " + quoted(range.data.first(range.data.size() - 1), kPathPreview);
  }
  return {};
}

std::string command_text(const SyscallView& call, const syscalls::SyscallRow& row, std::uint64_t value) {
  const syscalls::CommandRow* command = syscalls::find_command(row, call.body->args);
  return command == nullptr ? fmt::format("{:#x}", value) : std::string(command->name);
}

std::string argument(const SyscallView& call, const syscalls::SyscallRow& row, std::size_t index) {
  const std::uint64_t value = call.body->args[index];
  const auto low = static_cast<std::int32_t>(value);
  switch (row.args[index].kind) {
    case ArgKind::kInt:
    case ArgKind::kFd:
    case ArgKind::kPid:
    case ArgKind::kUserId:
      return fmt::format("{}", low);
    case ArgKind::kDirFd:
      return low == kAtFdCwd ? "AT_FDCWD" : fmt::format("{}", low);
    case ArgKind::kUnsigned:
    case ArgKind::kSize32:
    case ArgKind::kCount:
      return fmt::format("{}", static_cast<std::uint32_t>(value));
    case ArgKind::kLong:
    case ArgKind::kOffset:
      return fmt::format("{}", static_cast<std::int64_t>(value));
    case ArgKind::kWord:
    case ArgKind::kSize:
      return fmt::format("{}", value);
    case ArgKind::kMode:
      return fmt::format("{:#o}", static_cast<std::uint32_t>(value));
    case ArgKind::kSignal: {
      const std::string_view name = signal_name(low);
      return name.empty() ? fmt::format("{}", low) : std::string(name);
    }
    case ArgKind::kCommand:
      return command_text(call, row, value);
    case ArgKind::kPath:
      return (value == 0 ? "NULL" : fmt::format("{:#x}", value)) + path_at(call, value);
    default:
      return value == 0 && row.args[index].is_memory() ? "NULL" : fmt::format("{:#x}", value);
  }
}

}  // namespace

std::string call_name(std::int32_t number) {
  const syscalls::SyscallRow* row = syscalls::find(number);
  return row == nullptr ? fmt::format("syscall_{}", number) : std::string(row->name);
}

std::string call_arguments(const SyscallView& call) {
  const syscalls::SyscallRow* row = syscalls::find(call.body->number);
  std::string text;
  const std::size_t count = row == nullptr ? syscalls::kMaxArgs : row->arg_count;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += row == nullptr ? fmt::format("{:#x}", call.body->args[i]) : argument(call, *row, i);
  }
  return text;
}

std::string_view call_error(const wire::SyscallBody& body) {
  if (body.result >= 0 || body.result < -kMaxErrno) return {};
  const std::string_view name = errno_name(static_cast<int>(-body.result));
  return name.empty() ? std::string_view("unknown error") : name;
}

std::string call_result(const wire::SyscallBody& body) {
  const std::string_view error = call_error(body);
  if (!error.empty()) {
    const bool restarts = -body.result >= kFirstRestartCode && -body.result <= kLastRestartCode;
    return fmt::format("{} {}", restarts ? "?" : "-1", error);
  }
  switch (body.number) {
    case kMmap:
    case kBrk:
    case kMremap:
    case kShmat:
      return fmt::format("{:#x}", static_cast<std::uint64_t>(body.result));
    default:
      return fmt::format("{}", body.result);
  }
}

}  // namespace detrec::event::render
