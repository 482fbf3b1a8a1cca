// What the calls that take a command mean for each command: ioctl requests, fcntl and prctl commands, socket
// options, futex operations, madvise advice, and so on.
//
// A row has the shape of a system call's row: a class, an error for what is refused, and the arguments that
// depend on the command. Commands that no row describes are refused with the error that a kernel gives that
// has never heard of them (DESIGN 3.3); unknown_error() says which.
//
// Sources: ioctl_tty(2), ioctl_fslabel(2) and the other ioctl_*(2) pages, fcntl(2), prctl(2), arch_prctl(2),
// futex(2), madvise(2), keyctl(2), quotactl(2), shmctl(2), semctl(2), msgctl(2), ptrace(2), bpf(2),
// socket(7), ip(7), ipv6(7), tcp(7), udp(7), netdevice(7), and the kernel's include/uapi headers, which are
// named in the tables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/syscalls/table.h"

namespace detrec::syscalls {

inline constexpr int kMaxCommandArgs = 4;

/// Properties of a command that combine.
enum CommandFlag : std::uint8_t {
  kAnySize = 1 << 0,  ///< an ioctl request whose size field is free: `key` has it as 0
  kFamily =
      1
      << 1,  ///< all ioctl requests whose type byte is `key`: their direction and size fields can be believed
};

/// One command of a call.
struct CommandRow {
  std::uint64_t key =
      0;  ///< the command; for socket options the level in the upper half and the option in the lower
  Class klass = Class::kRefused;
  Subject subject = Subject::kNone;
  std::uint8_t flags = 0;
  Creates creates = Creates::kNone;
  std::int16_t error = 0;             ///< as SyscallRow::error
  std::uint8_t creates_arg = kNoArg;  ///< as SyscallRow::creates_arg
  Arg args[kMaxCommandArgs];          ///< what stands where, from first_command_arg() on
  char name[40] = {};

  constexpr bool has(CommandFlag flag) const { return (flags & flag) != 0; }
};

/// Rows of one table, in ascending order of keys.
struct CommandTable {
  const CommandRow* rows;
  std::size_t count;
};

/// The rows of a table; empty for Commands::kNone.
CommandTable command_table(Commands table);

/// The first argument that a table's rows speak of.
std::uint8_t first_command_arg(Commands table);

/// The key that selects a row, from a call's arguments.
std::uint64_t command_key(Commands table, const SyscallRow& row, const std::uint64_t (&args)[kMaxArgs]);

/// The row of a command; nullptr when none describes it.
const CommandRow* find_command(Commands table, std::uint64_t key);
const CommandRow* find_command(const SyscallRow& row, const std::uint64_t (&args)[kMaxArgs]);

/// The errno (positive) that an unknown command of a table gets.
int unknown_error(Commands table);

/// What an unknown command can be supposed to do to memory, for a user who lets unknown commands through: an
/// ioctl what its direction and size fields say, a socket option what its length says. nullptr for the other
/// tables. The row is one of class kRefused with the table's error.
const CommandRow* guessed_command(Commands table);

// The fields of an ioctl request (include/uapi/asm-generic/ioctl.h).
constexpr std::uint32_t ioctl_size(std::uint64_t request) {
  return static_cast<std::uint32_t>(request >> 16) & 0x3fff;
}
constexpr std::uint32_t ioctl_type(std::uint64_t request) {
  return static_cast<std::uint32_t>(request >> 8) & 0xff;
}
/// The kernel reads the argument (_IOC_WRITE: the program writes).
constexpr bool ioctl_reads(std::uint64_t request) { return ((request >> 30) & 1) != 0; }
/// The kernel writes to the argument (_IOC_READ: the program reads).
constexpr bool ioctl_writes(std::uint64_t request) { return ((request >> 30) & 2) != 0; }

}  // namespace detrec::syscalls
