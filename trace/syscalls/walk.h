// One enumeration of a call's memory: the state behind the functions of memory.h. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/syscalls/commands.h"
#include "trace/syscalls/memory.h"
#include "trace/syscalls/table.h"

namespace detrec::syscalls::detail {

enum class Goal : std::uint8_t { kRead, kWritable, kWritten };

constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

/// struct user_msghdr of include/linux/socket.h.
struct MessageHeader {
  std::uint64_t name;
  std::uint32_t name_length;
  std::uint32_t padding;
  std::uint64_t iov;
  std::uint64_t iov_count;
  std::uint64_t control;
  std::uint64_t control_length;
  std::uint32_t flags;
  std::uint32_t more_padding;
};
static_assert(sizeof(MessageHeader) == 56);

class Walk {
 public:
  Walk(Goal goal, const SyscallRow* row, const CommandRow* command, const std::uint64_t (&args)[kMaxArgs],
       std::int64_t result, const Before* before, const Reader& reader, const Visitor& visitor)
      : goal_(goal),
        row_(row),
        command_(command),
        args_(args),
        result_(result),
        before_(before),
        reader_(reader),
        visitor_(visitor) {}

  /// Visits everything. False when something could not be read on the way.
  bool run();

  Goal goal() const { return goal_; }
  const SyscallRow& row() const { return *row_; }
  const CommandRow* command() const { return command_; }
  const Before* before() const { return before_; }
  std::uint64_t arg(int index) const { return args_[index]; }
  std::int64_t result() const { return result_; }
  /// The result as a number of bytes or elements; without bound before the call.
  std::uint64_t transferred() const;

  /// Reads a structure from guest memory; notes the failure if that is not possible.
  template <typename T>
  bool load(std::uint64_t address, T& to) {
    return load_bytes(address, &to, sizeof(to));
  }
  /// Visits a range, unless it is empty or at NULL.
  void emit(std::uint64_t address, std::uint64_t size);

 private:
  Arg arg_of(int index) const;
  std::uint64_t value_of(int index) const;
  bool written_now(const Arg& arg) const;
  bool has_buffer(int length_index) const;

  void walk_arg(int index);
  void walk_read(int index, const Arg& arg);
  void walk_write(int index, const Arg& arg);
  std::uint64_t length_before(std::uint8_t ref);
  std::uint64_t capacity_of(const Arg& arg, std::uint64_t address);
  std::uint64_t written_size(const Arg& arg, std::uint64_t address);

  void walk_iovecs(std::uint64_t address, std::uint64_t count, std::uint64_t bytes);
  void write_message(std::uint64_t address, std::uint64_t bytes, std::size_t message);
  void write_control(std::uint64_t address, std::uint64_t length);
  void write_messages(std::uint64_t address, std::uint64_t count, bool received);
  void read_message(std::uint64_t address, bool sent);
  void read_string(std::uint64_t address, std::uint64_t limit);
  void read_strings(std::uint64_t address);
  bool load_bytes(std::uint64_t address, void* to, std::size_t size);

  const Goal goal_;
  const SyscallRow* const row_;
  const CommandRow* const command_;
  const std::uint64_t (&args_)[kMaxArgs];
  const std::int64_t result_;
  const Before* const before_;
  const Reader& reader_;
  const Visitor& visitor_;
  int arg_ = -1;
  bool complete_ = true;
};

}  // namespace detrec::syscalls::detail
