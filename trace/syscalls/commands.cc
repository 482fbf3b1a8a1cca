#include "trace/syscalls/commands.h"

#include "trace/syscalls/build_commands.h"

namespace detrec::syscalls {
namespace {

constexpr Arg kArgumentByRequest{ArgKind::kByRequest, Length::kRequest};
constexpr std::uint8_t kOptionLength = 4;

constexpr CommandRow kGuessedIoctl = build::refuse(ENOTTY, 0, "unknown", {kArgumentByRequest}).with(kFamily);
constexpr CommandRow kGuessedSetsockopt =
    build::refuse(ENOPROTOOPT, 0, "unknown", {build::in_by(kOptionLength)});
constexpr CommandRow kGuessedGetsockopt =
    build::refuse(ENOPROTOOPT, 0, "unknown", {build::inout_as(Length::kPointee, kOptionLength)});

constexpr std::uint64_t kIoctlSizeField = std::uint64_t{0x3fff} << 16;

const CommandRow* look_up(CommandTable table, std::uint64_t key) {
  std::size_t first = 0;
  std::size_t end = table.count;
  while (first < end) {
    const std::size_t middle = first + (end - first) / 2;
    if (table.rows[middle].key < key) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first < table.count && table.rows[first].key == key ? &table.rows[first] : nullptr;
}

const CommandRow* find_ioctl(std::uint64_t request) {
  const CommandRow* row = look_up(ioctl_commands(), request);
  if (row != nullptr) return row;
  if (ioctl_size(request) != 0) {
    row = look_up(ioctl_commands(), request & ~kIoctlSizeField);
    if (row != nullptr && row->has(kAnySize)) return row;
  }
  // Requests of before the encoding have no direction; a family says nothing about them.
  if (!ioctl_reads(request) && !ioctl_writes(request)) return nullptr;
  return look_up(ioctl_families(), ioctl_type(request));
}

}  // namespace

CommandTable command_table(Commands table) {
  switch (table) {
    case Commands::kNone:
      return {nullptr, 0};
    case Commands::kIoctl:
      return ioctl_commands();
    case Commands::kFcntl:
      return fcntl_commands();
    case Commands::kPrctl:
      return prctl_commands();
    case Commands::kArchPrctl:
      return arch_prctl_commands();
    case Commands::kSetsockopt:
      return setsockopt_commands();
    case Commands::kGetsockopt:
      return getsockopt_commands();
    case Commands::kFutex:
      return futex_commands();
    case Commands::kKeyctl:
      return keyctl_commands();
    case Commands::kMadvise:
      return madvise_commands();
    case Commands::kQuotactl:
      return quotactl_commands();
    case Commands::kShmctl:
      return shmctl_commands();
    case Commands::kSemctl:
      return semctl_commands();
    case Commands::kMsgctl:
      return msgctl_commands();
    case Commands::kPtrace:
      return ptrace_commands();
    case Commands::kBpf:
      return bpf_commands();
  }
  return {nullptr, 0};
}

std::uint8_t first_command_arg(Commands table) {
  switch (table) {
    case Commands::kNone:
      return kNoArg;
    case Commands::kIoctl:
    case Commands::kFcntl:
    case Commands::kShmctl:
    case Commands::kMsgctl:
    case Commands::kPtrace:
      return 2;
    case Commands::kPrctl:
    case Commands::kArchPrctl:
    case Commands::kKeyctl:
    case Commands::kBpf:
      return 1;
    case Commands::kSetsockopt:
    case Commands::kGetsockopt:
    case Commands::kFutex:
    case Commands::kQuotactl:
    case Commands::kSemctl:
      return 3;
    case Commands::kMadvise:
      return 3;  // advice has no arguments of its own
  }
  return kNoArg;
}

std::uint64_t command_key(Commands table, const SyscallRow& row, const std::uint64_t (&args)[kMaxArgs]) {
  if (row.command_arg >= kMaxArgs) return 0;
  const auto command = static_cast<std::uint32_t>(args[row.command_arg]);
  switch (table) {
    case Commands::kSetsockopt:
    case Commands::kGetsockopt:
      return std::uint64_t{static_cast<std::uint32_t>(args[1])} << 32 | command;
    case Commands::kFutex:
      return command & ~std::uint32_t{0x180};  // FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME
    case Commands::kQuotactl:
      return command >> 8;  // SUBCMDSHIFT; the lower byte is the quota type
    case Commands::kPtrace:
      return args[row.command_arg];
    default:
      return command;
  }
}

const CommandRow* find_command(Commands table, std::uint64_t key) {
  if (table == Commands::kIoctl) return find_ioctl(key);
  return look_up(command_table(table), key);
}

const CommandRow* find_command(const SyscallRow& row, const std::uint64_t (&args)[kMaxArgs]) {
  return find_command(row.commands, command_key(row.commands, row, args));
}

int unknown_error(Commands table) {
  switch (table) {
    case Commands::kIoctl:
      return ENOTTY;
    case Commands::kSetsockopt:
    case Commands::kGetsockopt:
      return ENOPROTOOPT;
    case Commands::kFutex:
      return ENOSYS;
    case Commands::kKeyctl:
      return EOPNOTSUPP;
    case Commands::kPtrace:
      return EIO;
    case Commands::kNone:
      return ENOSYS;
    default:
      return EINVAL;
  }
}

const CommandRow* guessed_command(Commands table) {
  switch (table) {
    case Commands::kIoctl:
      return &kGuessedIoctl;
    case Commands::kSetsockopt:
      return &kGuessedSetsockopt;
    case Commands::kGetsockopt:
      return &kGuessedGetsockopt;
    default:
      return nullptr;
  }
}

}  // namespace detrec::syscalls
